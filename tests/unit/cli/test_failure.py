"""How a run ends: a status of 1 says new findings and nothing else."""

import json
from pathlib import Path

import pytest

from tridiff.fuzz.cli.failure import ending
from tridiff.fuzz.errors import TridiffError

each = pytest.mark.parametrize


def raising(error: BaseException) -> int:
    def run(arguments: list[str]) -> int:
        raise error

    return ending(run, ["fuzz"])


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIDIFF_TRACEBACK", raising=False)


@each("error, status", [
    (TridiffError("no", fix="yes"), 2), (KeyboardInterrupt(), 130), (ZeroDivisionError("division by zero"), 3),
    (MemoryError(), 3), (RecursionError("deep"), 3), (OSError(28, "No space left on device"), 3),
    (BrokenPipeError(32, "Broken pipe"), 2), (ModuleNotFoundError("No module named 'scipy'", name="scipy"), 2),
    (ModuleNotFoundError("No module named 'tridiff.fuzz.x'", name="tridiff.fuzz.x"), 3),
    (AssertionError(), 3), (SystemExit(0), 0)])
def test_no_exception_says_that_there_are_new_findings(error: BaseException, status: int,
                                                       monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("os.dup2", lambda *_: None)
    assert raising(error) == status


def test_the_statuses_of_commands_are_passed_on():
    assert [ending(lambda arguments, status=status: status, []) for status in (0, 1, 2)] == [0, 1, 2]


def test_a_traceback_is_kept_and_named(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert raising(ValueError("[/red] \x1b[2J\nmore")) == 3
    said = capsys.readouterr()
    kept, = (tmp_path / ".tridiff" / "errors").iterdir()
    assert said.out == "" and said.err.count("\n") == 1 and "Traceback" not in said.err
    assert said.err.startswith("tridiff: internal error: ValueError: [/red] \\x1b[2J more (test_failure.py:")
    assert f".tridiff/errors/{kept.name}" in said.err
    text = kept.read_text()
    assert text.startswith("tridiff 'fuzz'\nPython 3.") and "Traceback (most recent call last)" in text


@each("how", ["option", "variable"])
def test_a_traceback_is_shown_to_whoever_asks(how: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch):
    def run(arguments: list[str]) -> int:
        assert arguments == ["fuzz"]
        raise ValueError("odd")

    if how == "variable":
        monkeypatch.setenv("TRIDIFF_TRACEBACK", "1")
    assert ending(run, ["fuzz", "--traceback"] if how == "option" else ["fuzz"]) == 3
    assert "Traceback (most recent call last)" in capsys.readouterr().err
    assert not (tmp_path / ".tridiff").exists()


def test_an_internal_error_is_an_object_under_json(capsys: pytest.CaptureFixture[str]):
    def run(arguments: list[str]) -> int:
        raise KeyError("x")

    assert ending(run, ["fuzz", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["exit_status"] == 3 and told["error"].startswith("internal error: KeyError: 'x'")
