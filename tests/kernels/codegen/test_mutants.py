"""Planted faults of the generator (contract: codegen.md §13)."""

from collections import Counter

import pytest

from tests.kernels.codegen.catalogue import PROGRAMS
from tridiff.kernels.codegen.launch import plan
from tridiff.kernels.codegen.mutants import FAULTS


def test_three_faults_for_every_feature():
    groups = Counter(mutant.group for mutant in FAULTS.values())
    assert set(groups) == {"printer", "types", "masks", "indexing", "reductions", "scans", "sort", "random", "stores",
                           "geometry", "hook"}
    assert min(groups.values()) >= 3, groups


def test_unknown_faults_are_refused_and_none_is_planted_by_default():
    program = PROGRAMS["pointwise"]()
    with pytest.raises(ValueError, match="unknown fault 'nonsense'"):
        plan(program.graph, program.graph.schedules[0], faults=("nonsense",))
    right = plan(program.graph, program.graph.schedules[0])
    wrong = plan(program.graph, program.graph.schedules[0], faults=("accuracy",))
    assert right.name != wrong.name and right.key != wrong.key, "a broken kernel must not share a cache entry"


def test_faults_leave_alone_what_they_do_not_concern():
    program = PROGRAMS["pointwise"]()
    schedule = program.graph.schedules[0]
    for fault in ("carry_on_right", "stability_dropped", "next_seed", "zero_default_for_max", "wrap_dropped"):
        assert plan(program.graph, schedule, faults=(fault,)).source == plan(program.graph, schedule).source
