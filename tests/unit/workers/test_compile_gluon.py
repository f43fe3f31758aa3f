"""Gluon and TTGIR text on the backend `compile` (checks_compile_gluon.py, in a process where kernels are compiled)."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_compile_gluon.py"), interpret=False)


@pytest.mark.parametrize("name", CHECKS.names)
def test_compile_gluon(name: str) -> None:
    CHECKS.require(name)
