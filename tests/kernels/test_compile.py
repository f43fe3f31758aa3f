"""Every helper and broken variant, and generated kernels, compile; for four architectures and all dtypes on request."""

import os
from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

FILES = {name: Checks(Path(__file__).parent / name, interpret=False)
         for name in ("checks_compile.py", "checks_compile_all.py", "codegen/checks_compile.py")}


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, checks in FILES.items() for name in checks.names])
def test_compiled(file: str, name: str) -> None:
    if file == "checks_compile_all.py" and "TRIDIFF_COMPILE_ALL" not in os.environ:
        pytest.skip("set TRIDIFF_COMPILE_ALL=1 (a minute of compiling)")
    FILES[file].require(name)
