"""Kinds of programs: a target takes programs of its own kind only, and judges what its kind says."""

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.draws import draws
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import all_targets
from tridiff.fuzz.target import Limits, Target

each = pytest.mark.parametrize
ONE_OF_EACH = ("codegen.sort", "gluon.fp4", "async.copy_ring", "loops.num_stages", "ttgir.text", "tma.boxes")
OF_A_KIND = ("wgmma.chain", "inductor.programs_pointwise", "gluon.view_chain", "descriptors.boxes", "ttgir.cluster",
             "cluster.exchange", *ONE_OF_EACH)


def drawn(target: Target, count: int = 4) -> list[Case]:
    return draws(target.draw.cases(Limits(elements=1 << 10, rows=8)), count, seed=8)


@each("name", OF_A_KIND)
def test_programs_of_another_kind_are_no_cases(name: str):
    target = all_targets()[name]
    (case,) = drawn(target)[:1]
    assert target.draw.valid(case) and not target.draw.valid(replace(case, program=msgspec.UNSET))
    for other in ONE_OF_EACH:
        (stranger,) = drawn(all_targets()[other])[:1]
        if other.partition(".")[0] != name.partition(".")[0] and type(stranger.program) is not type(case.program):
            assert not target.draw.valid(replace(case, program=stranger.program)), other
            assert not target.draw.valid(replace(stranger, target=name)), other


@each("name", OF_A_KIND)
def test_every_output_has_two_references_and_a_bound_where_its_rule_asks_for_one(name: str):
    target = all_targets()[name]
    for case in drawn(target, 12):
        rules = target.judge.rules(case)
        assert {one.source for one in target.judge.oracles(case)} == {"numpy", "torch"}
        assert all(set(one.outputs) == rules.keys() for one in target.judge.oracles(case))
        bounded = {output for one in target.judge.bounds(case) for output in one.outputs}
        assert bounded == {output for output, rule in rules.items() if rule.kind == "SUM"}
