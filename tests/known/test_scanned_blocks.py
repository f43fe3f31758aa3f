"""Scans of what block pointers load, which no value predicts: known where single pointers are right, and else new."""

import pytest

from tests.known.outcomes import outcome
from tests.known.test_issues import entry
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.graphs import options
from tridiff.fuzz.records import Outcome
from tridiff.kernels.codegen.graph import Graph


@pytest.mark.parametrize("also", [False, True])
def test_a_scan_of_a_block_is_known_where_it_is_right_with_single_pointers(also: bool):
    """also: whether it is wrong with single pointers as well."""
    case = entry("inductor.programs_scan/value-9054253878").case

    def machine(one: object) -> Outcome:
        program = one.program
        by_blocks = any(schedule.access == "block_pointers" for schedule in program.schedules)
        return outcome(one, failed=by_blocks or also, where="out5")

    assert Attribution(machine).issues(case, machine(case)) == (() if also else ("scan-registers-apart",))


def test_programs_without_a_scan_and_with_single_pointers_are_none_of_it():
    case = entry("inductor.programs_scan/value-9054253878").case
    assert options.scans_blocks(case) and isinstance(case.program, Graph)
    single = options.with_pointers(case)
    assert single is not None and not options.scans_blocks(single)
