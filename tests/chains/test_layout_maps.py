"""Needs Triton's compiler (checks_layouts.py, in a process where kernels are compiled)."""

from pathlib import Path

from tests.support.in_subprocess import Checks

test_own_layout_maps = Checks(Path(__file__).with_name("checks_layouts.py"), interpret=False).tests()
