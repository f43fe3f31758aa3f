"""The history over campaigns: what it says of each, of findings over several, and what a bad file costs."""

import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.support.cases import addition
from tests.support.outcomes import outcome_of
from tridiff.fuzz.campaign import history
from tridiff.fuzz.campaign.findings import built
from tridiff.fuzz.campaign.record import Counts, IssueCounts, Summary, TargetCounts
from tridiff.fuzz.corpus.cause import finding_of
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.records import CorpusEntry, Environment, Signature, Verdict

HERE = Environment(triton="3.9.0", torch="2.13.0", backend="interpreter", device="cpu")
DAY = 86400.0


def night(name: str, **changes: object) -> Summary:
    counts = Counts(executed=120, agree=118, disagree=2, compiled_kernels=30, busy_seconds=50.0)
    return Summary(**{"id": name, "options": campaign_options(backends=("interpreter",)), "environments": (HERE,),
                      "counts": counts, "seconds": 60.0,
                      "by_target": tuple(TargetCounts(target=target, subject="own", backend="interpreter", counts=one)
                                         for target, one in (("helpers.a", Counts(executed=100, busy_seconds=20.0)),
                                                             ("helpers.b", Counts(executed=20, busy_seconds=30.0)))),
                      **changes})


def cells(*names: str) -> Ledger:
    return Ledger(triton="3.9.0", reached={"interpreter": {"helpers.a": dict.fromkeys(names, 1)}})


def finding(kind: str) -> CorpusEntry:
    signature = Signature(target="triton.vector_add", subject="own", verdict=Verdict.DISAGREE, kind=kind, where="out")
    case = addition()
    outcome = outcome_of(case, Verdict.DISAGREE, signature, reason=kind)
    return built(signature, case, outcome, failed=5, runs=5, environment=HERE)


def test_what_a_campaign_came_to_is_read_as_it_was_noted(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    assert history.read(path) == history.History()
    assert history.note(path, night("one"), ledger=cells("x", "y"), ended=10 * DAY) == ""
    found = history.read(path)
    one, = found.nights
    assert (one.id, one.began, one.cases, one.failed, one.cells, one.gained) == ("one", 10 * DAY - 60, 120, 2, 2, 2)
    assert (one.cases_per_second, one.kernels_per_second, one.triton, one.status) == (2.0, 0.5, "3.9.0", 0)
    share, = found.shares
    assert (share.family, share.cases, share.seconds) == ("helpers", 120, 50.0), "targets of a family are added up"
    assert found.cells == {"3.9.0": 2}


def test_only_cells_that_no_earlier_campaign_reached_are_gained(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    history.note(path, night("one"), ledger=cells("x", "y"), ended=DAY)
    history.note(path, night("two"), ledger=cells("y", "z"), ended=2 * DAY)
    history.note(path, night("two"), ledger=cells("y", "z", "w"), ended=2.5 * DAY)  # It was resumed.
    assert [(one.id, one.cells, one.gained) for one in history.read(path).nights] == [("one", 2, 2), ("two", 3, 2)]
    assert history.read(path).cells == {"3.9.0": 4}


def test_a_finding_is_new_once_and_known_from_then_on(tmp_path: Path):
    path, entry = tmp_path / "history.sqlite", finding("value")
    cause = finding_of(entry.signature)
    history.note(path, night("one", new_findings=(entry.id,)), findings=[entry], ended=DAY)
    issues = {"helpers.a own": {"some-issue": IssueCounts(failed=4, explained=3)},
              "helpers.b own": {"some-issue": IssueCounts(failed=2, explained=2), "other": IssueCounts(failed=1)}}
    history.note(path, night("two", known_findings=(cause,), issues=issues), ended=2 * DAY)
    history.note(path, night("three", stopped_failing=(entry.id,)), ended=3 * DAY)
    found = history.read(path)
    assert {(one.campaign, one.finding, one.state, one.cases) for one in found.sightings} == {
        ("one", cause, "new", 0), ("two", cause, "known", 0), ("two", "issue some-issue", "known", 5),
        ("three", entry.id, "stopped", 0)}
    seen = {one.finding: one for one in found.findings}
    assert (seen[cause].first_campaign, seen[cause].last_campaign, seen[cause].entry) == ("one", "two", entry.id)
    assert seen.keys() == {cause, "issue some-issue"}, "what only looks like an issue is none"


def test_old_campaigns_are_dropped_and_the_first_sight_of_findings_is_kept(tmp_path: Path):
    path, entry = tmp_path / "history.sqlite", finding("value")
    history.note(path, night("old", new_findings=(entry.id,)), findings=[entry], ended=DAY)
    history.note(path, night("new"), ended=50 * DAY, kept_days=30)
    found = history.read(path)
    assert [one.id for one in found.nights] == ["new"] and {one.campaign for one in found.shares} == {"new"}
    assert found.sightings == () and found.findings[0].first_campaign == "old"


def test_the_newest_are_read_oldest_first(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    for day in (3, 1, 2):
        history.note(path, night(f"n{day}"), ended=day * DAY)
    assert [one.id for one in history.read(path, last=2).nights] == ["n2", "n3"]


def test_a_damaged_file_costs_one_line_and_stays_as_it_is(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    path.write_bytes(b"no database at all" * 300)
    said = history.note(path, night("one"))
    assert said == f"{path} was left as it is (file is not a database): campaign one is missing from the history"
    assert path.read_bytes().startswith(b"no database at all")
    with pytest.raises(history.TridiffError, match=r"cannot be read \(file is not a database\); move it away"):
        history.read(path)


def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    database = sqlite3.connect(path)
    database.execute(f"pragma user_version = {history.VERSION + 1}")
    database.close()
    assert "its version is 2, known is 1" in history.note(path, night("one"))


def test_a_locked_file_costs_one_line_and_nothing_of_what_is_in_it(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history, "PATIENCE", 0.1)
    path = tmp_path / "history.sqlite"
    history.note(path, night("one"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    assert "database is locked" in history.note(path, night("two"))
    other.execute("rollback")
    other.close()
    assert [one.id for one in history.read(path).nights] == ["one"]


def test_an_error_half_way_leaves_nothing_of_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "history.sqlite"
    history.note(path, night("one"), ledger=cells("x"))

    def full(*args: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(history, "_sightings", full)
    assert "disk is full" in history.note(path, replace(night("one"), counts=Counts(executed=7)), ledger=cells("y"))
    assert history.read(path).nights[0].cases == 120 and history.read(path).cells == {"3.9.0": 1}
