"""What needs Triton's interpreter: every check file of this folder that compiles nothing, each in a child process."""

from pathlib import Path

from tests.support.in_subprocess import Checks, every_check

FOLDER = Path(__file__).parent

test_interpreted = every_check({
    str(path.relative_to(FOLDER)): Checks(path, quick=True) for path in sorted(FOLDER.rglob("checks_*.py"))
    if not path.name.startswith("checks_compile")})
