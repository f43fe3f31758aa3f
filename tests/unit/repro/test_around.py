"""Scripts that go around what Triton's own interpreter has wrong beside a finding."""

import re
from contextlib import nullcontext

import pytest
from msgspec.structs import replace

from tests.support.refusals import refused
from tests.support.repository import CORPUS, ENTRIES
from tests.unit.repro.findings import case, output, values
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Bits, Content, CorpusEntry, Evidence, Verdict
from tridiff.fuzz.repro import script as scripts
from tridiff.fuzz.repro.build import build
from tridiff.fuzz.repro.frame import ONLY_REPAIRED
from tridiff.fuzz.repro.request import Request
from tridiff.fuzz.repro.script import Run, run, script
from tridiff.fuzz.target import Limits

each = pytest.mark.parametrize
ROWS = ("rows",)
BF16 = case("triton.vector_add", {"rows": 1}, values("a", "bf16", "1", dims=ROWS), values("b", "bf16", "2", dims=ROWS),
            output("out", "bf16", dims=ROWS), block=1)
LOOP = ENTRIES.load(CORPUS / "language.statements/value-843ef4b6ee.json")
UPSTREAM = ENTRIES.load(CORPUS / "helpers.maximum_with_index/nan-missing-6b7cfb673b.json")


@pytest.mark.usefixtures("in_this_process")
@each("there", ["OK", "BUG", "SKIP"])
def test_what_shows_the_difference_in_the_repaired_interpreter_alone_runs_in_that(
        monkeypatch: pytest.MonkeyPatch, there: str):
    monkeypatch.setattr(scripts, "run", lambda text, *, path, **_: Run(
        answer=there if path and "interpreter.install()" in text else "BUG"))
    made = script(LOOP, backend="interpreter", other="/other")
    assert ("interpreter.install()" in made.text) == ("It needs tridiff" in made.text) == (there == "OK")


@pytest.mark.usefixtures("in_this_process")
@each("entry, install", [(LOOP, "install()"), (UPSTREAM, "install(interpreter.Repairs.of('inductor'))")])
@each("there", ["OK", "BUG", "SKIP"])
def test_what_the_interpreter_shows_once_it_is_repaired_runs_in_that(
        monkeypatch: pytest.MonkeyPatch, there: str, entry: CorpusEntry, install: str):
    monkeypatch.setattr(scripts, "run", lambda text, **_: Run(
        answer=there if "interpreter.install(" in text else "SKIP" if ONLY_REPAIRED in text else "OK"))
    made = script(entry, backend="interpreter", fails=True)
    assert (f"interpreter.{install}" in made.text, ONLY_REPAIRED in made.text) == (there == "BUG", there != "BUG")


@pytest.mark.usefixtures("in_this_process")
@each("there", ["OK", "BUG", "SKIP"])
def test_what_shows_the_difference_of_two_builds_is_taken(monkeypatch: pytest.MonkeyPatch, there: str):
    monkeypatch.setattr(scripts, "run", lambda text, *, path, **_: Run(
        answer=there if path and "out.float()  #" in text else "BUG"))
    made = script(replace(LOOP, case=BF16), backend="interpreter", other="/other")
    assert ("out.float()  #" in made.text) == (there == "OK")


def test_narrow_numbers_and_bounds_of_loops_are_right_in_every_interpreter():
    asked = Request(title="a title", note="a note", case=BF16, subject="own", backend="interpreter",
                    failure=Verdict.DISAGREE, failure_kind="value")
    written = [build(replace(asked, **one)).scripts[-1].text for one in (
        {}, {"around": True}, {"around": True, "case": LOOP.case}, {"repaired": True})]
    assert "range(120, 120 + x1)" in written[2] and [run(one).answer for one in written] == ["BUG", "OK", "OK", "OK"]


@pytest.mark.usefixtures("in_this_process")
@each("answer, fails", [("BUG", None), ("OK", None), ("OK", False)])
def test_a_pause_is_left_out_where_it_fails_without_and_on_a_build_that_is_right(
        monkeypatch: pytest.MonkeyPatch, answer: str, fails: bool | None):
    delayed = next(one for one in draw_cases("helpers.exclusive_scan_decoupled_lookback", Limits(elements=8), 20)
                   if one.delay)
    monkeypatch.setattr(scripts, "run", lambda text, **_: Run(answer=answer))
    with nullcontext() if answer == "BUG" or fails is False else refused("delayed by a pause"):
        assert script(
            replace(LOOP, case=delayed), backend="interpreter", length="any", fails=fails).answer == answer


@pytest.mark.usefixtures("in_this_process")
def test_of_a_case_with_too_many_values_the_failing_row_is_shown(monkeypatch: pytest.MonkeyPatch):
    many = replace(BF16, sizes={"rows": 512}, arrays=(
        *(replace(one, content=Content(base=Bits(seed=3))) for one in BF16.arrays[:2]), BF16.arrays[2]))
    failing = replace(LOOP, case=many, evidence=Evidence(row=7))
    monkeypatch.setattr("tridiff.fuzz.repro.build.MAX_CHARACTERS", len(script(
        failing, backend="interpreter", length="any", verify=False).text) - 1)
    shown = script(failing, backend="interpreter", length="any", verify=False).text
    assert "(1,)" in shown
    monkeypatch.setattr("tridiff.fuzz.repro.build.MAX_CHARACTERS", len(shown) - 1)
    with refused("too many values"):
        script(failing, backend="interpreter", length="any", verify=False)


def test_an_infinite_argument_is_written_so_that_python_reads_it():
    entry = ENTRIES.load(CORPUS / "language.operators/another-type-760cfb6022.json")
    program = entry.case.program
    infinite = replace(program, operands=tuple(
        replace(one, number='float("inf")') if one.passed else one for one in program.operands))
    made = script(replace(entry, case=replace(entry.case, program=infinite)), backend="interpreter", verify=False)
    text = made.text.replace("'", '"')
    assert re.search(r'kernel\[.*float\("inf"\)\)$', text, re.M) and not re.search(r"[ (]inf\b", text)
