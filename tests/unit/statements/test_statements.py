"""Drawn programs of statements are right in the interpreter, compile, and show planted faults."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_programs.py"))


@pytest.mark.parametrize("name", CHECKS.names)
def test_programs(name: str) -> None:
    CHECKS.require(name)
