"""Faults planted in the text of a call are caught where they change anything, and right calls are clean."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_planted.py"))


@pytest.mark.parametrize("name", CHECKS.names)
def test_planted(name: str) -> None:
    CHECKS.require(name)
