"""Joint launches as the worker runs them: several cases in one kernel, each judged by itself. Values come of the IR
that the compiler makes for sm_90."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.cases import called, calling
from tests.support.draws import draws
from tests.support.refusals import refused
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.language.joined import may_join
from tridiff.fuzz.records import Case, JointOutcome, LaunchOptions, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.workers.joint import JointExecutor
from tridiff.kernels.language import joined
from tridiff.kernels.language.call import Call, Operand

SM_90, EIGHT = "evaluated:sm_90", LaunchOptions(num_warps=8)
CASES = (called("operator.add", programs=2), called("operator.sub", "i64", programs=3), called("operator.mul", "fp32"),
         called("operator.add", number="7"))


def run(cases: Sequence[Case]) -> JointOutcome:
    found, spent = JointExecutor(backend=SM_90).execute_joined(cases, "own", backend=SM_90)
    assert not spent
    return found


def test_every_case_of_a_joint_launch_is_judged_by_itself():
    found = run(CASES)
    assert [(one.verdict, one.rows.agree) for one in found.outcomes] == [
        (Verdict.AGREE, case.sizes["rows"]) for case in CASES]
    assert [one.case_digest for one in found.passed()] == [case.digest for case in CASES]
    assert [(one.launches, one.compiled_kernels) for one in found.outcomes] == [(1, 1), *[(0, 0)] * 3]
    assert (found.verdict, found.source) == (Verdict.AGREE, "")


def test_other_options_of_some_of_the_cases_are_tried_with_these_only():
    first, *others = CASES
    found = run((others[0], replace(first, variants=(EIGHT,)), others[1]))
    assert len(found.passed()) == 3
    assert [one.launches for one in found.outcomes] == [1, 1, 0]


def test_calls_with_other_values_have_the_same_kernel(monkeypatch: pytest.MonkeyPatch):
    kernels: list[object] = []
    before = Launch.run

    def noted(self: Launch, kernel: Any, *given: Any) -> None:
        kernels.append(kernel)
        before(self, kernel, *given)

    monkeypatch.setattr(Launch, "run", noted)
    others = [find(case.target).draw.again(case) for case in CASES]
    values = draws(st.tuples(*others), 3, seed=1)
    assert len({case.digest for cases in values for case in cases}) > len(CASES)
    for cases in values:
        assert len(run(cases).passed()) == len(CASES)
    assert len(kernels) == 3 and len(set(map(id, kernels))) == 1


def test_calls_that_act_on_one_another_show_in_the_cases_that_suffer(monkeypatch: pytest.MonkeyPatch):
    right = joined.source

    def wrong(parts: Sequence[joined.Part], *, gluon: bool) -> str:
        """The programs of the second call begin one too late: its first one is made by nobody."""
        return right(parts, gluon=gluon).replace("tl.program_id(0) < 2:", "tl.program_id(0) < 3:").replace(
            "call1(2, ", "call1(3, ")

    monkeypatch.setattr(joined, "source", wrong)
    found = run(CASES[:2])
    assert [one.verdict for one in found.outcomes] != [Verdict.AGREE, Verdict.AGREE]
    assert found.outcomes[1].verdict is Verdict.DISAGREE and found.outcomes[1].signature is not None
    assert "call1(3, c1_x0_ptr" in found.source and "# function 1" in found.source
    assert len(run(CASES[1:2]).passed()) == 1


def test_a_kernel_that_does_not_compile_fails_as_a_whole(monkeypatch: pytest.MonkeyPatch):
    right = joined.source
    monkeypatch.setattr(joined, "source", lambda parts, gluon: right(parts, gluon=gluon) + "    nothing.at_all\n")
    found = run(CASES)
    assert (found.verdict, found.outcomes, found.passed()) == (Verdict.COMPILE_ERROR, (), ())
    assert "nothing" in found.reason and "nothing.at_all" in found.source


def test_cases_with_other_options_or_of_another_target_are_not_joined():
    for other in (replace(CASES[1], options=EIGHT), replace(CASES[1], target="language.pointwise")):
        with refused("does not run these 2 cases in one launch"):
            run((CASES[0], other))


@pytest.mark.parametrize("case, expected", [
    (CASES[0], True), (replace(CASES[0], repeats=1), False),
    (replace(CASES[0], options=LaunchOptions(debug=True)), False),
    (calling(Call(row="tl.program_id", operands=(Operand(dtype="i32", shape=(1,)),), stored=("i32",),
                  options={"axis": 0, "what": "program_id"}), {"x0": ("0",)}), False)])
def test_what_has_a_launch_of_its_own(case: Case, expected: bool):
    assert may_join(case, "3.9.0", SM_90) is expected
