"""Python numbers beside tensors of floats: what they are where they count as tensors of fp32, and what is something
else."""

import pytest
import torch
from msgspec.structs import replace

from tests.support.cases import calling
from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.numbers import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.registry import find
from tridiff.kernels.language.call import Call, Operand

each = pytest.mark.parametrize

KNOWN, FILLING = ISSUES


def _case(row: str, name: str, number: str, values: tuple[str, ...], first: bool = False) -> Case:
    block = Operand(dtype=name, shape=(len(values),))
    beside = Operand(kind="constexpr", dtype="fp32", number=number)
    call = Call(row=row, operands=(beside, block) if first else (block, beside),
                stored=("i1" if "operator" in row else name,))
    return calling(call, {f"x{int(first)}": values})


@each("first", [False, True])
@each("name", ["fp16", "bf16"])
def test_a_number_that_is_its_own_rounding_is_known_in_comparisons_and_the_opposite_answer_is_new(
        name: str, first: bool):
    """0.1 is no number of 16 bits: up to 3.8.0 no tensor equals it."""
    rehearsal = rehearse(_case("operator.eq", name, "0.1", ("0.1", "0.5", "0.25"), first))
    assert rehearsal.outputs()["out0"].flatten().tolist() == [True, False, False]
    assert rehearsal.judged({"out0": torch.tensor([[False, False, False]])})[1] == (KNOWN.name,)
    assert rehearsal.judged({"out0": torch.tensor([[False, True, False]])})[1] == ()


@each("live, name", [
    ("small-constants-of-bf16-are-zero", "small-constants-of-bf16-are-zero"), (KNOWN.name, KNOWN.name),
    ("", KNOWN.name)])
def test_a_small_number_that_equals_no_bf16_is_a_constant_of_zero_where_numbers_are_no_tensors(
        live: str, name: str):
    """In 3.9.0 the number is of bf16, and 0 of it; before, it was of fp32: nothing equals either."""
    case = _case("operator.eq", "bf16", "1.0e-10", ("1.0e-10", "0.5"))
    names = rehearse(case).judged({"out0": torch.tensor([[False, False]])})[1]
    assert names == (KNOWN.name,)
    signature = wrong_in(case, "out0")
    failed = outcome_of(case, Verdict.DISAGREE, signature, backend="cuda", explained_by=names)
    right = replace(failed, verdict=Verdict.AGREE, signature=None, explained_by=())
    assert Attribution(lambda one: right, shows=live.__eq__).issues(case, failed) == (name,)
    wrong = replace(failed, explained_by=())
    assert Attribution(lambda one: wrong, shows=live.__eq__).issues(case, failed) == (KNOWN.name,)


@each("row", ["tl.minimum", "tl.maximum"])
def test_extrema_of_fp64_give_the_number_in_fp32_and_another_number_is_new(row: str):
    values = ("1.0", "-1.0", "nan", "0.1")
    rehearsal = rehearse(_case(row, "fp64", "0.1", values))
    right, of_fp32 = rehearsal.outputs()["out0"], float(torch.tensor(0.1))
    least = row == "tl.minimum"
    wrong = torch.tensor([[of_fp32 if least else 1.0, -1.0 if least else of_fp32, of_fp32, 0.1 if least else of_fp32]],
                         dtype=torch.float64)
    assert not torch.equal(wrong, right)
    assert rehearsal.judged({"out0": wrong})[1] == (KNOWN.name,)
    wrong[0, 2] += 1e-9
    assert rehearsal.judged({"out0": wrong})[1] == ()


def test_numbers_that_all_types_hold_and_sums_are_not_known():
    case = _case("operator.lt", "fp16", "0.1", ("0.1",))
    assert KNOWN.match(case) and not any(KNOWN.match(one) for one in (
        _case("operator.lt", "fp16", "0.5", ("0.1",)), _case("operator.lt", "fp32", "0.1", ("0.1",)),
        _case("tl.minimum", "fp16", "0.1", ("0.1",)), _case("operator.lt", "fp16", 'float("inf")', ("0.1",)),
        replace(case, program=replace(cases.call_of(case), row="operator.add"))))
    assert KNOWN.instead is not None
    instead = KNOWN.instead(case)
    assert instead is not None and find(instead.target).draw.valid(instead) and not KNOWN.match(instead)


@each("row, number, lanes", [
    ("tl.load", "1.0e-10", ""), ("pointer.cast", "0.1", "2"), ("tl.atomic_add", "0.1", "")])
def test_what_fills_a_load_or_changes_memory_is_the_number_in_fp32_and_another_one_is_new(
        row: str, number: str, lanes: str):
    block, mask = Operand(dtype="fp64", shape=(2,)), Operand(dtype="i1", shape=(2,))
    beside = Operand(kind="number", dtype="fp32", number=number)
    atomic = "atomic" in row
    call = Call(row=row, operands=(block, beside, mask) if atomic else (block, mask, beside),
                stored=("fp64",) * (1 + atomic), options={"lanes": lanes} if lanes else {})
    case = calling(call, {"x0": ("1.5", "2.5"), f"x{1 + atomic}": ("1", "1") if atomic else ("1", "0")})
    assert find(case.target).draw.valid(case) and FILLING.match(case) and not KNOWN.match(case)
    rehearsal = rehearse(case)
    name = f"out{int(atomic)}"
    right = rehearsal.outputs()[name]
    wrong = right.clone()
    rounded = float(torch.tensor(float(number), dtype=torch.float32))
    wrong[0, 1] += rounded - float(number)
    others = {key: one for key, one in rehearsal.outputs().items() if key != name}
    assert not torch.equal(wrong, right)
    assert rehearsal.judged(others | {name: wrong})[1] == (FILLING.name,)
    wrong[0, 0] += 1e-9
    assert rehearsal.judged(others | {name: wrong})[1] == ()
    assert FILLING.instead is not None
    instead = FILLING.instead(case)
    assert instead is not None and find(case.target).draw.valid(instead) and not FILLING.match(instead)
    assert not FILLING.match(replace(case, program=replace(call, stored=("fp32",))))


def _added(number: str, name: str = "fp64") -> Case:
    call = Call(row="tl.atomic_add", operands=(Operand(dtype=name, shape=(1,)),
                                               Operand(kind="number", dtype="fp32", number=number)),
                options={"way": "function"}, stored=(name, name))
    return calling(call, {"x0": ("0.0",)})


def test_only_numbers_that_fp32_cannot_hold_are_rounded_on_their_way_to_memory():
    known = FILLING
    assert [known.match(_added(one)) for one in ("0.1", "1.0e-10", "0.5", 'float("nan")')] == [True, True, False, False]
    assert not known.match(_added("0.1", "fp32")) and known.instead is not None
    relative = known.instead(_added("0.1"))
    assert relative is not None and find(relative.target).draw.valid(relative) and not known.match(relative)
