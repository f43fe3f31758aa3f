"""The model of barriers and groups: correct plans make progress and give the right tiles under every schedule, and
every fault can be seen under some."""

import itertools

import pytest

from tests.unit.plans.drawing import SILENT, drawn
from tridiff.fuzz.kinds.plans.targets import FAULTS as NAMED
from tridiff.fuzz.target import Target
from tridiff.fuzz.targets.pipelines_async import TARGETS
from tridiff.kernels.pipelines.build import build
from tridiff.kernels.pipelines.faults import FAULTS, NotApplicable
from tridiff.kernels.pipelines.legal import problem
from tridiff.kernels.pipelines.model import Schedule, expected, schedules, simulate, verdicts
from tridiff.kernels.pipelines.plan import Dot, Op, Plan, Source, Store, TmaStore, Worker

each = pytest.mark.parametrize
_TMA = Source(copy="tma", swizzle=128)
PLANS = {
    "groups": Plan(tiles=5, ring=3, ahead=2, cut=5, ops=(Op(kind="add"), Op(kind="stage"))),
    "tma": Plan(tiles=5, ring=3, ahead=2, sources=(_TMA,), sink=TmaStore(buffers=2, pending=1)),
    "tma, first refill": Plan(tiles=7, ring=3, ahead=2, refill="first", sources=(_TMA,), sink=Store()),
    "dot": Plan(dtype="fp16", rows=64, columns=64, tiles=5, ring=3, ahead=2, sources=(
        _TMA, Source(copy="cp_async", tensor_core=True, swizzle=128)), sink=Dot(n=64, depth=1)),
    "partitions": Plan(tiles=5, ring=3, ahead=2, sources=(_TMA, Source()), ops=(Op(kind="second_add"),),
                       workers=(Worker(role="load"), Worker(role="store"), Worker(role="side", warps=2)),
                       sink=TmaStore(buffers=3, pending=1)),
    "two readers": Plan(tiles=5, ring=2, ahead=0, cut=5, sources=(Source(copy="cp_arrive"),),
                        workers=(Worker(role="load"), Worker(role="compute_second"))),
}

@each("name", PLANS)
def test_the_plans_of_this_file_are_legal_and_right_under_every_schedule(name: str):
    assert problem(PLANS[name]) == ""
    assert verdicts(build(PLANS[name])) == {"right"}


@each("target", TARGETS, ids=lambda target: target.name)
def test_drawn_plans_are_right_under_every_schedule(target: Target):
    for case in drawn(target, 40, number=5):
        assert verdicts(build(case.program), seeds=2) == {"right"}, case.program


@each("fault", sorted(set(FAULTS) - SILENT))
def test_every_fault_shows_under_some_schedule(fault: str):
    planted = 0
    for name, plan in PLANS.items():
        try:
            broken = FAULTS[fault](build(plan))
        except NotApplicable:
            continue
        planted += 1
        assert verdicts(broken) != {"right"}, (fault, name)
    assert planted


def test_each_target_offers_only_faults_that_exist_and_all_are_offered():
    assert set(NAMED) == set(FAULTS)
    for target in TARGETS:
        assert set(target.faults.planted) <= set(FAULTS)


def shows(fault: str, plan: Plan) -> bool:
    """Whether a fault has a place in a plan and can be seen there: some schedule gives other outputs or no end. What
    the model leaves out is taken to show wherever it has a place."""
    try:
        broken = FAULTS[fault](build(plan))
    except NotApplicable:
        return False
    wanted = expected(plan)
    results = (simulate(broken, schedule) for schedule in schedules(seeds=1))
    return fault in SILENT or any(one.outcome != "finished" or one.outputs != wanted for one in results)


@each("target", TARGETS, ids=lambda target: target.name)
def test_every_fault_of_a_target_shows_in_some_of_its_plans(target: Target):
    """In three of the drawn ones at least, each under the first schedule that tells it from a right kernel."""
    plans = [case.program for case in drawn(target, 160, number=31, elements=1 << 13, rows=132)]
    for fault in target.faults.planted:
        shown = (plan for plan in plans if shows(fault, plan))
        assert len(list(itertools.islice(shown, 3))) == 3, fault


def test_a_reader_fences_its_loads_before_another_partition_lets_tma_fill_the_slot_again():
    # Without the fence, launches on an H200 differed where the loads had many bank conflicts.
    for release in ("early", "late"):
        kernel = build(Plan(tiles=3, sources=(_TMA,), ahead=0, release=release, workers=(Worker(role="load"),)))
        assert verdicts(kernel) == {"right"}
        assert "protocol" in verdicts(FAULTS["missing_proxy_fence"](kernel))


def test_a_loader_that_holds_every_slot_waits_for_a_reader_that_holds_them_too():
    # Found by the model: one group and one multiplication under way, and only two slots.
    plan = Plan(dtype="fp16", rows=64, columns=64, tiles=5, ring=2, ahead=1, workers=(Worker(role="load"),), sources=(
        _TMA, Source(copy="cp_async", tensor_core=True, swizzle=128)), sink=Dot(n=64, depth=1))
    assert "wait for the other" in problem(plan)
    assert simulate(build(plan), Schedule()).outcome == "deadlock"


def test_a_tile_ahead_too_many_overwrites_what_is_still_read():
    plan = Plan(tiles=5, ring=2, ahead=2, refill="first", sources=(_TMA,))
    assert "still in use" in problem(plan)
    assert "right" not in verdicts(build(plan))
