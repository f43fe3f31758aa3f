"""Runs the checks of checks_judging.py in the interpreter."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_judging.py"))


@pytest.mark.parametrize("name", CHECKS.names)
def test_judging(name: str) -> None:
    CHECKS.require(name)
