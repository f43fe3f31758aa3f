"""Interpreted kernels, in a process that interprets."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_interpreted.py"))


@pytest.mark.parametrize("name", CHECKS.names)
def test_interpreted_kernels(name: str):
    pytest.importorskip("triton")
    CHECKS.require(name)
