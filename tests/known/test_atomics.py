"""Atomic operations on one element that a thread holds twice: what they leave, and what is something else beside it."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.test_issues import entry
from tests.support.cases import calling
from tridiff.fuzz.known.atomics import ISSUES
from tridiff.fuzz.known.rehearse import Rehearsal, rehearse
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Bits, Case, Content, Small
from tridiff.fuzz.registry import find
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.bits import to_bits

each = pytest.mark.parametrize

KNOWN, BUFFERS, OF_FP64 = (next(one for one in ISSUES if one.name.startswith(name)) for name in (
    "atomics-for-each", "exchanges-by-buffers", "exchanges-of-fp64"))


def _case(row: str, name: str, operands: int = 2, layout: int = 4, extent: int = 1) -> Case:
    shape = (extent,)
    given = tuple(Operand(dtype="i1" if k == 2 else name, shape=shape) for k in range(operands))
    call = Call(row=row, operands=given, options={"layout": layout, "way": "function"}, stored=(name, name))
    contents = {f"x{k}": Content(base=Small(seed=k + 1, low=1, high=9) if k < 2 else Bits(seed=3))
                for k in range(operands)}
    return calling(call, contents, programs=64)


def _twice(rehearsal: Rehearsal, add: bool = True) -> dict[str, torch.Tensor]:
    """The outputs of two additions, or of two exclusive ors, where they are asked for."""
    right = rehearsal.outputs()
    value = right["out1"] - right["out0"]
    return {"out0": right["out1"], "out1": right["out1"] + value if add else right["out0"]}


@each("name, operands", [("i32", 2), ("i64", 2), ("fp32", 2), ("fp16", 2), ("i32", 3)])
def test_two_additions_are_the_known_issue_and_a_wrong_sum_beside_them_is_new(name: str, operands: int):
    rehearsal = rehearse(_case("gl.atomic_add", name, operands))
    outputs = _twice(rehearsal)
    assert rehearsal.judged(outputs)[1] == (KNOWN.name,)
    outputs["out1"][5] += 1
    assert rehearsal.judged(outputs)[1] == ()


def test_two_exclusive_ors_leave_what_was_there():
    rehearsal = rehearse(_case("gl.atomic_xor", "i32"))
    assert rehearsal.judged(_twice(rehearsal, add=False))[1] == (KNOWN.name,)


@each("operands", [2, 3])
@each("name", ["u32", "u64"])
@each("op", ["add", "and", "or", "xor", "max", "min", "xchg"])
def test_two_operations_on_unsigned_numbers_are_the_known_issue_and_a_wrong_number_beside_them_is_new(
        op: str, name: str, operands: int, monkeypatch: pytest.MonkeyPatch):
    """torch 2.11 selects no unsigned numbers of more than 8 bits, and computes little with them in any release."""
    where = torch.where

    def of_2_11(condition: torch.Tensor, *others: torch.Tensor | float) -> torch.Tensor:
        if any(isinstance(one, torch.Tensor) and one.dtype in (torch.uint16, torch.uint32, torch.uint64)
               for one in others):
            raise NotImplementedError
        return where(condition, *others)

    monkeypatch.setattr(torch, "where", of_2_11)
    rehearsal = rehearse(_case(f"gl.atomic_{op}", name, operands))
    right = rehearsal.outputs()
    before, after = (to_bits(right[one]) for one in ("out0", "out1"))
    again = {"add": 2 * after - before, "xor": before}.get(op, after)
    outputs = {"out0": right["out1"], "out1": again.view(right["out1"].dtype)}
    assert rehearsal.judged(outputs)[1] == (KNOWN.name,)
    to_bits(outputs["out1"])[5] ^= 64
    assert rehearsal.judged(outputs)[1] == ()


def test_one_wrong_row_among_right_ones_is_new():
    rehearsal = rehearse(_case("gl.atomic_add", "i32"))
    right, outputs = rehearsal.outputs(), _twice(rehearsal)
    one = {name: torch.cat([outputs[name][:1], right[name][1:]]) for name in right}
    assert rehearsal.judged(one)[1] == ()


def test_layouts_of_one_element_a_thread_and_blocks_of_two_are_not_known():
    case = entry(KNOWN.entries[0]).case
    assert KNOWN.match(case) and not any(KNOWN.match(one) for one in (
        _case("gl.atomic_add", "i32", layout=3), _case("gl.atomic_add", "i32", extent=2),
        replace(case, program=replace(cases.call_of(case), row="tl.atomic_cas"))))
    assert KNOWN.instead is not None
    instead = KNOWN.instead(case)
    assert instead is not None and find(case.target).draw.valid(instead) and not KNOWN.match(instead)


def test_exchanges_are_known_for_amd_by_what_they_end_in_and_the_control_is_the_addition():
    for known, other in ((BUFFERS, "SIGABRT"), (OF_FP64, "SIGSEGV")):
        found = entry(known.entries[0])
        assert known.match(found.case) and known.tells(found.signature) and known.relative is not None
        assert not known.tells(replace(found.signature, kind=other)) and not known.shows_on("cuda")
        relative = known.relative(found.case)
        assert relative is not None and find(relative.target).draw.valid(relative)
        assert cases.call_of(relative).row == "tl.atomic_add"
    assert not OF_FP64.match(entry(BUFFERS.entries[0]).case)
