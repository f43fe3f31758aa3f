"""Cases of the pipeline targets, drawn without shrinking or a database; and those in which a fault shows."""

from tests.support.draws import draws
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Limits, Target
from tridiff.fuzz.targets.pipelines_async import TARGETS as PLANS
from tridiff.fuzz.targets.pipelines_loops import TARGETS as LOOPS
from tridiff.fuzz.targets.pipelines_text import TARGETS as TEXTS
from tridiff.fuzz.targets.pipelines_transfers import TARGETS as TRANSFERS
from tridiff.kernels.pipelines.build import build
from tridiff.kernels.pipelines.faults import FAULTS, NotApplicable
from tridiff.kernels.pipelines.model import expected, schedules, simulate
from tridiff.kernels.pipelines.steps import Kernel

SILENT = frozenset({"register_request_ignored", "predicate_dropped"})
"""Faults of what the model leaves out: registers, and which elements of a tile exist."""
ALL: tuple[Target, ...] = (*PLANS, *LOOPS, *TEXTS, *TRANSFERS)


def drawn(target: Target, count: int, *, number: int = 1, elements: int = 1 << 10, rows: int = 8) -> list[Case]:
    """`count` cases of a target; the same ones for the same number."""
    return draws(target.draw.cases(Limits(elements=elements, rows=rows)), count, seed=number)


def places(target: Target, fault: str, *, count: int, number: int = 31) -> list[Case]:
    """Up to `count` of 160 drawn cases in which `fault` has a place and can be seen, most visible ones first.

    What can be seen is what the model of schedules says, under how many of them; of two alike, the kernel that
    compiles sooner comes first.
    """
    ranked = []
    for position, case in enumerate(drawn(target, 160, number=number, elements=1 << 13, rows=132)):
        plan = case.program
        try:
            broken = FAULTS[fault](build(plan))
        except NotApplicable:
            continue
        seen = 1.0 if fault in SILENT else _visibility(broken)
        if seen:
            cost = len(plan.workers), plan.loop == "static", len(plan.ops) + plan.tiles
            ranked.append((-round(seen, 1), cost, position, case))
    return [case for *_, case in sorted(ranked, key=lambda one: one[:3])[:count]]


def _visibility(kernel: Kernel) -> float:
    """The share of schedules under which a kernel does not give what its plan expects."""
    wanted = expected(kernel.plan)
    results = [simulate(kernel, schedule) for schedule in schedules(seeds=1)]
    return sum(one.outcome != "finished" or one.outputs != wanted for one in results) / len(results)
