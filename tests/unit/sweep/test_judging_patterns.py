"""Runs the checks of checks_judging.py in the interpreter."""

from pathlib import Path

from tests.support.in_subprocess import Checks

test_judging = Checks(Path(__file__).with_name("checks_judging.py")).tests()
