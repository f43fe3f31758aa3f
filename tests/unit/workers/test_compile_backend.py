"""The backend `compile` on Triton, Gluon and TTGIR: check files, each in a process where kernels are compiled."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

FILES = {path.stem: Checks(path, interpret=False) for path in sorted(Path(__file__).parent.glob("checks_*.py"))}


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, checks in FILES.items() for name in checks.names])
def test_compile_backend(file: str, name: str) -> None:
    FILES[file].require(name)
