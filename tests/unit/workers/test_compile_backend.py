"""The backend `compile` on Triton, Gluon and TTGIR: check files, each in a process where kernels are compiled."""

from pathlib import Path

from tests.support.in_subprocess import Checks, every_check

test_compile_backend = every_check({
    path.stem: Checks(path, interpret=False) for path in sorted(Path(__file__).parent.glob("checks_*.py"))})
