"""What a report says of a record: verdict, new, still failing, fixed, coverage gained and lost, trends, not checked."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.refusals import refused
from tests.unit.report.records import HERE, ROOT, entry, gate, night, of, past
from tridiff.fuzz.campaign.record import Counts
from tridiff.fuzz.coverage.show import ledgers
from tridiff.fuzz.report import heat
from tridiff.fuzz.report.campaigns import FIXED, NEW, STILL
from tridiff.fuzz.report.heat import sort
from tridiff.fuzz.report.html import html
from tridiff.fuzz.report.junit import junit
from tridiff.fuzz.report.record import find_record, report_of

each = pytest.mark.parametrize
NEWCOMER = "illegal-address-7f92aee734"


def test_a_night_says_what_is_new_what_still_fails_and_what_no_longer_does(tmp_path: Path):
    report = of(night(tmp_path, new=(entry(NEWCOMER),), stopped_failing=("value-00ebe13492",)))
    assert (report.verdict, report.tone, report.status) == ("new findings", "bad", 1)
    assert report.headline.startswith("1 new, 1 still failing, 1 no longer failing; 1,200 cases in ")
    new, = report.of(NEW)
    assert (new.id, new.level, new.target, new.file) == (NEWCOMER, "error", "gluon.view_chain",
                                                         f"findings/{NEWCOMER}.json")
    about = dict(new.about)
    assert (about["class"], about["cause"], about["stage"]) == ("a defect", "linear-shared-offsets-added", "ttgir")
    assert about["verdicts"] == "cuda: 3.6.0 crash, 3.9.0 right"
    assert new.case[0].startswith("case ") and new.script.text.startswith("import torch")
    still, = report.of(STILL)
    assert still.title == "-x of +0.0 is +0.0" and dict(still.about)["cases"] == "8 of this campaign"
    fixed, = report.of(FIXED)
    assert (fixed.id, fixed.command) == ("value-00ebe13492", "tridiff replay value-00ebe13492")


def test_findings_without_an_entry_are_shown_by_name(tmp_path: Path):
    folder = night(tmp_path, new=(entry(NEWCOMER),), known_findings=("triton.a | own | hang",),
                   stopped_failing=("x-1",))
    (folder / "findings" / f"{NEWCOMER}.json").write_text("{}")
    report = report_of(find_record(str(folder), tmp_path), corpus=None)
    assert [one.id for one in report.findings] == [
        NEWCOMER, "triton.a | own | hang", "issue negation-by-subtraction", "x-1"]
    assert report.findings[0].reason == "its entry is neither in the record nor in the corpus"


def test_a_joint_launch_that_fails_is_a_finding(tmp_path: Path):
    told = of(night(tmp_path, joined=("a.json",)))
    assert [one.id for one in told.of(NEW)] == ["a.json"] and "its cases pass alone" in junit(told)


@each("changes, verdict, why", [
    ({}, "nothing new", "1,180 of 1,200 cases were checked, 2,500,000 independent inputs judged"),
    ({"counts": Counts(executed=5, not_checked=5)}, "could not check", "no case was checked"),
    ({"errors": ("triton.a on cuda: the driver died",)}, "could not check", "work was lost: 1 errors"),
])
def test_the_verdict_is_that_of_the_exit_status(tmp_path: Path, changes: dict[str, object], verdict: str,
                                                why: str):
    report = of(night(tmp_path, **changes))
    assert report.verdict == verdict and why in report.why


def test_a_target_is_bad_by_its_findings_and_skipped_where_nothing_was_checked(tmp_path: Path):
    found = replace(entry(NEWCOMER), found_in=HERE)
    case = replace(found.case, target="triton.negate")
    found = replace(found, case=case, signature=replace(found.signature, target="triton.negate"))
    rows = {(one.target, one.backend): one for one in of(night(tmp_path, new=(found,))).rows}
    assert rows["triton.negate", "cuda"].problem.startswith(f"{NEWCOMER}: ")
    assert rows["triton.negate", "cuda"].cells == ("500", "480", "0", "20", "0", "9,000", "0")
    assert rows["helpers.frexp", "compile:sm_90"].cells[1:3] == ("0", "90"), "compiled, and no value judged"
    assert rows["gluon.fp4", "cuda"].skipped == "no case of it could be checked"
    assert rows["tma.reduce", "cuda"].skipped == "this Triton has no Gluon function for TMA reductions"
    assert not rows["codegen.mixed", "cuda"].problem and not rows["codegen.mixed", "cuda"].skipped


def test_coverage_is_compared_with_all_earlier_campaigns(tmp_path: Path):
    folder = night(tmp_path)
    shown = of(folder).heat
    assert shown is not None and not shown.gained and "nothing to compare with" in shown.note
    past(tmp_path, last=folder, nights=3)
    from tests.unit.report.records import ledger
    from tridiff.fuzz.coverage.show import write_ledger
    write_ledger(folder, ledger("op=fresh dtype=fp8"))
    heat = of(folder).heat
    assert heat is not None
    assert heat.gained == ("codegen.mixed on cuda: op=fresh dtype=fp8",)
    assert heat.lost == tuple(f"codegen.mixed on cuda: op=only dtype=n{k}" for k in range(3))
    mixed = dict(heat.rows)["codegen.mixed"][heat.columns.index("op dtype")]
    assert (mixed.number, mixed.gained, mixed.lost) == (41, 1, 3)
    assert dict(heat.rows)["gluon.fp4"][heat.columns.index("ir ttg")].number == 1


def test_every_cell_of_a_campaign_and_of_its_history_is_looked_at_once(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """By target and column, a night of 100,000 cells took longer to draw than to run."""
    folder = night(tmp_path)
    past(tmp_path, last=folder, nights=3)
    asked: list[str] = []
    monkeypatch.setattr(heat, "sort", lambda cell: asked.append(cell) or sort(cell))
    found = of(folder).heat
    assert found is not None and found.columns
    ledger, = ledgers(folder)
    cells = sum(len(one) for targets in ledger.reached.values() for one in targets.values())
    assert cells <= len(asked) <= cells + len(found.gained) + len(found.lost)


@each("cell, kind", [
    ("ir ttg.local_load i8 plain>blocked 2d", "ir ttg"), ("op=add dtype=i8 feature=mask", "op dtype feature"),
    ("pair=mask+sort", "pair"), ("op=add dtype=i8 feature=reduction=split", "op dtype feature"),
    ("ring of three", "ring")])
def test_kinds_of_cells(cell: str, kind: str):
    assert sort(cell) == kind


def test_what_the_workers_did_is_told_in_parts_of_their_time_and_of_their_runs(tmp_path: Path):
    told = dict(of(night(tmp_path)).throughput)
    assert (told["of the workers' time: in runs"], told["of runs: compiling"], told["of runs: judging"]) == (
        "98%", "79%", "4%")


def test_trends_are_of_campaigns_on_the_same_software_up_to_this_one(tmp_path: Path):
    folder = night(tmp_path)
    assert of(folder).trends == ()
    past(tmp_path, last=folder, nights=4)
    trends = {one.title: one.points for one in of(folder).trends}
    assert [name for name, _ in trends["cases per second"]] == ["night-0", "night-1", "night-2", "night-3", folder.name]
    assert [value for _, value in trends["new findings"]] == [0, 0, 1, 0, 0]
    older = night(tmp_path, name="older", environments=(replace(HERE, triton="3.6.0"),))
    past(tmp_path, last=older, nights=0)
    assert of(older).trends == (), "another Triton"


def test_a_damaged_history_costs_the_trends_and_nothing_else(tmp_path: Path):
    folder = night(tmp_path)
    (tmp_path / "history.sqlite").write_text("no database")
    assert of(folder).trends == () and of(folder).verdict == "nothing new"


def test_a_gate_says_what_blocks_what_needs_a_guard_and_what_is_only_shown(tmp_path: Path):
    report = of(gate(tmp_path))
    assert (report.verdict, report.tone, report.status) == ("do not upgrade", "bad", 1)
    assert [(one.group, one.level) for one in report.findings] == [
        ("Regressions", "error"), ("Changed behaviour", "warning"), ("Fixed", "note"), ("Changed behaviour", "note")]
    assert dict(report.findings[3].about)["action"] == "accepted by the policy: looked at"
    assert report.findings[0].file == f"cases/regression/{NEWCOMER}.json"
    assert {one.title for one in report.tables} >= {"Guards", "Public names", "Resources"}
    assert report.heat is not None and report.heat.columns[:2] == ("regression", "same")
    assert {"triton.mod own on cuda", "value-1", "sin fp32: no time"} <= {what for what, _ in report.not_checked}
    assert "Coverage cells lost: 300" in {one.title for one in report.tables}
    skipped = {one.target: one.skipped for one in report.rows}
    assert skipped["gluon.fp4"] == "no pair of it was decided" and not skipped["helpers.frexp"]


@each("folder", sorted(path.parent for name in ("summary.json", "gate.json")
                                          for path in (ROOT / "reports").glob(f"*/{name}")),
                         ids=lambda path: path.name)
def test_every_committed_record_has_a_report(folder: Path):
    report = of(folder)
    assert report.id and report.rows and report.headline and len(html(report).encode()) < 1_000_000


def test_records_are_found_by_folder_by_name_and_the_newest_without_one(tmp_path: Path):
    with refused("no record below"):
        find_record("", tmp_path)
    first, second = night(tmp_path, name="one"), gate(tmp_path)
    import os
    os.utime(first / "summary.json", (2e9, 2e9))
    assert find_record("", tmp_path).folder == first
    assert find_record(second.name, tmp_path).kind == find_record(str(second), tmp_path).kind == "gate"
    (tmp_path / "other").mkdir()
    for name, said in (("other", "holds neither"), ("nothing", "no record is called 'nothing'|no record is called")):
        with refused(said):
            find_record(name, tmp_path)
