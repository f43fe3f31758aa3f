"""From a launch to a verdict, with Python functions for kernels: each thing that can be wrong is named as such."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from msgspec.structs import replace

from tests.unit.workers.fake_target import CPU, FakeRunner, begun, case, double, judge, logical, target
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.content.place import GUARD
from tridiff.fuzz.judge import outputs as judging
from tridiff.fuzz.records import Content, Iota, Launched, LaunchOptions, Outcome, RowCounts, Signature, Verdict
from tridiff.fuzz.workers import execute
from tridiff.fuzz.workers.failures import classify
from tridiff.oracles.rules import ABS, BIT, NUM0

each = pytest.mark.parametrize
Kernel = Callable[[Launch, int], None]


def then(change: Kernel) -> Kernel:
    """The right kernel, followed by something that it should not do."""
    def kernel(launch: Launch, number: int) -> None:
        double(launch, number)
        change(launch, number)
    return kernel


def wrong_at(row: int, value: float) -> Kernel:
    return then(lambda launch, number: logical(launch, "out")[row].fill_(value))


def filling(values: Callable[[int], float]) -> Kernel:
    """Fills the output with one value that depends on the number of the launch."""
    return lambda launch, number: logical(launch, "out").fill_(values(number))


def shown(outcome: Outcome) -> tuple[str, str]:
    """Kind and place of a disagreement."""
    assert outcome.verdict is Verdict.DISAGREE
    return outcome.signature.kind, outcome.signature.where


def test_a_right_kernel_agrees():
    runner = FakeRunner(double)
    outcome = judge(case("1", "-2", "3"), runner=runner)
    assert (outcome.verdict, outcome.reason, outcome.signature, outcome.failing_rows) == (Verdict.AGREE, "", None, ())
    assert outcome.rows == RowCounts(agree=3, by_oracle={"torch": 3, "numpy": 3})
    assert (outcome.launches, runner.launches, outcome.compiled_kernels) == (1, 1, 1)


def test_a_wrong_row_disagrees_and_is_named():
    outcome = judge(case("1", "-2", "3"), wrong_at(1, 9))
    assert outcome.verdict is Verdict.DISAGREE
    assert outcome.reason == "1 of 3 rows of out are wrong (value)"
    assert outcome.signature == Signature(target="fake.double", subject="own", verdict=Verdict.DISAGREE, kind="value",
                                          where="out", about="thing")
    assert (outcome.failing_rows, outcome.rows.agree, outcome.rows.disagree) == ((1,), 2, 1)
    assert outcome.evidence.expected == {"torch": {"out": ("2", "-4", "6")}, "numpy": {"out": ("2", "-4", "6")}}
    assert outcome.evidence.actual == {"out": ("2", "9", "6")}


def test_a_target_may_name_arrays_that_are_alike_by_one_word():
    of = target()
    judged = dataclasses.replace(of.judge, output_class=lambda name: {"out": "any output"}[name])
    of = dataclasses.replace(of, judge=judged)
    outcome = judge(case("1", "-2", "3"), wrong_at(1, 9), of=of)
    assert outcome.signature.where == "any output"
    assert outcome.reason == "1 of 3 rows of out are wrong (value)"


@each("value, wrong, kind", [
    ("1.0", float("nan"), "nan_unexpected"), ("nan", 3.0, "nan_missing"), ("inf", 3.0, "inf"), ("1.0", 2.5, "value")])
def test_kinds_of_mismatch(value: str, wrong: float, kind: str):
    outcome = judge(case(value, "1.0", dtype="fp32"), wrong_at(0, wrong))
    assert outcome.signature.kind == kind


def test_the_sign_of_zero_counts_where_the_rule_says_so():
    assert judge(case("0.0", dtype="fp32"), wrong_at(0, -0.0), of=target(rule=BIT)).verdict is Verdict.DISAGREE
    assert judge(case("0.0", dtype="fp32"), wrong_at(0, 0.0), of=target(rule=BIT)).verdict is Verdict.AGREE


# -- memory

@each("dtype", ["i32", "u8", "fp32", "fp16", "fp8e5"])
def test_an_element_that_was_never_written(dtype: str):
    def kernel(launch: Launch, number: int) -> None:
        out, a = logical(launch, "out"), logical(launch, "a")
        out[:2].copy_((a[:2].float() * 2).to(a.dtype) if dtype == "fp8e5" else a[:2] * 2)

    of = target(oracles=("doubled_narrow_torch", "doubled_numpy")) if dtype == "fp8e5" else target()
    outcome = judge(case("1", "2", "3", dtype=dtype), kernel, of=of)
    assert shown(outcome) == ("unwritten", "out")
    assert outcome.failing_rows == (2,)


@each("dtype, value", [("fp32", "nan"), ("i8", "-85")])
def test_an_unwritten_element_whose_right_value_looks_like_poison(dtype: str, value: str):
    """The first launch shows nothing: poison is a NaN, and 0xAB + 0xAB wraps to 86, so -85 stands for the copy."""
    outcome = judge(case("1", value, dtype=dtype), of=target(oracles=("same_torch", "same_numpy")),
                    kernel=lambda launch, number: logical(launch, "out")[:1].copy_(logical(launch, "a")[:1]))
    assert shown(outcome) == ("unwritten", "out")
    assert outcome.reason == "1 elements of out were never written"
    assert outcome.launches == 2


def test_a_written_nan_is_not_taken_for_poison():
    outcome = judge(case("nan:0x400015", "nan", dtype="fp32"), of=target(oracles=("same_torch", "same_numpy")),
                    kernel=lambda launch, number: logical(launch, "out").copy_(logical(launch, "a")))
    assert outcome.verdict is Verdict.AGREE
    assert outcome.launches == 2, "the poison pattern among the results asks for a second launch"


@each("gap, offset", [(0, 0), (1, 3)])
@each("where", ["before", "behind"])
def test_a_write_outside_the_array(where: str, gap: int, offset: int):
    def trespass(launch: Launch, number: int) -> None:
        pointer = launch.pointer("out")
        inside = pointer.storage_offset()
        storage = torch.as_strided(pointer, (inside + pointer.numel(),), (1,), 0)
        storage[inside - 1 if where == "before" else inside + 2 * (1 + gap) + 1] = 7

    outcome = judge(case("1", "2", *("3" for _ in range(where == "before")), gap=gap, offset=offset), then(trespass))
    assert shown(outcome) == ("out_of_bounds", "out")
    assert outcome.reason == "1 elements outside array out were written"


def test_a_write_behind_an_input():
    outcome = judge(case("1", "2", "3"), then(lambda launch, number: launch.pointer("a")[3].fill_(1)))
    assert shown(outcome) == ("out_of_bounds", "a")


def test_an_overwritten_input_is_a_finding_although_the_output_is_right():
    outcome = judge(case("1", "2", "3"), then(lambda launch, number: logical(launch, "a")[1].add_(1)))
    assert shown(outcome) == ("input_overwritten", "a")


def test_guards_are_as_wide_as_the_tests_assume():
    assert GUARD == 256 and CPU.type == "cpu"


# -- what known issues explain

def unwritten_first(launch: Launch, number: int) -> None:
    """The first element is never written; the last one is another at every launch if `a` ends in 7."""
    values = logical(launch, "a") * 2
    if int(logical(launch, "a")[-1]) == 7:
        values[-1] = 14 if number == 0 else 15
    logical(launch, "out")[1:] = values[1:]


@pytest.fixture
def everything_wrong_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "explained_launch", lambda *_: (("missing-store",), ("lost-store",)))


@pytest.mark.usefixtures("everything_wrong_is_known")
def test_elements_that_a_known_issue_leaves_unwritten_are_no_second_finding():
    outcome = judge(case("1", "2", "3", repeats=2), unwritten_first)
    assert shown(outcome) == ("unwritten", "out")
    assert (outcome.explained_by, outcome.explained_too) == (("missing-store",), ("lost-store",))


@pytest.mark.usefixtures("everything_wrong_is_known")
def test_an_element_that_changes_beside_a_known_issue_is_new():
    outcome = judge(case("1", "2", "7", repeats=2), unwritten_first)
    assert shown(outcome) == ("nondeterministic", "out") and outcome.explained_by == ()


# -- repeats and options

def test_other_bits_on_a_repeat_are_nondeterminism():
    """+0.0 and -0.0 are one number, so only the repeat can tell."""
    kernel = filling(lambda number: -0.0 if number == 2 else 0.0)
    once = judge(case("0.0", "0.0", dtype="fp32", repeats=1), kernel)
    assert once.verdict is Verdict.AGREE
    outcome = judge(case("0.0", "0.0", dtype="fp32", repeats=2), kernel)
    assert shown(outcome) == ("nondeterministic", "out")
    assert outcome.reason == "the same launch gave other bits in 2 elements of out"
    assert (once.launches, outcome.launches) == (2, 3)


def test_an_accumulation_in_no_fixed_order_is_held_against_the_reference_every_time():
    """Two launches of atomic additions of floats need not agree with each other, but both with the oracle."""
    of = target(rule=NUM0)
    of = dataclasses.replace(of, judge=dataclasses.replace(of.judge, unordered=lambda one: ("out",)))
    twice = case("0.0", "0.0", dtype="fp32", repeats=2)
    assert judge(twice, filling(lambda number: -0.0 if number == 2 else 0.0), of=of).verdict is Verdict.AGREE
    outcome = judge(twice, filling(lambda number: 3.0 if number == 2 else 0.0), of=of)
    assert (*shown(outcome), outcome.launches) == ("value", "out", 3)


VARIANT = LaunchOptions(num_warps=8)


def under_variant(change: Callable[[Launch], object]) -> Kernel:
    """A kernel that is right but under VARIANT."""
    return then(lambda launch, number: change(launch) if launch.options == VARIANT else None)


def test_a_wrong_value_under_other_options_is_a_wrong_value():
    kernel = under_variant(lambda launch: logical(launch, "out")[0].fill_(77))
    assert judge(case("1", "2"), kernel).verdict is Verdict.AGREE
    outcome = judge(case("1", "2", variants=(VARIANT,)), kernel)
    assert shown(outcome) == ("value", "out")
    assert outcome.evidence is not None and outcome.evidence.launched == Launched(options=VARIANT)
    assert outcome.evidence.actual == {"out": ("77", "4")}


def test_the_first_launch_is_not_told_as_another_one():
    outcome = judge(case("1", "2", variants=(VARIANT,), repeats=1), wrong_at(0, 77))
    assert shown(outcome) == ("value", "out")
    assert outcome.evidence is not None and outcome.evidence.launched is None


def test_what_ends_a_launch_under_other_options_is_told_with_them():
    def ends(launch: Launch) -> None:
        raise ValueError("of these options")

    attempt = begun(case("1", variants=(VARIANT,)), under_variant(ends))
    with pytest.raises(ValueError, match="of these options") as raised:
        attempt.run()
    outcome = attempt.failed(classify(raised.value, "cuda"))
    assert outcome.verdict is Verdict.CRASH
    assert outcome.evidence is not None and outcome.evidence.launched == Launched(options=VARIANT)


def test_other_bits_under_other_options_are_option_dependence():
    # Values of either sign are within the tolerance; the options' bits are compared without one.
    outcome = judge(case("1.0", "2.0", dtype="fp32", variants=(VARIANT,)), of=target(rule=ABS(1000, origin="test")),
                    kernel=under_variant(lambda launch: logical(launch, "out").neg_()))
    assert shown(outcome) == ("option_dependent", "out")
    assert outcome.evidence.launched == Launched(options=VARIANT)
    assert outcome.reason.startswith("2 elements of out differ under LaunchOptions(num_warps=8")


@each("more", [{"variants": (VARIANT,)}, {"repeats": 1}], ids=["variant", "repeat"])
def test_a_second_launch_that_writes_outside_is_seen(more: dict[str, Any]):
    kernel = then(lambda launch, number: launch.pointer("out")[2].fill_(1) if number == 1 else None)
    assert shown(judge(case("1", "2", **more), kernel)) == ("out_of_bounds", "out")


def test_references_are_asked_once_about_all_launches_of_a_case(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    call = judging.call
    monkeypatch.setattr(judging, "call", lambda reference, *given: (
        asked.append(reference.source), call(reference, *given))[1])
    runner = FakeRunner(double)
    assert judge(case("1", "2", variants=(VARIANT, VARIANT)), runner=runner).verdict is Verdict.AGREE
    assert (runner.launches, asked) == (3, ["torch", "numpy"])


def test_variants_run_with_their_options():
    runner = FakeRunner(double)
    assert judge(case("1", variants=(VARIANT, LaunchOptions(num_stages=1)), repeats=1), runner=runner).verdict is (
        Verdict.AGREE)
    assert runner.options == [LaunchOptions(), LaunchOptions(), VARIANT, LaunchOptions(num_stages=1)]


@each("readback, reason", [
    ({"num_warps": 8}, "asked for num_warps=4, the compiled kernel has num_warps=8"),
    ({"num_warps": 4, "enable_fp_fusion": False},
     "asked for enable_fp_fusion=True, the compiled kernel has enable_fp_fusion=False"),
])
def test_options_that_were_not_used_are_not_checked(readback: dict[str, int | bool], reason: str):
    """Even a wrong result says nothing then."""
    outcome = judge(case("1"), wrong_at(0, 9), readback=readback)
    assert (outcome.verdict, outcome.reason, outcome.signature) == (Verdict.NOT_CHECKED, reason, None)
    right = judge(case("1"), double, readback=readback)
    assert right.verdict is Verdict.NOT_CHECKED
    assert judge(case("1"), double, readback={"num_warps": 4}).verdict is Verdict.AGREE


# -- oracles

def test_oracles_that_contradict_each_other_are_not_a_pass_and_not_a_finding():
    of = target(oracles=("doubled_torch", "tripled_numpy"))
    outcome = judge(case("0", "1", "2"), of=of)
    assert outcome.verdict is Verdict.NOT_CHECKED
    assert outcome.reason == "oracle_conflict: 2 rows of out on which the oracles contradict each other"
    assert outcome.signature is None
    assert (outcome.rows.agree, outcome.rows.conflict, outcome.rows.disagree) == (1, 2, 0)
    assert outcome.evidence.expected == {"torch": {"out": ("0", "2", "4")}, "numpy": {"out": ("0", "3", "6")}}


def test_a_result_that_both_contradicting_oracles_reject_is_no_agreement():
    of = target(oracles=("doubled_torch", "tripled_numpy"))
    assert judge(case("1"), wrong_at(0, 50), of=of).verdict is not Verdict.AGREE


def test_an_exact_oracle_settles_a_conflict():
    of = target(oracles=("doubled_torch", "tripled_numpy", "exact"))
    assert judge(case("0", "1", "2"), of=of).verdict is Verdict.AGREE
    assert judge(case("0", "1", "2"), wrong_at(1, 3), of=of).verdict is Verdict.DISAGREE


def test_undefined_rows_are_neither_right_nor_wrong():
    of = target(defined="positive")
    outcome = judge(case("1", "-1", "2"), wrong_at(1, 99), of=of)
    assert outcome.verdict is Verdict.AGREE
    assert (outcome.rows.agree, outcome.rows.undefined, outcome.rows.judged) == (2, 1, 2)
    assert judge(case("1", "-1", "2"), wrong_at(2, 99), of=of).verdict is Verdict.DISAGREE


def test_a_case_of_undefined_rows_only_is_not_checked():
    outcome = judge(case("1", "2"), of=target(defined="nowhere"))
    assert (outcome.verdict, outcome.reason) == (Verdict.NOT_CHECKED, "the contract leaves every row open")
    assert outcome.rows.judged == 0


def test_undefined_rows_may_differ_between_launches():
    kernel = then(lambda launch, number: logical(launch, "out")[1].fill_(number))
    one = case("1", "-1", "2", repeats=2, variants=(VARIANT,))
    assert judge(one, kernel, of=target(defined="positive")).verdict is Verdict.AGREE
    assert judge(one, kernel).verdict is Verdict.DISAGREE


def test_an_empty_batch_judges_nothing():
    outcome = judge(case())
    assert (outcome.verdict, outcome.rows.judged) == (Verdict.AGREE, 0)


def test_a_large_batch_is_judged_whole_by_torch_and_in_part_by_numpy():
    rows = 1 << 17
    one = case("1")
    one = replace(one, sizes={"rows": rows}, arrays=(
        replace(one.arrays[0], content=Content(base=Iota(step=0, per_row=1))), one.arrays[1]))
    fine = judge(one)
    assert (fine.verdict, fine.rows.agree, fine.rows.by_oracle["torch"]) == (Verdict.AGREE, rows, rows)
    assert 0 < fine.rows.by_oracle["numpy"] < rows
    # A single wrong row that the sample misses is found by torch and confirmed by numpy.
    outcome = judge(one, wrong_at(77_777, -1))
    assert (outcome.verdict, outcome.failing_rows) == (Verdict.DISAGREE, (77_777,))
    assert outcome.evidence.expected == {"torch": {"out": ("155554",)}, "numpy": {"out": ("155554",)}}
    assert (outcome.evidence.inputs, outcome.evidence.actual) == ({"a": ("77777",)}, {"out": ("-1",)})
    assert (outcome.evidence.whole, outcome.evidence.row) == (False, 77_777)
