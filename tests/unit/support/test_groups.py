"""All checks of one file are one group, so that no two workers run the same child process."""

import subprocess
import sys

from tests.support.in_subprocess import REPOSITORY


def test_checks_of_one_file_are_one_group_and_other_tests_are_in_none() -> None:
    script = (
        "import pytest, sys\n"
        "class Groups:\n"
        "    def pytest_collection_finish(self, session):\n"
        "        for item in session.items:\n"
        "            marker = item.get_closest_marker('xdist_group')\n"
        "            print(item.originalname, marker.args[0].rpartition('/')[2] if marker else '-')\n"
        "pytest.main(['--collect-only', '-qq', '-p', 'no:cacheprovider', 'tests/unit/graphs/test_upstream.py',\n"
        "             'tests/unit/interpreter/test_interpreter_checks.py'], plugins=[Groups()])\n")
    run = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    seen = {tuple(line.split()) for line in run.stdout.splitlines() if line.startswith("test_") and line.count(" ") == 1}
    assert {("test_interpreter", "checks_trace.py"), ("test_interpreter", "checks_control.py")} <= seen
    assert ("test_upstream", "checks_upstream.py") in seen
    assert ("test_importing_the_package_imports_neither_torch_nor_triton", "-") in seen
