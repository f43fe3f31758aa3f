"""What a campaign and a gate put into their records, `tridiff report`, and what a full disk costs."""

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.unit.report.records import CORPUS, ROOT, entry, gate, night
from tridiff.fuzz.blame.batch import Blamed
from tridiff.fuzz.blame.jobs import Job
from tridiff.fuzz.builds import Build, Running
from tridiff.fuzz.campaign.clock import TOLD_BY
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.cli.failure import ending
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Blame, CorpusEntry
from tridiff.fuzz.report import blames, publish, scripts
from tridiff.fuzz.report.issue import issue
from tridiff.fuzz.report.model import Script
from tridiff.fuzz.report.publish import publish_campaign, publish_gate, untold
from tridiff.fuzz.report.record import keep_entries, kept_entries, read_gate, read_scripts, read_summary
from tridiff.fuzz.repro.script import Answer, Run, Script as Written, script as script_of

each = pytest.mark.parametrize
NEW = "zero-sign-c65330b634"
HANG = "launch-6e7987d24d"
REGRESSED = "run on the candidate it says BUG, on the baseline OK"
REGRESSION, CHANGED, FIXED = "illegal-address-7f92aee734", NEW, "value-00ebe13492"
Told = list[tuple[str, str]]
"""Entries, and the path in front."""


def tridiff(*arguments: str, status: int = 0) -> None:
    assert ending(run, ["report", "--corpus", str(ROOT / "corpus"), *arguments]) == status


@pytest.fixture(autouse=True)
def blamed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], float]]:
    """Blames that need no process: what was asked for, (backends, seconds for all)."""
    asked: list[tuple[list[str], float]] = []

    def stand_in(jobs: list[Job], *, total: float, **_: object) -> Iterator[Blamed]:
        asked.append(([backend for job in jobs for backend in job.backends], total))
        for job in jobs:
            yield Blamed(entry=job.name, recorded="unknown", blame=Blame(
                stage="front-end", confidence="seen", triton="3.6.0", backend=job.backends[0],
                evidence=("the IR computes 0 - x",)))

    monkeypatch.setattr(blames, "batch", stand_in)
    return asked


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Scripts that need no process: what was asked for."""
    asked: Told = []

    def script(one: object, *, path: str = "", **_: object) -> Written:
        name = one.id
        asked.append((name, path))
        if name == FIXED:
            raise TridiffError("the script takes 90 lines", fix="x")
        return saying("BUG", f"# {name}\n")

    monkeypatch.setattr(scripts, "script", script)
    monkeypatch.setattr(scripts, "run", lambda text, **_: Run(answer="OK"))
    return asked


def publish_night(folder: Path, *found: CorpusEntry, corpus: Corpus | None = None, seconds: float = 20.0) -> str:
    return publish_campaign(folder, read_summary(folder), list(found), corpus=corpus, seconds=seconds)


def publish_both(folder: Path, *, seconds: float = 20.0) -> str:
    return publish_gate(folder, read_gate(folder), seconds=seconds, builds=("/old", "/new"))


def saying(answer: Answer, text: str = "") -> Written:
    """A script that was run and gave an answer."""
    return Written(text=text, ran=Run(answer=answer), faithful=True, backend="interpreter")


def told_of(folder: Path, name: str) -> str:
    """The text of an issue that a record keeps for a finding."""
    return (folder / "findings" / f"{name}.md").read_text()


def without_script(folder: Path, name: str) -> Path:
    """The record whose finding has no script yet."""
    (folder / "findings" / f"{name}.py").unlink()
    (folder / "findings" / "notes.json").unlink()
    return folder


def test_a_new_finding_leaves_case_script_and_issue_text(tmp_path: Path, told: Told):
    folder = night(tmp_path, new=(entry(NEW),))
    for path in (folder / "findings").iterdir():
        path.unlink()
    planted = entry(FIXED)
    assert publish_night(folder, entry(NEW), planted) == ""
    assert told == [(NEW, "")], "only for what is new"
    assert sorted(path.name for path in (folder / "findings").iterdir()) == [
        "notes.json", f"{NEW}.json", f"{NEW}.md", f"{NEW}.py"]
    assert read_scripts(folder) == {NEW: Script(text=f"# {NEW}\n", note="run here it says BUG")}
    text = told_of(folder, NEW)
    assert text.startswith("# -x of +0.0 is +0.0") and f"# {NEW}" in text and "seed 7" in text and "1200 cases" in text
    assert f"# {NEW}" in (folder / "report.html").read_text()
    assert (folder / "junit.xml").exists() and not (folder / "report.sarif").exists()
    told.clear()
    publish_night(folder, entry(NEW))
    assert told == [], "what is there is not written twice"


def test_a_new_finding_comes_out_with_its_blame_within_half_of_the_time(
    tmp_path: Path, told: Told, blamed: list[tuple[list[str], float]],
):
    folder, store = night(tmp_path, new=(entry(NEW),)), Corpus(tmp_path / "corpus")
    one = replace(entry(NEW), blame=())
    store.admit(one)
    publish_night(folder, one, corpus=store)
    assert blamed == [([one.found_in.backend], 10.0)]
    (kept,) = store.find(NEW).blame
    assert kept.stage == "front-end" and kept_entries(folder)[NEW].blame == (kept,)
    assert "the IR computes 0 - x" in told_of(folder, NEW)
    publish_night(folder, replace(one, blame=(kept,)), corpus=store)
    publish_night(folder, one, corpus=store, seconds=15.0)
    assert len(blamed) == 1, "not what is blamed already, nor where there is no time for it"


def test_a_finding_of_more_values_than_a_file_may_hold_is_kept_without_them(tmp_path: Path):
    one = entry(NEW)
    one = replace(one, evidence=replace(one.evidence, inputs={"a": tuple(map(str, range(60_000))), "b": ("7",)}))
    keep_entries(tmp_path, [one])
    kept = kept_entries(tmp_path)[NEW]
    assert kept.case == one.case and kept.evidence.inputs == {"a": (), "b": ("7",)}


def test_planted_faults_are_reported_to_nobody(
    tmp_path: Path, told: Told, blamed: list[tuple[list[str], float]],
):
    one = entry(NEW)
    one = replace(one, signature=replace(one.signature, subject="own+fault:x"))
    folder = without_script(night(tmp_path, new=(one,)), NEW)
    publish_night(folder, one)
    assert told == [] and blamed == [] and not (folder / "findings" / f"{NEW}.md").exists()
    assert NEW in (folder / "report.html").read_text()


def test_a_gate_runs_each_script_on_both_builds(tmp_path: Path, told: Told):
    folder = without_script(gate(tmp_path), REGRESSION)
    assert publish_both(folder) == ""
    assert sorted(told) == [(REGRESSION, "/new"), (FIXED, "/old")], "first where it fails"
    found = read_scripts(folder)
    assert found[REGRESSION].note == REGRESSED
    assert found[FIXED] == Script(note="the script takes 90 lines")
    assert "within the contract" in found[CHANGED].note and not found[CHANGED].text
    text = told_of(folder, REGRESSION)
    assert "regression from Triton 3.6.0 to 3.9.0: out: 7 instead of 8" in text
    assert f"tridiff repro {folder}/cases/regression/{REGRESSION}.json" in text
    changed = told_of(folder, CHANGED)
    assert "Another result in out, where the contract leaves the answer open" in changed
    assert "| | Triton " in text and "| | Triton " not in changed, "the baseline's bits are as good as the candidate's"
    assert {path.name for path in folder.iterdir()} >= {"report.html", "junit.xml", "report.sarif"}


@each("release, paths", [("3.9.0", ("/new", "/old")), ("3.9.1", ("", ""))])
def test_scripts_that_are_written_later_run_on_both_builds_if_these_are_still_the_same(
        tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch, release: str,
        paths: tuple[str, str]):
    folder = without_script(gate(tmp_path), REGRESSION)
    there = {"3.6.0": Build(name="3.6.0", folders=("/old",)), "3.9.0": Build(name="3.9.0", folders=("/new",))}
    names = {one.name: there[one.triton] for one in (read_gate(folder).baseline, read_gate(folder).candidate)}
    monkeypatch.setattr(publish, "resolve", names.__getitem__)
    monkeypatch.setattr(publish, "inspect", lambda build: Running(
        version=release if build.path == "/new" else "3.6.0", file=""))
    assert read_gate(folder).candidate.torch == "2.13.0+cu130"
    monkeypatch.setattr(publish, "version", lambda _: "2.13.0")  # as the metadata of that build says
    tridiff(str(folder), "--scripts", "20s")
    assert sorted(told) == [(REGRESSION, paths[0]), (FIXED, paths[1])]
    if release == "3.9.1":
        assert read_scripts(folder)[REGRESSION].note == scripts.NOBODY
        monkeypatch.setattr(publish, "inspect", lambda build: Running(
            version="3.9.0" if build.path == "/new" else "3.6.0", file=""))
        tridiff(str(folder), "--scripts", "20s")
        assert (REGRESSION, "/new") in told, "once the builds are there they are run"
    assert read_scripts(folder)[REGRESSION].note == REGRESSED


def test_a_script_that_says_the_same_on_both_builds_is_tried_again_and_stays_until_one_is_better(
        tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch):
    folder = without_script(gate(tmp_path), REGRESSION)
    monkeypatch.setattr(publish, "_builds", lambda _: ("/old", "/new"))
    right, answer = scripts.run, Run(answer="BUG", reason="7 instead of 8")
    monkeypatch.setattr(scripts, "run", lambda text, **_: answer)
    publish_both(folder)
    alike = "run on the candidate it says BUG, on the baseline BUG: 7 instead of 8"
    assert read_scripts(folder)[REGRESSION].note == alike
    told.clear()
    tridiff(str(folder), "--scripts", "20s")
    assert REGRESSION not in dict(told), "somebody wrote one"
    answer = Run(answer="none", reason="it crashed")
    tridiff(str(folder), "--scripts", "20s", "--again")
    assert REGRESSION in dict(told) and read_scripts(folder)[REGRESSION].note == alike, "no better than what was there"
    monkeypatch.setattr(scripts, "run", right)
    tridiff(str(folder), "--scripts", "20s", "--again")
    assert read_scripts(folder)[REGRESSION].note == REGRESSED
    told.clear()
    tridiff(str(folder), "--scripts", "20s", "--again")
    assert not {REGRESSION, CHANGED} & dict(told).keys(), "what shows its finding, and what no script can show"


def test_what_the_other_build_cannot_compile_is_written_as_that_build_writes_it(
        tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch):
    """Gluon has other words in each release."""
    folder = without_script(gate(tmp_path), REGRESSION)
    monkeypatch.setattr(scripts, "run", lambda text, **_: Run(answer="SKIP", reason="CompilationError('x')"))
    first = scripts.script
    monkeypatch.setattr(scripts, "script", lambda one, *, path="", **more: first(one, path=path, **more) if (
        path == "/new") else replace(first(one, path=path, **more), ran=Run(answer="OK")))
    publish_both(folder)
    assert (REGRESSION, "/old") in told
    assert read_scripts(folder)[REGRESSION].note == (
        "run on the candidate it says BUG, on the baseline OK (the script as that build writes it)")


def test_a_script_that_gave_no_answer_in_its_time_is_run_again_and_not_lost_for_want_of_it(
        tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch):
    folder = without_script(gate(tmp_path), REGRESSION)
    first = scripts.script
    with monkeypatch.context() as patch:
        patch.setattr(scripts, "script", lambda one, **more: replace(first(one, **more), ran=Run(
            answer="none", reason="no answer within 6.5 s")))
        publish_both(folder)
    assert read_scripts(folder)[REGRESSION].note == (
        "run on the candidate it gave no answer within 6.5 s, on the baseline OK")
    publish_both(folder, seconds=2.0)
    assert read_scripts(folder)[REGRESSION].text, "what is there stays"
    publish_both(folder)
    assert read_scripts(folder)[REGRESSION].note == REGRESSED


def test_a_script_too_long_for_an_issue_is_named_in_its_text():
    text = issue(entry(NEW), script=Script(text="x = 1\n" * 41, note="run here it says BUG"), found_by="by me")
    assert f"It takes 41 lines: {NEW}.py, beside" in text and "x = 1" not in text


def test_without_time_the_text_says_how_to_get_a_script(tmp_path: Path, told: Told):
    folder = without_script(night(tmp_path, new=(entry(NEW),)), NEW)
    publish_night(folder, entry(NEW), corpus=CORPUS, seconds=0.0)
    assert told == [] and "no time was left" in told_of(folder, NEW)
    tridiff(str(folder), "--scripts", "20s")
    assert told == [(NEW, "")] and f"# {NEW}" in told_of(folder, NEW)


def test_more_findings_than_there_is_time_for_end_in_time_and_none_is_lost(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    many = [replace(entry(NEW), id=f"value-{number:010}", blame=()) for number in range(40)]
    folder, store = night(tmp_path, new=tuple(many)), Corpus(tmp_path / "corpus")
    for path in (folder / "findings").iterdir():
        path.unlink()

    def script(one: object, **_: object) -> Written:
        time.sleep(0.3)
        return saying("BUG", "# slow\n")

    monkeypatch.setattr(scripts, "script", script)
    began = time.monotonic()
    summary = read_summary(folder)
    assert publish_campaign(folder, summary, many, corpus=store, seconds=scripts.SHORTEST + 1.0) == ""
    assert time.monotonic() - began < scripts.SHORTEST
    found = read_scripts(folder)
    written = sum(bool(one.text) for one in found.values())
    assert 0 < written < 40 == len(found) == len(list((folder / "findings").glob("value-*.md")))
    line = untold(folder, summary)
    assert f"of 40 new findings {40 - written} have no script" in line and "40 no blame" in line
    assert scripts.NO_TIME in (folder / "report.html").read_text()


def test_a_script_of_a_hang_is_first_and_has_the_time_that_it_takes_to_tell(monkeypatch: pytest.MonkeyPatch):
    found, limits = [entry(NEW), entry(HANG)], dict[str, float]()

    def script(one: CorpusEntry, *, time_limit: float, **_: object) -> Written:
        limits[one.id] = time_limit
        return saying("BUG")

    monkeypatch.setattr(scripts, "script", script)
    monkeypatch.setattr(scripts, "AT_ONCE", 1)
    assert set(scripts.campaign_scripts(found, seconds=900.0)) == {NEW, HANG}
    assert list(limits.items()) == [(HANG, scripts.EACH), (NEW, scripts.EACH)]
    text = script_of(entry(HANG), verify=False, length="any").text
    assert int(re.findall(r"timeout=(\d+)", text)[0]) + 20 < scripts.EACH


def test_the_time_of_a_campaign_ends_with_what_is_told_of_its_findings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scripts.time, "monotonic", lambda: 1000.0)
    assert scripts.seconds_left(1100.0) == 100.0 + TOLD_BY
    assert (scripts.seconds_left(900.0), scripts.seconds_left(9000.0)) == (0.0, scripts.MOST)


@each("changes, seconds", [
    ({"seconds": 10.0}, 15.0), ({"seconds": 600.0}, 60.0), ({"seconds": 28800.0}, 300.0), ({"shrink": False}, 0.0),
    ({"max_cases": 5}, 4.0)])
def test_scripts_take_a_tenth_of_the_time(changes: dict[str, object], seconds: float):
    options = campaign_options(**changes)
    assert scripts.seconds_after(options, took=40.0, interrupted=False) == seconds
    assert scripts.seconds_after(options, took=40.0, interrupted=True) == 0.0, "somebody waits"


def test_a_script_that_was_given_up_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                  told: Told):
    folder = without_script(night(tmp_path, new=(entry(NEW),)), NEW)
    with monkeypatch.context() as patch:
        patch.setattr(scripts, "script", lambda *_, **__: (_ for _ in ()).throw(TridiffError(
            "the script could not be written: no answer within 7 s", fix="x")))
        publish_night(folder, entry(NEW))
    assert read_scripts(folder)[NEW].note == scripts.NO_TIME
    publish_night(folder, entry(NEW), seconds=2.0)
    assert told == [], "two seconds are too few to begin"
    publish_night(folder, entry(NEW))
    assert told == [(NEW, "")] and read_scripts(folder)[NEW].text


def test_a_real_script_is_written_and_run():
    made = scripts.campaign_scripts([entry("gluonsemantic-arange---m-67cba9482a")], seconds=120.0)
    one = made["gluonsemantic-arange---m-67cba9482a"]
    assert "import triton" in one.text and one.lines <= 40
    assert one.note == "run here it says BUG"


@each("kind", ["night", "gate"])
def test_a_full_disk_costs_a_line_and_no_half_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str,
                                                     told: Told):
    folder = night(tmp_path, new=(entry(NEW),)) if kind == "night" else gate(tmp_path)
    (folder / "report.html").write_text("as it was")

    def full(path: Path, text: str) -> None:
        if path.name == "report.html":
            raise OSError(28, "No space left on device", str(path))
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    monkeypatch.setattr(publish, "put", full)
    said = (publish_night(folder, entry(NEW), corpus=CORPUS, seconds=0.0) if kind == "night" else
            publish_gate(folder, read_gate(folder), seconds=0.0, builds=None))
    assert said == (f"{folder}/report.html cannot be written (No space left on device); the record is complete, "
                    f"`tridiff report {folder}` writes its report")
    assert (folder / "report.html").read_text() == "as it was"


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from tridiff.fuzz.report.record import put

    put(tmp_path / "new" / "file", "first")
    monkeypatch.setattr(os, "getpid", lambda: 77)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(OSError):
            put(tmp_path / "new" / "file", "second")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]
    assert (tmp_path / "new" / "file").read_text() == "first"


def test_the_command_writes_what_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = gate(tmp_path)
    tridiff("--reports", str(tmp_path))
    said = capsys.readouterr().out
    assert "do not upgrade: Triton 3.6.0 -> 3.9.0" in said and f"wrote {folder / 'report.html'}" in said
    assert f"regressions: {REGRESSION}" in said and FIXED not in said
    names = [tmp_path / f"out.{one}" for one in ("html", "xml", "sarif", "md")]
    options = zip(("--html", "--junit", "--sarif", "--markdown"), map(str, names), strict=True)
    tridiff(str(folder), *(word for pair in options for word in pair))
    assert [name.read_text()[:8] for name in names] == ["<!doctyp", "<?xml ve", '{\n "$sch', "# gate-2"]
    capsys.readouterr()
    tridiff(folder.name, "--reports", str(tmp_path), "--junit", "-")
    assert capsys.readouterr().out.startswith("<?xml")
    tridiff(str(folder), "--json")
    assert json.loads(capsys.readouterr().out)["verdict"] == "do not upgrade"


@each("arguments, said", [
    (("nothing",), "no record is called nothing; name a folder below"),
    (("--junit", "-", "--json"), "two things cannot go to stdout; name a file for all but one of them"),
    (("--html", "/proc/nope/x.html"), "cannot be written"),
    (("--scripts", "soon"), "'soon' is no duration"),
    (("--again",), "--again needs a time; give --scripts 5m as well"),
])
def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...],
                               said: str):
    gate(tmp_path)
    tridiff(*arguments, "--reports", str(tmp_path), status=2)
    errors = capsys.readouterr().err
    assert said in errors and len(errors.strip().splitlines()) == 1


def test_what_a_stranger_put_into_a_record_is_refused_or_shown_as_text(tmp_path: Path,
                                                                      capsys: pytest.CaptureFixture[str]):
    folder = night(tmp_path, new=(entry(NEW),))
    (folder / "findings" / "notes.json").write_text("[1]")
    (folder / "findings" / "x.json").symlink_to("/etc/passwd")
    tridiff(str(folder), "--html", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert "root:x:" not in page and "import torch" in page
    (folder / "summary.json").write_text('{"schema": 99}')
    capsys.readouterr()
    tridiff(str(folder), status=2)
    assert "this tridiff reads 2" in capsys.readouterr().err


def test_the_terminal_shows_a_gate_as_it_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from tridiff.fuzz.cli.render_gate import render_gate

    summary = read_gate(gate(tmp_path))
    render_gate(replace(summary, flaky=("[red]x[/] [1]",)), tmp_path)
    said = capsys.readouterr().out
    assert said.endswith("do not upgrade (1 regressions, 2 changed, 1 fixed, 3 wrong in both)\n")
    assert "flaky: [red]x[/] [1]" in said and "[bold" not in said and "\\[" not in said and "\x07" not in said
