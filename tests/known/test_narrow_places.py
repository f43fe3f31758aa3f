"""Places that torch.compile finds in long rows of narrow integers: what is known of them, and what is new."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.outcomes import compiled
from tests.unit.graphs.graphs import X, at, cast, constant, load, matrix, op, store
from tridiff.fuzz.known.rehearse import Rehearsal, rehearse
from tridiff.fuzz.records import Case, Content, Iota
from tridiff.kernels.codegen.graph import Node, Reduce

each = pytest.mark.parametrize
KNOWN = ("positions-in-another-type",)


def _case(dtype: str, length: int, *behind: Node, out: str = "i64", kind: str = "argmax") -> Case:
    nodes = (load("in0", at(length)), Reduce(kind=kind, args=(0,)), *behind)
    case = compiled(matrix(*nodes, store("out0", X, len(nodes) - 1), rows=1, columns=length, in0=(dtype, length),
                           out0=(out, 1)), "reduction")
    step = 1 if kind == "argmax" else -1
    start = (127 if dtype == "i8" else 255) - length + 1 if kind == "argmax" else length - 129
    rising = Content(base=Iota(start=start, step=step))
    return replace(case, arrays=tuple(replace(one, content=rising if one.name == "in0" else None)
                                      for one in case.arrays))


def _said(rehearsal: Rehearsal, value: float) -> tuple[str, ...]:
    out = rehearsal.outputs()["out0"]
    return rehearsal.judged({"out0": torch.full_like(out, value)}, subject="inductor")[1]


@each("kind", ["argmax", "argmin"])
@each("behind, factor", [((), 1), ((constant("2", "i64"), op("left_shift", 1, 2)), 4)])
def test_the_place_modulo_the_searched_type_is_known_and_another_place_is_new(
        kind: str, behind: tuple[Node, ...], factor: int):
    rehearsal = rehearse(_case("i8", 150, *behind, kind=kind))
    assert rehearsal.outputs()["out0"].item() == 149 * factor
    assert _said(rehearsal, (149 - 256) * factor) == KNOWN
    for other in (148, 0, 149 - 255, 149 + 256, -128):
        assert _said(rehearsal, other * factor) == (), other


@each("dtype, length", [("i8", 128), ("u8", 150), ("i16", 150)])
def test_a_type_that_holds_every_place_has_no_such_defect(dtype: str, length: int):
    rehearsal = rehearse(_case(dtype, length))
    assert _said(rehearsal, rehearsal.outputs()["out0"].item() - 256) == ()


def test_what_comes_of_the_place_as_a_float_is_known_too():
    rehearsal = rehearse(_case("i8", 150, cast(1, "fp32"), out="fp32"))
    assert _said(rehearsal, -107.0) == KNOWN and _said(rehearsal, -106.0) == ()
