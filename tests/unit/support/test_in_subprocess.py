"""The child-process runner tells passing, failing, dying and never-run checks apart."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks, run_script


def test_script_sees_the_asked_mode_and_variables():
    source = "import os; print(os.environ.get('TRITON_INTERPRET'), os.environ.get('COLOUR'))"
    assert run_script(source, env={"COLOUR": "red"}).stdout == "1 red\n"
    assert run_script(source, interpret=False).stdout == "None None\n"


def test_unexpected_end_of_a_script_shows_its_streams():
    with pytest.raises(AssertionError, match=r"exit status 3, expected 0[^$]*last words"):
        run_script("import sys; sys.stderr.write('last words'); sys.exit(3)")
    assert run_script("import os; os.abort()", expect_returncode=None).status == "killed by SIGABRT"


def test_each_check_gets_its_own_verdict(tmp_path: Path):
    path = tmp_path / "checks_example.py"
    path.write_text(
        "import os\n"
        "def check_good(): pass\n"
        "def check_bad(): assert 1 == 2, 'one is not two'\n"
        "def check_dies(): os.abort()\n"
        "def check_behind(): pass\n"
        "def helper(): pass\n"
    )
    checks = Checks(path)
    assert checks.names == ("check_good", "check_bad", "check_dies", "check_behind")
    checks.require("check_good")
    with pytest.raises(AssertionError, match=r"one is not two"):
        checks.require("check_bad")
    with pytest.raises(AssertionError, match=r"ended during this check .killed by SIGABRT"):
        checks.require("check_dies")
    with pytest.raises(AssertionError, match=r"not run: the child process ended during check_dies"):
        checks.require("check_behind")


def test_a_file_without_checks_is_refused(tmp_path: Path):
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n")
    with pytest.raises(ValueError, match=r"no function named check_"):
        Checks(path)


def test_a_file_that_cannot_be_loaded_fails_every_check(tmp_path: Path):
    path = tmp_path / "broken.py"
    path.write_text("import no_such_module\ndef check_good(): pass\n")
    with pytest.raises(AssertionError, match=r"could not be loaded[^$]*no_such_module"):
        Checks(path).require("check_good")
