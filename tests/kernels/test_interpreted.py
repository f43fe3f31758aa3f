"""What needs Triton's interpreter: every check file of this folder that compiles nothing, each in a child process."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

FOLDER = Path(__file__).parent
FILES = {str(path.relative_to(FOLDER)): Checks(path) for path in sorted(FOLDER.rglob("checks_*.py"))
         if not path.name.startswith("checks_compile")}


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, checks in FILES.items() for name in checks.names])
def test_interpreted(file: str, name: str) -> None:
    FILES[file].require(name)
