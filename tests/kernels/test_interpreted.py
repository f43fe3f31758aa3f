"""What needs Triton's interpreter: every check file of this folder that compiles nothing, each in a child process.

Files called checks_NAME_all.py ask the same as checks_NAME.py of more, at night.
"""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks
from tests.support.nights import by_day

FOLDER = Path(__file__).parent
FILES = {str(path.relative_to(FOLDER)): Checks(path, quick=True) for path in sorted(FOLDER.rglob("checks_*.py"))
         if not path.name.startswith("checks_compile")}


CASES = [(file, name) for file, checks in FILES.items() for name in checks.names]


@pytest.mark.parametrize(("file", "name"), by_day(CASES, only=[one for one in CASES if not one[0].endswith("_all.py")]))
def test_interpreted(file: str, name: str) -> None:
    FILES[file].require(name)
