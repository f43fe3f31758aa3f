"""The IR behind every pass of a compilation: right ones stay right, and a fault is seen where it was planted."""

import pytest

from tests.support.cases import addition, division
from tests.support.repository import ENTRIES
from tridiff.fuzz.blame.planted import edits_of, plant
from tridiff.fuzz.blame.points import Evaluation
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, Verdict

each = pytest.mark.parametrize
RIGHT = (
    "codegen.pointwise/value-580f48d91e", "codegen.random/value-e9cf99de9c", "codegen.scan/value-a9b5c5566c",
    "gluon.reduce_scan_layouts/value-b42e750096", "helpers.max2/value-1ba7511be9", "language.scans/value-018e4479a3",
    "language.gluon/value-c83ff3a43a", "language.conversions/nan-missing-ac60e5b7be",
    "language.memory/command----path-----line-be5ae97611", "helpers.welford_combine/value-17ebe270f3",
)
"""Cases that fail on a device or on the interpreter because of what is below TTGIR or beside it."""


@each("name", RIGHT)
def test_every_pass_of_a_right_compilation_is_right(name: str):
    found = Evaluation("sm_90").values(ENTRIES.find(name).case, "own", seconds=60)
    assert found[0].behind is None and found[-1].behind is not None
    assert found[-1].behind.stage in ("make_ttgir", "gluon_to_ttgir"), "up to the last IR that is evaluated"
    assert [(one.problem, one.outcome and one.outcome.verdict) for one in found] == [("", Verdict.AGREE)] * len(found)


ADDITION, DIVISION = addition(rows=10, block=4), division((-7, 9), (2, -4), target="triton.floordiv")
SWAPPED = r"arith.divsi (%\w+), (%\w+) : => arith.divsi \2, \1 :"


@each("case, fault, step", [
    (ADDITION, r"front-end: (tt.store %\w+, %\w+), %\w+ : => \1 :", ""),
    (ADDITION, r"front-end: slt, => sle,", ""),
    (ADDITION, r"make_ttir add_combine: arith.addi (%\w+), (%\w+) : => arith.subi \1, \2 : @1",
     "make_ttir add_combine"),
    (ADDITION, "make_ttir add_cse: cmpi slt, => cmpi sle,", "make_ttir add_cse"),
    (ADDITION, r"make_ttgir add_coalesce: (tt.store %\w+, %\w+), %\w+ : => \1 :", "make_ttgir add_coalesce"),
    (ADDITION, "make_ttgir add_remove_layout_conversions: cmpi slt, => cmpi sgt,",
     "make_ttgir add_remove_layout_conversions"),
    (DIVISION, f"front-end: {SWAPPED}", ""),
    (DIVISION, f"make_ttir add_canonicalizer: {SWAPPED}", "make_ttir add_canonicalizer"),
    (DIVISION, f"make_ttgir add_coalesce: {SWAPPED}", "make_ttgir add_coalesce"),
])
def test_a_planted_fault_is_seen_behind_its_pass(case: Case, fault: str, step: str):
    found = Evaluation("sm_90", **edits_of(fault)).values(case, "own", seconds=60)
    *before, last = found
    assert last.outcome is not None
    assert last.outcome.verdict is Verdict.DISAGREE
    assert (last.behind.title if last.behind else "") == step
    assert all(one.outcome is not None and one.outcome.verdict is Verdict.AGREE for one in before)


def test_a_fault_is_read_and_misspelt_ones_are_refused():
    one = plant(r"stage ptx: add\.f32 => sub.f32 @2")
    assert (one.step, one.pattern, one.put, one.number) == ("stage ptx", r"add\.f32", "sub.f32", 2)
    assert one("add.f32 add.f32 add.f32") == "add.f32 add.f32 sub.f32"
    assert one("add.f32") == "add.f32"
    assert plant(one.written) == one
    for wrong in ("no fault", "front-end: ( => x"):
        with pytest.raises(TridiffError):
            plant(wrong)
