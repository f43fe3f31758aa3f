"""What the targets of pipelined kernels have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tridiff.fuzz.kinds.plans import cases
from tridiff.fuzz.kinds.plans.coverage import cells
from tridiff.fuzz.kinds.plans.draw import Family, pipeline_cases
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.target import Reference, Target
from tridiff.fuzz.versions import offers
from tridiff.kernels.pipelines.plan import Dot, Plan, TmaStore
from tridiff.kernels.pipelines.steps import DotWait, Fence, StoreWait

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.fuzz.target.memory_orders import MemoryOrder
    from tridiff.oracles.rules import Rule

FAULTS = ("missing_wait", "wait_one_too_shallow", "missing_commit", "wrong_phase", "arrive_count_one_too_high",
          "arrive_count_one_too_low", "missing_arrive", "missing_proxy_fence", "read_one_stage_early",
          "released_before_read", "register_request_ignored", "expect_half_the_bytes", "expect_twice_the_bytes",
          "store_wait_missing", "store_wait_one_too_shallow", "reused_before_dot_wait", "predicate_dropped")
"""Names in `tridiff.kernels.pipelines.faults`."""


def _launch(launch: Launch) -> None:
    from tridiff.fuzz.kinds.plans import launching

    launching.run(launch)


def _outputs(case: Case) -> tuple[str, ...]:
    return tuple(spec.name for spec in case.arrays if spec.content is None)


EVERY_ROW = 1 << 20
"""Rows that an oracle is asked about where the output has something of each."""


def references(case: Case, function: str, *, outputs: tuple[str, ...] = ("out",),
               scratch: tuple[str, ...] = (), sample: int | None = None) -> tuple[Reference, ...]:
    """Both oracles of a case, asked about it and its inputs but for scratch; function: in `fuzz.kinds`, with {} for the
    library's name where each has one of its own."""
    arguments = ("@case", *(name for name in cases.inputs(case) if name not in scratch))
    return tuple(Reference(source=source, function=f"tridiff.fuzz.kinds.{function.format(source)}",
                           arguments=arguments,
                           outputs=outputs, sample=sample) for source in ("torch", "numpy"))


def _oracles(case: Case) -> tuple[Reference, ...]:
    sink = cases.plan_of(case).sink
    sample = EVERY_ROW if isinstance(sink, TmaStore) and sink.reduce else None
    return references(case, "plans.answers:{}_answer", outputs=_outputs(case), sample=sample)


def _rules(case: Case) -> dict[str, Rule]:
    from tridiff.oracles.rules import BIT, NUM0
    from tridiff.oracles.tolerances import RULES

    plan = cases.plan_of(case)
    rules = dict.fromkeys(_outputs(case), BIT)
    if cases.approximate(case):
        rules["out"] = RULES["dot_bound"]
    elif cases.exact_sum(plan) or (isinstance(plan.sink, Dot) and plan.dtype != "i8"):
        rules["out"] = NUM0
    return rules


def _bounds(case: Case) -> tuple[Reference, ...]:
    if not cases.approximate(case):
        return ()
    return (Reference(source="torch", function="tridiff.fuzz.kinds.plans.answers:product_bound",
                      arguments=("@case", *cases.inputs(case))),)


def _about(case: Case) -> str:
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
    return cases.valid(case) and (family == "dot") == isinstance(
        case.program.sink if isinstance(case.program, Plan) else None, Dot)


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


def pipeline_target(name: str, family: Family, *, summary: str, contract: str, faults: tuple[str, ...],
                    dtypes: tuple[str, ...]) -> Target:
    """A target whose cases carry plans of `family`; faults: names from `FAULTS`."""
    return Target(
        name=name, family="pipelines", summary=summary, contract=contract, dtypes=dtypes,
        cases=lambda limits: pipeline_cases(target=name, family=family, limits=limits),
        launch=_launch, subjects={"own": "tridiff.kernels.pipelines.build:build"},
        faults={fault: f"tridiff.kernels.pipelines.faults:FAULTS[{fault}]" for fault in faults},
        oracles=_oracles, rules=_rules, bounds=_bounds, about=_about, cells=cells,
        valid=lambda case: _in_family(case, family), schedules=lambda case: 2 if case.params["sanitize"] else 1,
        params=lambda case: {"sanitize": (False, True)}, simplest={"sanitize": (False, True)}, delays="warp",
        orders=_orders,
        lacking=_lacking(family), reductions=cases.reductions, size=cases.size, backends=("cuda", "compile"))
