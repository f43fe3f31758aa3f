"""Plans shrink by steps that keep them legal, to a plan that nothing simplifies further."""

import pytest

from tests.unit.plans.drawing import drawn
from tridiff.fuzz.records import Case
from tridiff.fuzz.shrink.order import simplicity
from tridiff.fuzz.target import Target
from tridiff.fuzz.targets.pipelines_async import TARGETS
from tridiff.kernels.pipelines.plan import Dot


def _smallest(case: Case, target: Target, keeps: object) -> Case:
    """Greedily the first step that keeps the property, over and over."""
    for _ in range(500):
        step = next((one for one in target.shrink.steps(case) if keeps(one)), None)
        if step is None:
            return case
        case = step
    raise AssertionError("the steps go in circles")


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_step_is_valid_and_smaller(target: Target):
    for case in drawn(target, 15, number=3):
        for step in target.shrink.steps(case):
            assert simplicity(step, target) < simplicity(case, target)
            assert target.draw.valid(step), (case.program, step.program)


def test_whatever_fails_shrinks_to_one_tile_in_one_partition():
    for target in TARGETS:
        for case in drawn(target, 6, number=4):
            plan = _smallest(case, target, target.draw.valid).program
            assert not plan.workers and not plan.ops and plan.tiles <= 1 and plan.ring == 1, plan
            assert not plan.cut and not plan.before
            assert plan.rows == (64 if isinstance(plan.sink, Dot) else 1)


def test_what_needs_partitions_keeps_the_fewest():
    target = next(t for t in TARGETS if t.name == "warp_specialize.ring")
    for case in drawn(target, 10, number=5):
        def needs(one: Case) -> bool:
            return target.draw.valid(one) and bool(one.program.workers)

        plan = _smallest(case, target, needs).program
        assert len(plan.workers) == 1 and plan.tiles <= 1
