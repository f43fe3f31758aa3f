"""Offsets of few bits stay within their type, whatever the mask: a load beside its array would be no defect."""

import pytest
import torch

from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Case
from tridiff.fuzz.statements.draft import literal, node, variable
from tridiff.kernels.language.call import Operand, Result
from tridiff.kernels.language.script import Script


@pytest.mark.parametrize("idiom, place", [("offset_narrow_high", 60 & 31), ("offset_lowest", 60)])
def test_a_masked_negative_offset_of_eight_bits_reads_from_the_array(idiom: str, place: int):
    line = node("idiom", variable("p1"), variable("x1"), literal(63), name=idiom)
    script = Script(
        operands=(Operand(dtype="i32", shape=(64,)), Operand(kind="scalar", dtype="i32")),
        body=(node("row_pointer", name="p1", operand=0), node("assign", line, name="v2")),
        stored=("v2",), results=(Result(dtype="i32"),))
    case = Case(target="language.pointers", sizes={"rows": 1, "n0": 64}, program=script, arrays=(
        "x0 i32[rows,n0] ~ iota", "x1 i32[rows] = -4", "out0 i32[rows]"))
    assert torch.equal(rehearse(case).outputs()["out0"], torch.tensor([place], dtype=torch.int32))
