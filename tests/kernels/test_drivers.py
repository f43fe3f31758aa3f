"""The drivers: tails, strides, planted faults, undefined lanes, in the interpreter."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_drivers.py"))


@pytest.mark.parametrize("name", CHECKS.names)
def test_interpreted(name: str) -> None:
    CHECKS.require(name)
