"""Scratch arrays that a case must bring for the schedules of its program."""

from __future__ import annotations

from kernels.codegen.graph import Graph


def workspaces(graph: Graph) -> tuple[tuple[str, int], ...]:
    """(dtype, length) of each workspace; long enough for every schedule."""
    return ()
