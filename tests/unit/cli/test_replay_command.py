"""`tridiff replay` as it goes: what it has when it is interrupted, and what it says in a log."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.corpus.entries import entry
from tridiff.fuzz.campaign.replay import ReplayResult
from tridiff.fuzz.cli import replay
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.cli.failure import ending
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import Outcome, Verdict
from tridiff.fuzz.records.outcome import NO_ASSEMBLER


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Corpus(tmp_path / "corpus").admit(entry())
    return tmp_path


def result(number: int) -> ReplayResult:
    return ReplayResult(id=f"value-{number}", target="triton.mod", subject="own", backend="interpreter", triton="3.9.0",
                        expected="agree", actual="agree", ok=True, status="as_expected")


def test_what_was_replayed_before_an_interrupt_is_shown(here: Path, monkeypatch: pytest.MonkeyPatch,
                                                        capsys: pytest.CaptureFixture[str]):
    closed = []

    def interrupted(*entries: object, **options: object) -> Iterator[ReplayResult]:
        try:
            yield result(1)
            raise KeyboardInterrupt
        finally:
            closed.append(True)

    monkeypatch.setattr(replay, "replay", interrupted)
    assert ending(run, ["replay", "--backend", "interpreter", "--json"]) == 130 and closed
    said = capsys.readouterr()
    assert [one["id"] for one in json.loads(said.out)] == ["value-1"]
    assert "interrupted; what was replayed until then" in said.err


def test_a_log_is_told_every_ten_seconds(here: Path, monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]):
    now = iter(range(0, 1000, 4))
    monkeypatch.setattr(replay.time, "monotonic", lambda: float(next(now)))
    monkeypatch.setattr(replay, "replay", lambda *entries, **options: map(result, range(9)))
    assert ending(run, ["replay", "--backend", "interpreter", "--json"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert 1 < len(lines) < 9 and lines[0] == "replayed 3 of 1 entries, last triton.mod/value-2"


@pytest.mark.parametrize("asked, status", [((), 0), (("--backend", "compile:gfx942"), 2)])
def test_a_chip_that_was_asked_for_and_cannot_be_compiled_for_is_not_checked(
        asked: tuple[str, ...], status: int, here: Path, monkeypatch: pytest.MonkeyPatch):
    lacking = Outcome(case_digest="", target="triton.mod", subject="own", backend="compile:gfx942",
                      verdict=Verdict.NOT_CHECKED, reason=NO_ASSEMBLER)
    unchecked = ReplayResult(id="value-2", target="triton.mod", backend="compile:gfx942", status="new_information",
                             outcome=lacking)
    monkeypatch.setattr(replay, "replay", lambda *entries, **options: iter([result(1), unchecked]))
    assert ending(run, ["replay", *asked]) == status
