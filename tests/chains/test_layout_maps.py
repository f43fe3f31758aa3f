"""Needs Triton's compiler (checks_layouts.py, in a process where kernels are compiled)."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_layouts.py"), interpret=False)


@pytest.mark.parametrize("name", CHECKS.names)
def test_own_layout_maps(name: str) -> None:
    CHECKS.require(name)
