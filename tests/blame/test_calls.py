"""Which function of Triton's Python layer departs from a build with which the case is right."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
from msgspec.structs import replace
from triton.compiler.code_generator import CodeGenerator
from triton.language.semantic import TritonSemantic

from tests.support.cases import addition
from tests.support.repository import ENTRIES
from tridiff.fuzz.bench.stage_faults import ARCH, DRAWS, LIMITS
from tridiff.fuzz.blame.calls import Calls, departing
from tridiff.fuzz.blame.localise import _Search
from tridiff.fuzz.blame.planted import edits_of
from tridiff.fuzz.blame.points import Evaluation
from tridiff.fuzz.blame.stages import FRONT_END, INLINED
from tridiff.fuzz.blame.trial import Call, Result, Trial
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, Outcome, Signature, Verdict
from tridiff.fuzz.records.observed import Observe
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.execute import Executor

each = pytest.mark.parametrize
PACKAGE = Path(triton.__file__).parent


def call(function: str, given: int, made: int) -> Call:
    return Call(function=f"language/core.py {function}", given=given, made=made)


RIGHT = [call("promote", 1, 1), call("add", 1, 1), call("store", 3, 0), call("load", 2, 1), call("load", 2, 2)]


@each("wrong, usual, named", [
    (RIGHT, (), ""),
    # The innermost ends first; what is then given something else says nothing.
    ([call("promote", 1, 2), call("add", 1, 2), call("store", 4, 9)], (), "language/core.py promote"),
    ([call("promote", 7, 2), call("store", 4, 9)], (), ""),
    ([call("promote", 1, 2), call("add", 1, 2)], ("language/core.py promote",), "language/core.py add"),
    # What is now this, now that in the right build too depends on more than is known.
    ([call("store", 3, 5)], (), "language/core.py store"), ([call("load", 2, 3)], (), "")])
def test_who_makes_another_thing_of_what_it_is_given_departs(wrong: list[Call], usual: tuple[str, ...],
                                                             named: str):
    assert departing(wrong, RIGHT, usual) == named


def test_who_is_on_the_stack_of_an_error_comes_before_others_and_alone_counts_beside_another_release():
    visit = replace(call("add", 1, 1), function="compiler/code_generator.py CodeGenerator.visit_Call")
    wrong, right = [call("promote", 1, 2), call("add", 1, 2), replace(visit, made=2)], [*RIGHT, visit]
    for name, same, other in (("language/core.py add",) * 3, ("language/core.py store", "language/core.py promote", ""),
                              (visit.function, "language/core.py promote", visit.function)):
        assert departing(wrong, right, (), (name,)) == same
        assert departing(wrong, right, (), (name,), only=True) == other


@each("text", ["op(2, 3)", "(lambda a: a + 1)(2) if op is np.add else (lambda a: a + 2)(2)"])
def test_whoever_is_given_another_function_of_numpy_does_not_depart(text: str):
    """Nor is one lambda the other that stands beside it."""
    there: dict[str, Any] = {"np": np}
    exec(compile(f"def apply(op):\n    return {text}\n", str(PACKAGE / "runtime/interpreter.py"), "exec"), there)

    def watched(op: np.ufunc) -> Calls:
        with Calls(PACKAGE) as found:
            there["apply"](op)
        return found

    made = watched(np.add).made
    assert len(made) == 1 and departing(watched(np.subtract).made, made) == ""


EDITS: dict[str, tuple[type, str, str]] = {
    "floordiv": (TritonSemantic, "language/semantic.py",
                 "def floordiv(self, input, other):\n    return self.mod(input, other)"),
    "visit_Return": (CodeGenerator, "compiler/code_generator.py",
                     "def visit_Return(self, node):\n    value = self.visit(node.value)\n"
                     "    self.return_vals.append(value + value)\n"
                     "    self.return_ips.append(self._get_insertion_point_and_loc())"),
}
"""Functions by name: where they are, and wrong ones. The last returns nothing, but changes what is known."""


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def plant(name: str) -> None:
        owner, file, text = EDITS[name]
        indented = text.replace("\n", "\n    ")
        there = dict(getattr(owner, name).__globals__)
        exec(compile(f"class {owner.__name__}:\n    {indented}\n", str(PACKAGE / file), "exec"), there)
        monkeypatch.setattr(owner, name, vars(there[owner.__name__])[name])

    yield plant


def calls(case: Case) -> list[Call]:
    found = Calls(PACKAGE)
    with found:
        Executor(backend="compile:sm_90").execute(case, "own", backend="compile:sm_90", observe=Observe(stop="source"))
    return list(found.made)


@each("name, targets", [
    ("floordiv", ("triton.floordiv", "helpers.div_floor_integer")),
    ("visit_Return", ("helpers.maximum", "helpers.prod"))])
def test_one_fault_has_one_name_in_every_target_and_another_fault_another(name: str, targets: tuple[str, ...],
                                                                          planted: Any):
    cases = [draw_cases(target, Limits(elements=8, rows=1, variants=False), 1)[0] for target in targets]
    right = [calls(case) for case in cases]
    assert departing(calls(cases[0]), right[0]) == ""
    planted(name)
    owner, file, _ = EDITS[name]
    assert {departing(calls(case), made) for case, made in zip(cases, right, strict=True)} == {
        f"{file} {owner.__name__}.{name}"}


def test_wrong_ir_of_the_front_end_is_named_by_the_operation_that_departs_from_a_right_build():
    def operation(target: str, fault: str, *, against: bool = True) -> str:
        """Of the first case of the target that fails."""
        for case in draw_cases(target, LIMITS, DRAWS, seed=1):
            right, wrong = Evaluation(ARCH), Evaluation(ARCH, **edits_of(fault))
            right.outcome(case, "own")
            texts = right.runner.texts()
            wrong.runner.source = (texts.get(INLINED) or texts[FRONT_END]) if against else ""
            first = wrong.values(case, "own", seconds=60)[0]
            assert first.behind is None
            if first.outcome is not None and first.outcome.verdict.failed:
                return first.operation
        raise AssertionError("no case fails")

    adding = r"front-end: arith\.addi => arith.subi @0"
    assert operation("triton.vector_add", adding) == "arith.addi > arith.subi"
    assert operation("triton.vector_add", adding, against=False) == ""
    # The operation is in a function that the kernel calls.
    choosing = r"front-end: (arith\.select (%[\w#]+)), (%[\w#]+), (%[\w#]+) : => \1, \4, \3 : @0"
    for target in ("helpers.remainder_integer", "helpers.div_floor_integer"):
        assert operation(target, choosing) == "arith.select > arith.select"


class Laboratory:
    """Every case gives a wrong value in it, and in its baseline the same or a right one."""

    left, triton = 90.0, "3.9.0"

    def __init__(self, *, right: bool = False, usual: tuple[str, ...] = (), made: int = 1) -> None:
        self._right, self._usual, self._made = right, usual, made
        self.baseline: Laboratory | None = None

    def run(self, trial: Trial) -> Result:
        if trial.calls:
            return Result(calls=(call("promote", 1, self._made), call("add", 1, self._made)))
        if trial.evaluated:
            return Result(refused="not here")
        signature = Signature(target="triton.add", subject="own", verdict=Verdict.DISAGREE, kind="value", where="out")
        wrong = Outcome(case_digest="0", target="triton.add", subject="own", backend=trial.backend,
                        verdict=Verdict.DISAGREE, signature=signature)
        right = replace(wrong, verdict=Verdict.AGREE, signature=None)
        return Result(outcome=right if self._right else wrong, triton=self.triton)

    def lines(self, trial: Trial) -> None:
        raise AssertionError("a wrong value has no stack")

    def usual(self, trial: Trial) -> frozenset[str]:
        assert trial.right and trial.calls
        return frozenset(self._usual)


@each("usual, right, named", [
    ((), True, "language/core.py promote"), (("language/core.py promote",), True, "language/core.py add"),
    ((), False, "")])
def test_a_blame_names_what_departs_from_a_baseline_where_the_case_is_right(usual: tuple[str, ...], right: bool,
                                                                            named: str):
    laboratory = Laboratory(usual=usual, made=2)
    laboratory.baseline = Laboratory(right=right)
    found = _Search(addition(rows=2), "own", "interpreter", None, laboratory, "").blame()
    assert found.behind == named
    assert {one.change: one.effect for one in found.vector}["with the baseline"] == ("gone" if right else "same")
    laboratory.baseline = None
    assert _Search(addition(rows=2), "own", "interpreter", None, laboratory, "").blame().behind == ""


class OfTorch(Laboratory):
    """What torch.compile makes is wrong in it, our kernel is right."""

    def run(self, trial: Trial) -> Result:
        found = super().run(trial)
        return Laboratory(right=True).run(trial) if trial.subject == "own" and not trial.calls else found


@each("right, stage", [(True, "unknown"), (False, "inductor")])
def test_inductor_is_not_to_blame_for_what_another_triton_under_the_same_torch_does_right(
        right: bool, stage: str):
    case = ENTRIES.find("zero-sign-a375762658").case
    laboratory = OfTorch()
    alone = _Search(case, "inductor", "interpreter", None, laboratory, "").blame()
    assert (alone.stage, alone.confidence) == ("inductor", "inferred")
    laboratory.baseline = OfTorch(right=right)
    found = _Search(case, "inductor", "interpreter", None, laboratory, "").blame()
    assert found.stage == stage and found.localised is (not right)
    assert any("with the baseline's Triton the same torch is right" in one for one in found.evidence) is right
