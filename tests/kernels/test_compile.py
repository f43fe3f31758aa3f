"""Helpers and broken variants, and generated kernels, compile; for four architectures and all dtypes at night."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks
from tests.support.nights import by_day

FILES = {name: Checks(Path(__file__).parent / name, interpret=False)
         for name in ("checks_compile.py", "checks_compile_all.py", "codegen/checks_compile.py")}


CASES = [(file, name) for file, checks in FILES.items() for name in checks.names]


@pytest.mark.parametrize(("file", "name"), by_day(CASES, only=[one for one in CASES if not one[0].endswith("_all.py")]))
def test_compiled(file: str, name: str) -> None:
    FILES[file].require(name)
