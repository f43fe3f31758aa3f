"""The check files of this folder, each run in a child process under TRITON_INTERPRET=1; one pytest case per check."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

FILES = {path.stem: Checks(path) for path in sorted(Path(__file__).parent.glob("checks_*.py"))}


@pytest.mark.parametrize(
    ("file", "name"), [(file, name) for file, checks in FILES.items() for name in checks.names])
def test_interpreter(file: str, name: str) -> None:
    FILES[file].require(name)
