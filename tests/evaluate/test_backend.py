"""The backend `evaluated:ARCH`: values without a device, for every chip, and what it leaves to others."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from triton.language.semantic import TritonSemantic

from tests.support.builds import WRONG_SUM, edited
from tests.support.cases import addition, division, ramp
from tests.support.draws import draws
from tests.support.repository import ENTRIES
from tridiff.fuzz.backends import ARCHITECTURES, BACKENDS, compiler, expand, kind
from tridiff.fuzz.blame.planted import edits_of
from tridiff.fuzz.blame.stepping import Stepper, stepping
from tridiff.fuzz.campaign.replay import plan
from tridiff.fuzz.corpus.cause import same_finding
from tridiff.fuzz.evaluate.conversions import rounded_once
from tridiff.fuzz.evaluate.table import MEANINGS
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.records import Case, Delay, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.execute import Executor
from tridiff.fuzz.workers.failures import classify
from tridiff.fuzz.workers.pool import Pool, PoolOptions

each = pytest.mark.parametrize
SM_90 = "evaluated:sm_90"


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    yield Executor(backend=SM_90)


def run(case: Case, subject: str = "own", backend: str = SM_90, executor: Executor | None = None) -> Outcome:
    """In a process that has compiled nothing like it."""
    return (executor or Executor(backend=backend)).execute(case, subject, backend=backend)[0]


def test_there_is_one_for_each_chip():
    assert expand("evaluated") == tuple(f"evaluated:{chip}" for chip in ARCHITECTURES)
    assert set(expand("evaluated")) <= set(BACKENDS)
    assert (kind(SM_90), compiler(SM_90), compiler("cuda")) == ("evaluated", "compile:sm_90", "cuda")


@each("chip", ARCHITECTURES)
def test_values_are_judged_for_every_chip(chip: str):
    found = run(addition(rows=10, block=4), backend=f"evaluated:{chip}")
    assert (found.verdict, found.rows.agree, found.launches, found.compiled_kernels) == (Verdict.AGREE, 10, 1, 1)
    assert found.cells


def test_exact_values():
    found = Executor(backend=SM_90).execute(
        division((-7, 7, -2**31), (2, -2, 3), target="triton.floordiv"), "own", backend=SM_90, want_inputs=True)[0]
    assert found.verdict is Verdict.AGREE
    assert found.evidence is not None and found.evidence.actual["out"] == ("-3", "-3", "-715827882")


def test_what_is_not_known_is_not_checked_and_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(MEANINGS, "arith.addi")
    found = run(addition(rows=10, block=4))
    assert (found.verdict, found.reason) == (Verdict.NOT_CHECKED, "not evaluated: op arith.addi")


def test_a_launch_that_takes_too_long_is_not_checked(executor: Executor):
    run(addition(rows=10, block=4), executor=executor)
    runner = executor._runner(SM_90)
    runner.deadline = 0.0
    found = run(addition(rows=4000, block=4), executor=executor)
    runner.deadline = float("inf")
    assert (found.verdict, found.reason) == (
        Verdict.NOT_CHECKED, "not evaluated: a launch that takes longer than there is time for")


def test_an_error_of_the_evaluator_is_tridiffs_own():
    with pytest.raises(AttributeError) as raised:
        rounded_once("no array", np.dtype("f4"))
    found = classify(raised.value, SM_90)
    assert (found.verdict, found.where) == (Verdict.CRASH, "evaluator")
    assert found.reason.startswith("tridiff itself failed while it evaluated, please report it: ")


def test_what_a_chip_lacks_is_not_checked():
    found = run(ENTRIES.find("gluon.convert_layout/value-e95cb3acf8").case, backend="evaluated:sm_80")
    assert (found.verdict, found.reason) == (Verdict.NOT_CHECKED, "sm_80 has no fp8e4nv")


def test_nothing_is_late_where_there_is_no_time():
    case = draws(find("loops.num_stages").draw.cases(Limits(elements=1 << 10, rows=4)), 1, seed=4)[0]
    late = replace(case, delay=Delay(of="warp", number=0, access=0))
    assert run(late).verdict is run(case).verdict is Verdict.AGREE


def test_a_fault_of_the_front_end_is_seen(monkeypatch: pytest.MonkeyPatch):
    product = TritonSemantic.mul
    case = division((-7, 9), (2, -4), target="triton.mod")
    assert run(case).verdict is Verdict.AGREE
    monkeypatch.setattr(TritonSemantic, "mod", lambda self, a, b: product(self, a, b, True))
    found = run(case)
    assert (found.verdict, found.signature and found.signature.kind) == (Verdict.DISAGREE, "value")


@each("fault, verdict", [
    ("make_ttgir add_coalesce: slt, => sle,", Verdict.DISAGREE),
    (r"make_ttir add_combine: arith.addi (%\w+), (%\w+) : => arith.subi \1, \2 : @1", Verdict.DISAGREE),
    ("make_ttgir add_coalesce: no such text => none", Verdict.AGREE),
])
def test_a_fault_of_a_pass_is_seen(fault: str, verdict: Verdict):
    with stepping(Stepper(**edits_of(fault))):
        assert run(addition(rows=10, block=4)).verdict is verdict


def test_a_pass_that_is_left_out_changes_no_value():
    with stepping(Stepper(drop=("make_ttgir add_coalesce", "make_ttir add_combine"))):
        assert run(addition(rows=10, block=4)).verdict is Verdict.AGREE


@each("entry, issue", [
    ("triton.floordiv/value-cd18b7a4b0", ""),  # LLVM folds it
    ("language.pointers/out-of-bounds-757be6f29f", "pointer-minus-unsigned-offset"),
    ("language.statements/value-d54c947035", "copy-in-a-loop-not-carried"),
    ("language.statements/value-843ef4b6ee", "unsigned-bounds-are-negative"),
    ("language.statements/value-a31fac3621-beside", "unrolled-loop-of-no-trips"),
])
def test_known_issues_show_if_they_lie_in_front_of_llvm(entry: str, issue: str, executor: Executor):
    case = ENTRIES.find(entry).case
    found = run(case, executor=executor)
    asked = Attribution(lambda relative: run(relative, executor=executor))
    assert (found.verdict.failed, asked.issues(case, found)) == (bool(issue), (issue,) if issue else ())


def test_an_entry_shows_its_issue_in_any_way_that_its_rows_have(executor: Executor):
    """Elsewhere it addresses memory outside of its arrays."""
    entry = ENTRIES.find("language.pointers/out-of-bounds-757be6f29f")
    found = run(entry.case, executor=executor)
    assert (found.signature and found.signature.kind, entry.signature.kind) == ("unwritten", "out_of_bounds")
    assert same_finding(found, entry)
    assert found.signature is not None
    other = replace(found, signature=replace(found.signature, kind="inf"))
    assert not same_finding(other, entry)


def test_no_issue_of_a_stage_that_is_not_run_accounts_for_a_failure():
    shown = {one.stage for one in all_issues() if one.shows_on(SM_90)}
    assert {"language", "front-end", "ttgir"} <= shown
    assert not shown & {"llvm", "ptxas"}
    assert not any(one.shows_on(SM_90) for one in all_issues() if one.backends == ("interpreter",))


def test_an_entry_without_a_row_for_it_is_not_replayed_there():
    entry = ENTRIES.find("triton.floordiv/value-cd18b7a4b0")
    assert plan(entry, backends=(SM_90,)) == ()
    assert plan(entry, backends=(SM_90,), everywhere=True) == (("own", SM_90),)


def test_workers_judge_the_values_of_another_build(tmp_path: Path):
    cases = (addition(dtype="fp32"), addition(), ramp(start=-2, divisor=2))
    with Pool(PoolOptions(backend=SM_90, build=str(edited(tmp_path, WRONG_SUM)), spare=False)) as pool:
        found = [pool.execute(one, "own").verdict for one in cases]
    assert found == [Verdict.DISAGREE, Verdict.AGREE, Verdict.AGREE]
