"""How planted faults of stages are enumerated and counted, and that a few of them are blamed on their pass."""

import pytest

from tridiff.fuzz.bench.stage_faults import (
    ARCH,
    DRAWS,
    LIMITS,
    Planted,
    evaluated,
    faults,
    figures,
    planted_at,
    refused,
)
from tridiff.fuzz.blame.planted import Plant, edits_of, plant
from tridiff.fuzz.blame.points import Evaluation
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case


def one(*, said_stage: str = "ttir", said_step: str = "make_ttir add_cse", seconds: float = 1.0) -> Planted:
    return Planted(target="t", fault="f", stage="ttir", step="make_ttir add_cse", said_stage=said_stage,
                   said_step=said_step, confidence="seen", seconds=seconds)


def test_shares_of_stages_and_passes():
    found = figures([one(), one(said_step="make_ttir add_combine", seconds=3.0), one(said_stage="ttgir", seconds=2.0),
                     one(seconds=9.0)])
    assert found == {"faults": 4, "right_stage": 0.75, "right_pass": 0.5, "median_seconds": 2.5}


def test_a_fault_needs_a_place_in_the_text():
    text = "%1 = arith.addi %a, %b : i32\n%2 = arith.addi %1, %c : i32"
    found = list(faults({"front-end": text, "make_ttir add_cse": ""}, device=False))
    assert [(each.step, each.number) for each in found] == [("front-end", 0), ("front-end", 1)]
    assert found[1](text).splitlines()[1] == "%2 = arith.subi %1, %c : i32"
    assert all(plant(each.written) == each for each in found)


def test_text_behind_the_lowering_is_llvms():
    assert planted_at(Plant("stage ptx", "a", "b")) == ("llvm", "")
    assert planted_at(Plant("make_ttgir add_coalesce", "a", "b")) == ("ttgir", "make_ttgir add_coalesce")


def test_text_that_is_refused_is_blamed_on_what_wrote_it():
    found = next(filter(None, refused("llir", 90.0, 1)))
    assert (found.said_stage, found.confidence) == ("llvm", "seen") and found.right_step


def test_all_of_blame_finds_a_fault_behind_a_pass_as_its_values_do():
    of_passes = (one for one in evaluated("triton.floordiv", 1, 90.0) if one is not None and one.step)
    assert next(of_passes).right_step


def test_faults_of_a_division_are_found_where_they_were_planted():
    found = []
    for number, fault in enumerate(evaluated("triton.floordiv", 1)):
        if fault is not None:
            found.append(fault)
        if len(found) == 3 or number > 40:
            break
    assert len(found) == 3
    assert all(fault.right_step and fault.confidence == "seen" for fault in found)


@pytest.mark.parametrize("target, fault, operation", [
    ("triton.negate", r"make_ttir add_cse: (arith\.subi) (\S+), (\S+) => \1 \3, \2 @0", "arith.subi > arith.subi"),
    ("triton.floordiv", r"make_ttgir add_coalesce: arith\.addi => arith.subi @0", "arith.addi > arith.subi"),
    ("triton.vector_add", r"make_ttgir add_sccp: cmpi slt, => cmpi sle, @0", "arith.cmpi slt > arith.cmpi sle"),
    ("helpers.maximum", r"make_ttir add_inliner: (tt\.store \S+ \S+), \S+ : => \1 : @0", "> tt.store")])
def test_the_operation_at_which_the_ir_departs_is_named(target: str, fault: str, operation: str):
    """Also where the pass makes a maximum of a comparison and a choice, as the inliner does. Cases that fail without
    the fault do not count: 3.6.0 negates a float by subtracting it from zero, which is wrong before any pass."""
    def failing(case: Case, **edits: object) -> str | None:
        """The operation that is named for a failure; None where the case does not fail."""
        values = Evaluation(ARCH, **edits).values(case, "own", seconds=60)
        failed = values and values[-1].outcome is not None and values[-1].outcome.verdict.failed
        return values[-1].operation if failed else None

    found = set()
    for case in draw_cases(target, LIMITS, DRAWS, seed=1):
        named = failing(case, **edits_of(fault))
        if named == operation or (named is not None and failing(case) is None):
            found.add(named)
    assert found == {operation}
