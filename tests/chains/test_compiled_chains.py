"""Needs Triton's compiler (checks_compile.py, in a process where kernels are compiled)."""

from pathlib import Path

from tests.support.in_subprocess import Checks

test_drawn_cases_compile = Checks(Path(__file__).with_name("checks_compile.py"), interpret=False).tests()
