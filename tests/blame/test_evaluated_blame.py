"""Blame of a planted fault of the compiler, on a machine without a GPU: in values, at the pass where it was planted."""

from tests.support.cases import addition
from tridiff.fuzz.blame.localise import blame


def test_a_planted_fault_of_a_pass_is_blamed_on_that_pass_in_values():
    found = blame(addition(rows=10, block=4), "own", "evaluated:sm_90",
                  plant="make_ttgir add_coalesce: slt, => sle,", seconds=120)
    assert (found.stage, found.step, found.confidence) == ("ttgir", "make_ttgir add_coalesce", "seen")
    assert "right behind make_ttgir add_convert_to_ttgpuir and wrong behind make_ttgir add_coalesce" in (
        found.evidence[0])
    assert "interpreter repaired" in found.gone
