"""Scripts of findings that depend on timing: several launches, the first wrong one is the bug, and how many were right
is said where none is."""

import re

import pytest
from msgspec.structs import replace

from tests.unit.corpus.entries import entry, expect
from tests.unit.graphs.graphs import X, filled, load, op, store
from tests.unit.repro.findings import FINDINGS
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, Iota, Verdict
from tridiff.fuzz.repro import checked, frame, script as scripts
from tridiff.fuzz.repro.build import build
from tridiff.fuzz.repro.checked import check
from tridiff.fuzz.repro.request import Candidate, Candidates, Request
from tridiff.fuzz.repro.script import MAX_LINES, Run, Script, run, script
from tridiff.kernels.codegen.graph import Buffer, Graph, Schedule


def _text(case: Case, *, subject: str = "own", launches: int = 4, kind: str = "value", where: str = "out0") -> str:
    asked = Request(title="a title", note="a note", case=case, subject=subject, backend="interpreter",
                    failure=Verdict.DISAGREE, failure_kind=kind, length="short if possible", launches=launches,
                    where=where, seen="6/7")
    return build(asked).scripts[0].text


def _in_place() -> Case:
    """out0 = io0 = io0 + io0: of what one launch left, the next makes something else."""
    graph = Graph(outer=(3,), nodes=(load("io0"), op("add", 0, 0), store("io0", X, 1), store("out0", X, 1)),
                  buffers=(Buffer(name="io0", dtype="i32", length=3, role="inout"),
                           Buffer(name="out0", dtype="i32", length=3, role="out")),
                  schedules=(Schedule(x_blocks=(4,)),))
    return filled(graph, io0=Iota(start=5))


def _answer(text: str) -> tuple[str, int]:
    ran = run(text)
    return ran.answer, ran.launches


def test_every_launch_begins_with_new_arrays_and_all_are_counted():
    text = _text(_in_place())
    assert text.count("\n") <= MAX_LINES and "in range(1, 5):  # it depends on timing: wrong in 6/7 runs" in text
    assert _answer(text) == ("OK", 4)


def test_one_wrong_launch_of_several_is_the_bug():
    text = _text(_in_place())
    third = re.sub(r"^(    )(kernel\[.*)$", r"\1\2\n\1out0 += launches == 3", text, flags=re.M)
    assert third != text and _answer(third)[0] == "BUG"


def test_what_is_read_and_written_is_compared_where_it_is_wrong():
    text = _text(_in_place(), where="io0_after", launches=1)
    assert 'print("io0:"' in text and _answer(text)[0] == "OK"
    wrong = re.sub(r"^(kernel\[.*)$", r"\1\nio0[2] += 1", text, flags=re.M)
    assert wrong != text and _answer(wrong)[0] == "BUG"


def test_what_is_read_and_written_is_not_compared_between_launches():
    text = _text(_in_place(), kind="nondeterministic", launches=1)
    assert "out0" in text.partition("kernel[")[2] and "io0_after" not in text and 'print("io0' not in text


def test_no_launch_begins_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(frame, "REPEATS_FOR", -1)
    assert _answer(_text(_in_place(), launches=50)) == ("OK", 1)


def test_what_does_not_depend_on_timing_is_launched_once():
    finding = next(one for one in FINDINGS if one.kind == "value")
    text = _text(finding.case, launches=1)
    assert "launches" not in text and "time" not in re.findall(r"^import (.*)$", text, flags=re.M)[0]


@pytest.mark.parametrize("status, reproduced, backend, launches", [
    ("flaky", "6/7", "cuda", 4), ("flaky", "2/4", "cuda", 10), ("flaky", "0/9", "cuda", 50),
    ("stable", "5/5", "cuda", 1), ("flaky", "6/7", "interpreter", 1)])
def test_the_more_seldom_it_was_seen_the_more_often_it_is_launched(
        status: str, reproduced: str, backend: str, launches: int, monkeypatch: pytest.MonkeyPatch):
    asked: list[Request] = []

    def answered(request: Request, **options: object) -> Candidates:
        asked.append(request)
        return Candidates(scripts=(Candidate(text="", faithful=True),))

    monkeypatch.setattr(scripts, "_ask", answered)
    script(replace(entry(), status=status, reproduced=reproduced), backend=backend, verify=False)
    assert [(one.launches, one.seen) for one in asked] == [(launches, reproduced)]


@pytest.mark.parametrize("later, fails, answer, asked", [
    ("BUG", True, "BUG", [1, 50]), ("OK", True, "OK", [1, 50]), ("BUG", None, "OK", [1]), ("", True, "OK", [1, 50])])
def test_what_always_fails_in_the_harness_and_not_in_a_first_launch_is_launched_again(
        later: str, fails: bool | None, answer: str, asked: list[int], monkeypatch: pytest.MonkeyPatch):
    launched: list[int] = []

    def answered(request: Request, **options: object) -> Candidates:
        launched.append(request.launches)
        if request.launches > 1 and not later:
            raise TridiffError("the script is too long", fix="none")
        return Candidates(scripts=(Candidate(text=f"{request.launches}", faithful=True),))

    monkeypatch.setattr(scripts, "_ask", answered)
    monkeypatch.setattr(scripts, "runs_here", lambda backend: True)
    monkeypatch.setattr(scripts, "run", lambda text, **options: Run(answer="OK" if text == "1" else later))
    made = script(replace(entry(), status="stable", reproduced="5/5"), backend="cuda", fails=fails)
    assert (made.answer, launched) == (answer, asked)
    assert made.text == ("50" if answer == "BUG" else "1"), "what shows nothing stays short"


def test_the_check_says_how_many_launches_showed_nothing(monkeypatch: pytest.MonkeyPatch):
    own = entry().signature.subject
    one = replace(entry(), status="flaky", reproduced="6/7", expected=(
        expect(own, triton="3.9.0", backend="cuda", verdict=Verdict.DISAGREE),))
    monkeypatch.setattr(checked, "script", lambda one, **options: Script(
        text="x\n", ran=Run(answer="OK", launches=4), faithful=True, backend="cuda"))
    monkeypatch.setattr(checked, "available_backends", lambda: ("cuda",))
    monkeypatch.setattr(checked, "found_version", lambda: "3.9.0")
    (found,) = check([one])
    assert (found.state, found.reason) == ("skip", "flaky: seen in 6/7 runs, and in none of 4 here")
