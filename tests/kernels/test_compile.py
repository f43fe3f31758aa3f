"""Helpers and broken variants, and generated kernels, compile; for four architectures and all dtypes at night."""

from pathlib import Path

from tests.support.in_subprocess import Checks, every_check

test_compiled = every_check({name: Checks(Path(__file__).parent / name, interpret=False) for name in (
    "checks_compile.py", "checks_compile_all.py", "codegen/checks_compile.py")})
