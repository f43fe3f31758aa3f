"""What the targets of pipelined kernels have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from tridiff.fuzz.kinds.kind import ProgramKind, answers_of, target_of
from tridiff.fuzz.kinds.plans import cases
from tridiff.fuzz.kinds.plans.coverage import cells
from tridiff.fuzz.kinds.plans.draw import Family, pipeline_cases
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.target import Faults, Target
from tridiff.fuzz.versions import offers
from tridiff.kernels.pipelines.plan import Dot, Plan, TmaStore
from tridiff.kernels.pipelines.steps import DotWait, Fence, Step, StoreWait

if TYPE_CHECKING:
    from tridiff.fuzz.target.memory_orders import MemoryOrder

FAULTS = ("missing_wait", "wait_one_too_shallow", "missing_commit", "wrong_phase", "arrive_count_one_too_high",
          "arrive_count_one_too_low", "missing_arrive", "missing_proxy_fence", "read_one_stage_early",
          "released_before_read", "register_request_ignored", "expect_half_the_bytes", "expect_twice_the_bytes",
          "store_wait_missing", "store_wait_one_too_shallow", "reused_before_dot_wait", "predicate_dropped")
"""Names in `tridiff.kernels.pipelines.faults`."""


_ROOM = "tridiff.fuzz.kinds.plans"


def _numeric(case: Case) -> tuple[str, ...]:
    """Sums of floats: in an order that nobody knows, or on tensor cores."""
    plan = cases.plan_of(case)
    summed = cases.exact_sum(plan) or (isinstance(plan.sink, Dot) and plan.dtype != "i8")
    return ("out",) if summed else ()


def _across_programs(case: Case) -> bool:
    sink = cases.plan_of(case).sink
    return isinstance(sink, TmaStore) and bool(sink.reduce)


def _label(case: Case) -> str:
    """The copies, the sink and whether partitions share the work, unless the assembler is known to fail; one finding
    each."""
    plan = cases.plan_of(case)
    if cases.negated_extremum(plan):
        return "extremum of three, one negated"
    copies = "+".join(sorted({source.copy for source in plan.sources}))
    sink = type(plan.sink).__name__.lower()
    if isinstance(plan.sink, TmaStore) and plan.sink.reduce:
        sink = plan.sink.reduce
    return f"{copies} {sink} {'partitions' if plan.workers else 'alone'}"


def _orders(case: Case) -> tuple[MemoryOrder, ...]:
    from tridiff.fuzz.target.memory_orders import PRODUCTS
    from tridiff.kernels.pipelines.build import build
    from tridiff.kernels.pipelines.faults import flat

    plan = cases.plan_of(case)
    partitions = build(plan).partitions
    steps = [step for part in partitions for step in flat(part.steps)]
    kinds = set(map(type, steps))
    left = max((step.pending for step in steps if isinstance(step, DotWait)), default=0)
    wanted: dict[MemoryOrder, bool] = {
        PRODUCTS[left]: DotWait in kinds,
        "fence": Fence in kinds,
        "completion": StoreWait in kinds,
        "fence of writes": Fence in kinds and len(partitions) == 1 and isinstance(plan.sink, TmaStore) and (
            not case.params["sanitize"]),
        # Where threads read other things as well before they arrive, text does not tell them apart.
        "fence of reads": bool(plan.workers) and not plan.has("store") and not isinstance(plan.sink, Dot) and (
            {source.copy for source in plan.sources} == {"tma"}) and not case.params["sanitize"]}
    return tuple(order for order, asked in wanted.items() if asked)


def _in_family(case: Case, family: Family) -> bool:
    """Shrinking may leave a family: what counts is that the plan is legal and its arrays fit."""
    return (family == "dot") == isinstance(cases.plan_of(case).sink, Dot)


def made_for(environment: Environment, *also: str) -> str:
    """What the chip of an environment lacks for kernels written for sm_90; also: further chips that run them."""
    architecture = environment.architecture
    if architecture in ("", "sm_90", *also):
        return ""
    return f"the kernels are made for {' and '.join(('sm_90', *also))}, not {architecture}"


def _lacking(family: Family) -> Callable[[Environment], str]:
    def lacking(environment: Environment) -> str:
        if family == "reduce" and not offers(environment.triton, "Gluon functions for TMA reductions"):
            return "this Triton has no Gluon function for TMA reductions"
        return made_for(environment, *(("sm_80", "sm_100") if family == "copy_ring" else ()))

    return lacking


KIND = ProgramKind(
    programs=(Plan,), breadth=len(get_args(Step)), launch=f"{_ROOM}.launching:run",
    references=answers_of(f"{_ROOM}.answers"),
    valid=cases.valid, steps=cases.steps, size=cases.size, label=_label, coverage=cells,
    bounded=lambda case: ("out",) if cases.approximate(case) else (), bound=("torch", f"{_ROOM}.answers:product_bound"),
    bound_rule="tridiff.oracles.bounded:RULES[dot_bound]", numeric=_numeric, across=_across_programs, delays="warp",
    expected_ir=f"{_ROOM}.expected_ir:expected_ir")


def pipeline_target(name: str, family: Family, *, summary: str, contract: str, faults: tuple[str, ...],
                    dtypes: tuple[str, ...]) -> Target:
    """A target whose cases carry plans of `family`; faults: names from `FAULTS`."""
    target = target_of(
        KIND, name=name, family="pipelines", summary=summary, contract=contract,
        subjects={"own": "tridiff.kernels.pipelines.build:build"}, within=lambda case: _in_family(case, family),
        cases=lambda limits: pipeline_cases(target=name, family=family, limits=limits))
    return replace(
        target, dtypes=dtypes, backends=("cuda", "compile", "evaluated"),
        draw=replace(target.draw, params=lambda case: {"sanitize": (False, True)}),
        run=replace(target.run, schedules=lambda case: 2 if case.params["sanitize"] else 1, memory_orders=_orders,
                    lacking=_lacking(family)),
        shrink=replace(target.shrink, simplest={"sanitize": (False, True)}),
        faults=Faults(planted={fault: f"tridiff.kernels.pipelines.faults:FAULTS[{fault}]" for fault in faults}))
