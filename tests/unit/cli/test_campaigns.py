"""States of campaigns are listed with what they are, and removed unless they run."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.campaigns import campaign_options
from tridiff.fuzz.campaign.history import FILE, note
from tridiff.fuzz.campaign.record import Counts, Plan, Summary
from tridiff.fuzz.campaign.state import Owned
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.cli.failure import ending
from tridiff.fuzz.records import Environment, pretty_json

each = pytest.mark.parametrize
NOW = 1_900_000_000


def left(root: Path, name: str, *, finished: bool, days: int, cases: int = 0) -> Path:
    folder = root / ".tridiff" / "campaigns" / name
    (folder / "findings").mkdir(parents=True)
    (folder / "plan.json").write_text(pretty_json(Plan(id=name, options=campaign_options(), shards=())))
    os.utime(folder / "plan.json", (NOW - 86400 * days, NOW - 86400 * days))
    (folder / "findings" / "one.json").write_text("{}")
    if finished:
        (folder / "finished").touch()
    store = ShardStore(folder / "shard-00000.sqlite")
    for _ in range(cases):
        store.refused(round_number=0, reason="none")
    store.close()
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A night that ended, one that was cut off, an old one of each, one that runs, and strangers among them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tridiff.fuzz.campaign.states.time.time", lambda: NOW)
    left(tmp_path, "night", finished=True, days=1, cases=7)
    left(tmp_path, "cut", finished=False, days=2, cases=3)
    left(tmp_path, "old", finished=True, days=40)
    left(tmp_path, "old-cut", finished=False, days=50)
    running = left(tmp_path, "running", finished=False, days=60)
    root = tmp_path / ".tridiff" / "campaigns"
    (root / "empty").mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere")
    left(tmp_path / "other", "elsewhere", finished=True, days=90).rename(tmp_path / "elsewhere")
    (root / "night" / "cache").symlink_to(tmp_path / "elsewhere")
    (root / "cut" / "shard-00001.sqlite").write_text("no database")
    owned = Owned(running)
    yield tmp_path
    owned.release()


def told(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> Any:
    assert ending(run, ["campaigns", *arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def names(here: Path) -> set[str]:
    return {path.name for path in (here / ".tridiff" / "campaigns").iterdir()} - {"empty", "link"}


def test_what_there_is(here: Path, capsys: pytest.CaptureFixture[str]):
    rows = told(capsys)
    assert [(row["id"], row["state"], row["cases"], row["findings"]) for row in rows] == [
        ("running", "running", 0, 1), ("old-cut", "interrupted", 0, 1), ("old", "finished", 0, 1),
        ("cut", "interrupted", 3, 1), ("night", "finished", 7, 1)]
    assert all(row["bytes"] > 4096 and row["removed"] is False for row in rows) and rows[4]["started"] == NOW - 86400
    assert ending(run, ["campaigns"]) == 0
    said = capsys.readouterr().out
    assert "running" in said and "continue with: tridiff fuzz --resume --id cut" in said
    assert names(here) == {"night", "cut", "old", "old-cut", "running"}


@each("arguments, removed", [
    ((), {"night", "old"}), (("--older-than", "30d"), {"old", "old-cut"}), (("cut",), {"cut"}),
    (("--older-than", "1h"), {"night", "cut", "old", "old-cut"})])
def test_what_is_removed(arguments: tuple[str, ...], removed: set[str], here: Path,
                         capsys: pytest.CaptureFixture[str]):
    before = names(here)
    assert {row["id"] for row in told(capsys, "--clear", *arguments)} == removed
    assert names(here) == before - removed
    assert (here / "elsewhere" / "plan.json").exists(), "links are removed, not followed"


@each("arguments, said", [
    (("--clear", "running"), "campaign running is running"), (("--clear", "night", "nobody"), "no campaign nobody"),
    (("nobody",), "no campaign nobody"), (("--clear", "../../elsewhere"), "no campaign ../../elsewhere"),
    (("--clear", "link"), "no campaign link"), (("--older-than", "1d"), "--older-than without --clear"),
    (("--clear", "night", "--older-than", "1d"), "--older-than together with names")])
def test_what_is_refused(arguments: tuple[str, ...], said: str, here: Path, capsys: pytest.CaptureFixture[str]):
    before = names(here)
    assert told(capsys, *arguments, status=2)["error"].startswith(said)
    assert names(here) == before


def test_without_a_campaign_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                             capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    assert told(capsys) == told(capsys, "--clear") == []


def test_the_history_is_printed_with_what_was_gained_and_seen(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    assert run(["campaigns", "--history"]) == 0
    assert "no history in reports/history.sqlite" in capsys.readouterr().out
    summary = Summary(id="night-1", options=campaign_options(), environments=(Environment(triton="3.9.0"),),
                      counts=Counts(executed=1200, agree=1200), by_target=(), seconds=60.0,
                      known_findings=("triton.vector_add | own | disagree | value | out | ",))
    assert note(Path("reports") / FILE, summary, ended=NOW) == ""
    assert run(["campaigns", "--history"]) == 0
    said = capsys.readouterr().out
    assert "night-1" in said and "20.0" in said and "triton.vector_add | own" in said
    assert run(["campaigns", "--history", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nights"][0]["cases"] == 1200
