"""Needs Triton's compiler (checks_compile.py, in a process where kernels are compiled)."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_compile.py"), interpret=False)


@pytest.mark.parametrize("name", CHECKS.names)
def test_drawn_cases_compile(name: str) -> None:
    CHECKS.require(name)
