"""How a script's answer stands to the record, and where a script is run."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from tests.support.builds import without_distribution
from tests.unit.corpus.entries import entry, expect
from tridiff.fuzz.cli import repro_check
from tridiff.fuzz.cli.repro import agreement
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Verdict
from tridiff.fuzz.repro import checked
from tridiff.fuzz.repro.checked import check, chosen
from tridiff.fuzz.repro.frame import signs
from tridiff.fuzz.repro.request import Recorded
from tridiff.fuzz.repro.script import Answer, Run, Script, about_ptxas, recorded

each = pytest.mark.parametrize
HERE = ("cuda", "interpreter", "compile:sm_90")


def _entry(*rows: tuple[str, str, Verdict]) -> CorpusEntry:
    return replace(entry(), expected=tuple(
        expect(entry().signature.subject, triton=triton, backend=backend, verdict=verdict)
        for triton, backend, verdict in rows))


def written(answer: Answer, *, reason: str = "") -> Callable[..., Script]:
    """A script that gives an answer."""
    return lambda one, *, backend="interpreter", **options: Script(
        text="x\n", ran=Run(answer=answer, reason=reason), faithful=True, backend=backend)


def interpreting(monkeypatch: pytest.MonkeyPatch, script: Callable[..., Script]) -> None:
    """Scripts are written by a function, for Triton 3.9.0, which interprets."""
    monkeypatch.setattr(checked, "script", script)
    monkeypatch.setattr(checked, "available_backends", lambda: ("interpreter",))
    monkeypatch.setattr(checked, "found_version", lambda: "3.9.0")


def test_a_script_is_run_where_this_version_fails_and_on_the_gpu_first():
    fails, right = Verdict.DISAGREE, Verdict.AGREE
    many = _entry(("3.6.0", "cuda", fails), ("3.9.0", "cuda", right), ("3.9.0", "compile:sm_90", Verdict.CRASH),
                  ("3.9.0", "interpreter", right))
    assert chosen(many, offered=HERE, triton="3.9.0")[0] == "compile:sm_90"
    assert chosen(many, offered=("cuda", "interpreter"), triton="3.9.0")[0] == "cuda"
    backend, wanted = chosen(many, offered=HERE, triton="3.6.0")
    assert backend == "cuda" and wanted is not None and wanted.verdict is fails
    assert chosen(many, offered=("interpreter",), triton="3.7.1") == ("interpreter", None)
    assert chosen(_entry(("3.9.0", "cuda", fails)), offered=("interpreter",), triton="3.9.0") == ("", None)


@each("verdict, entry_status, answer, state, status", [
    (Verdict.DISAGREE, "stable", "BUG", "as_recorded", 0), (Verdict.DISAGREE, "stable", "OK", "contradicts", 1),
    (Verdict.AGREE, "stable", "BUG", "contradicts", 1), (Verdict.AGREE, "stable", "OK", "as_recorded", 0),
    (Verdict.DISAGREE, "stable", "SKIP", "skip", 2), (Verdict.DISAGREE, "stable", "none", "contradicts", 1),
    (Verdict.DISAGREE, "flaky", "OK", "skip", 2), (Verdict.DISAGREE, "flaky", "BUG", "as_recorded", 0),
    (Verdict.AGREE, "flaky", "BUG", "contradicts", 1),
])
def test_an_answer_is_held_against_the_record(
    verdict: Verdict, entry_status: Literal["stable", "flaky"], answer: Answer, state: str, status: int,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str],
):
    """Contradictions are status 1, nothing run is status 2; results lie in the record file as they come. What fails at
    times is not contradicted by one run in which it does not."""
    interpreting(monkeypatch, written(answer, reason="r"))
    record = tmp_path / "results.jsonl"
    one = replace(_entry(("3.9.0", "interpreter", verdict)), status=entry_status)
    found = repro_check.run([one], backend="", workers=1, time_limit=5, record=record, as_json=True)
    (shown,) = json.loads(capsys.readouterr().out)
    assert (found, shown["state"], shown["answer"]) == (status, state, answer)
    assert [json.loads(line) for line in record.read_text().splitlines()] == [shown]


@each("fails, state", [(True, "skip"), (False, "contradicts")])
def test_scripts_run_the_interpreter_as_it_is_and_the_record_is_of_the_repaired_one(
    fails: bool, state: str, monkeypatch: pytest.MonkeyPatch,
):
    interpreting(monkeypatch, written("BUG"))
    monkeypatch.setattr(checked, "_plain_fails", lambda entry: fails)
    (found,) = check([_entry(("3.9.0", "interpreter", Verdict.AGREE))])
    assert (found.state, found.reason) == (state, checked.PLAIN_FAILS if fails else "")


def test_what_cannot_be_run_or_written_is_skipped_with_its_reason(monkeypatch: pytest.MonkeyPatch):
    def refuse(one: CorpusEntry, **options: object) -> Script:
        raise TridiffError("no kernel shows it", fix="rerun it")

    interpreting(monkeypatch, refuse)
    entries = [_entry(("3.9.0", "interpreter", Verdict.DISAGREE)), _entry(("3.9.0", "cuda", Verdict.DISAGREE)),
               TridiffError("x.json: is no entry", fix="delete it")]
    reasons = {one.reason: one.state for one in check(entries)}
    assert reasons == {"no script: no kernel shows it; rerun it": "skip", "x.json: is no entry; delete it": "skip",
                       "recorded for cuda, none of which is available here": "skip"}


def test_a_build_without_a_distribution_is_held_against_its_own_record(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    without_distribution(tmp_path, "3.9.1+git1234", monkeypatch)
    monkeypatch.setattr(checked, "script", written("BUG", reason="r"))
    monkeypatch.setattr(checked, "available_backends", lambda: ("interpreter",))
    (found,) = check([_entry(("3.9.1+git1234", "interpreter", Verdict.DISAGREE),
                             ("3.9.0", "interpreter", Verdict.AGREE))])
    assert (found.triton, found.expected, found.state) == ("3.9.1+git1234", "BUG", "as_recorded")


def test_script_and_harness_must_say_the_same():
    def said(answer: Answer) -> Script:
        return written(answer)(entry())

    assert agreement("disagree", said("BUG")) == (True, "") and agreement("agree", said("OK")) == (True, "")
    assert agreement("", said("none")) == (None, "")
    found, problem = agreement("disagree", said("OK"))
    assert found is False and problem == "the script does not show the finding: it says OK, the harness disagree"
    assert agreement("crash", said("SKIP"))[0] is None and agreement("crash", said("SKIP"))[1]
    assert agreement("agree", said("BUG"))[0] is False


def test_what_other_versions_recorded_on_the_backend_counts_too():
    """3.9.0 refuses a program that 3.6.0 compiles wrong: a script that looks for the refusal alone says OK there."""
    one = _entry(("3.6.0", "cuda", Verdict.DISAGREE), ("3.9.0", "cuda", Verdict.COMPILE_ERROR),
                 ("3.9.0", "interpreter", Verdict.AGREE))
    subject = one.signature.subject
    assert {way.verdict for way in recorded(one, subject=subject, backend="cuda")} == {
        Verdict.DISAGREE, Verdict.COMPILE_ERROR}
    assert recorded(one, subject=subject, backend="interpreter") == ()


def test_another_verdict_does_not_end_in_the_text_of_the_signature():
    """Interpreted it is an assertion that fails, compiled an error whose own text is empty."""
    found = _entry(("3.6.0", "interpreter", Verdict.DISAGREE), ("3.6.0", "compile:gfx942", Verdict.COMPILE_ERROR))
    subject, kind = found.signature.subject, found.signature.kind
    assert recorded(found, subject=subject, backend="compile:gfx942") == (
        Recorded(verdict=Verdict.COMPILE_ERROR, kind=""),)
    assert recorded(found, subject=subject, backend="interpreter") == (Recorded(verdict=Verdict.DISAGREE, kind=kind),)


@each("said, shown", [
    ("  assert a == b\nAssertionError\n\nThe above exception\n\nt.errors.CompilationError: at 6:9:", True),
    ("AssertionError: wrong\n\nThe above exception\n\nt.errors.CompilationError: at 6:9:", False),
    ("t.errors.CompilationError: at 6:9:\nmissing operand", False), ("AssertionError\n", False)])
def test_a_compile_error_without_a_text_is_told_from_one_with_a_text(said: str, shown: bool):
    found = signs((Recorded(verdict=Verdict.COMPILE_ERROR, kind=""),))
    assert found.isolated and any(re.search(text, said) for text in found.texts) is shown
    assert not signs((Recorded(verdict=Verdict.CRASH, kind=""),)).isolated


def test_an_exception_without_a_message_shows_by_its_name():
    (text,) = signs((Recorded(verdict=Verdict.CRASH, kind="AssertionError: "),)).texts
    said = "  assert a.dtype == b.dtype\nAssertionError", "SKIP: InterpreterError('AssertionError()')"
    assert all(re.search(text, one) for one in said)
    assert not re.search(text, "AssertionError: another one") and not re.search(text, "  raise AssertionError")


def test_defects_of_ptxas_are_known_by_their_stage_or_their_explanation():
    plain = replace(entry(), explanation="ptxas 12.8 drops the upper half")
    assert about_ptxas(plain) and not about_ptxas(replace(plain, stage="llvm"))
    assert about_ptxas(replace(entry(), explanation="", stage="ptxas")) and not about_ptxas(entry())
