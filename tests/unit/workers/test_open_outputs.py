"""A case with several outputs: one that the contract leaves open throughout neither passes nor hides another."""

import pytest
import torch
from hypothesis import strategies as st

from tridiff.fuzz.content.place import buffers_of
from tridiff.fuzz.judge.outputs import judge_outputs
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.target import Draw, Judge, Reference, Run, Target
from tridiff.oracles.rules import NUM

HERE = "tests.unit.workers.test_open_outputs"


def both(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return a, a


def first_open(a: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"one": torch.zeros_like(a, dtype=torch.bool), "two": torch.ones_like(a, dtype=torch.bool)}


def second_open(a: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"one": torch.ones_like(a, dtype=torch.bool), "two": torch.zeros_like(a, dtype=torch.bool)}


def nowhere(a: torch.Tensor) -> dict[str, torch.Tensor]:
    return dict.fromkeys(("one", "two"), torch.zeros_like(a, dtype=torch.bool))


def judged(defined: str, *, wrong: str = "") -> Verdict:
    case = Case(target="fake.two", sizes={"n": 2}, arrays=(
        "a fp32[n] = 1, 2", "one fp32[n]", "two fp32[n]"))
    target = Target(
        name="fake.two", summary="", contract="", subjects={},
        draw=Draw(cases=lambda limits: st.nothing()),
        run=Run(launch=lambda launch: None),
        judge=Judge(
            rules=lambda case: {"one": NUM, "two": NUM},
            oracles=lambda case: (Reference(source="torch", function=f"{HERE}:both", arguments=("a",),
                                            outputs=("one", "two")),),
            defined=lambda case: (f"{HERE}:{defined}", ("a",))))
    buffers = buffers_of(case)
    for name in ("one", "two"):
        buffers[name].pointer[:2] = torch.tensor([1.0, 99.0 if name == wrong else 2.0])
    return judge_outputs(case, target, buffers).verdict


@pytest.mark.parametrize("defined", ["first_open", "second_open"])
def test_the_open_output_does_not_decide_whichever_comes_first(defined: str):
    open_one, judged_one = ("one", "two") if defined == "first_open" else ("two", "one")
    assert judged(defined) is Verdict.AGREE
    assert judged(defined, wrong=judged_one) is Verdict.DISAGREE
    assert judged(defined, wrong=open_one) is Verdict.AGREE


def test_nothing_judged_is_not_checked():
    assert judged("nowhere") is Verdict.NOT_CHECKED


def same(a: torch.Tensor) -> torch.Tensor:
    return a


def test_a_truth_value_that_was_never_written_is_told_as_such():
    case = Case(target="fake.one", sizes={"n": 2}, arrays=(
        "a i1[n] = 0, 0", "out i1[n]"))
    target = Target(
        name="fake.one", summary="", contract="", subjects={},
        draw=Draw(cases=lambda limits: st.nothing()), run=Run(launch=lambda launch: None),
        judge=Judge(rules=lambda case: {"out": NUM}, oracles=lambda case: (
            Reference(source="torch", function=f"{HERE}:same", arguments=("a",), outputs=("out",)),)))

    def kind(*written: int) -> str:
        buffers = buffers_of(case)
        buffers["out"].pointer[:len(written)] = torch.tensor(written, dtype=torch.int8)
        return judge_outputs(case, target, buffers).kind

    assert kind(0) == "unwritten"
    assert kind(0, 1) == kind(1, 1) == "value"
