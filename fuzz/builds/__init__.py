"""Builds: Triton releases, wheels and source trees, each in a folder of its own, side by side on one machine."""

from tridiff.fuzz.builds.build import Build, Running, inspect, resolve

__all__ = ["Build", "Running", "inspect", "resolve"]
