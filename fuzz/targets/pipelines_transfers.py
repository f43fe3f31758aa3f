"""Tensor maps of 1 to 5 axes, and stores into the shared memory of other blocks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tridiff.fuzz.kinds.fields import values
from tridiff.fuzz.kinds.plans.targets import made_for, references
from tridiff.fuzz.kinds.transfers import cases, draw
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.target import Target
from tridiff.fuzz.versions import offers
from tridiff.kernels.pipelines.boxes import Boxes
from tridiff.kernels.pipelines.cluster_exchange import Exchange
from tridiff.kernels.pipelines.text_faults import COUNTED

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.oracles.rules import Rule


def _launch(launch: "Launch") -> None:
    from tridiff.fuzz.kinds.transfers import launching

    launching.run(launch)


def _rules(case: Case) -> Mapping[str, "Rule"]:
    from tridiff.oracles.rules import BIT, NUM0

    return {"out": NUM0 if isinstance(case.program, Boxes) and case.program.nan else BIT}


def _clusters(environment: Environment) -> str:
    if not offers(environment.triton, "stores into the shared memory of another block"):
        return "this Triton has no store into another block's shared memory"
    return made_for(environment)


def _target(name: str, kernels: str, summary: str, contract: str, fault: str, *, exchange: bool) -> Target:
    faults, kind = (*COUNTED, fault), Exchange if exchange else Boxes
    return Target(
        name=name, family="pipelines", summary=summary, contract=contract, dtypes=values(kind, "dtype"),
        launch=_launch, cases=lambda limits: draw.transfer_cases(target=name, exchange=exchange, limits=limits),
        subjects={"own": f"{kernels}:source"}, faults={one: f"{kernels}:FAULTS[{one}]" for one in faults},
        oracles=lambda case: references(case, "transfers.answers:answer"), rules=_rules, about=cases.label,
        cells=cases.cells, valid=lambda case: cases.valid(case) and isinstance(case.program, kind), size=cases.size,
        reductions=cases.reductions, orders=lambda case: ("completion",),
        lacking=_clusters if exchange else made_for, backends=("cuda", "compile"))


TARGETS = (
    _target("tma.boxes", "tridiff.kernels.pipelines.boxes", "TMA copies of 1 to 5 axes, inside the tensor and out",
            "ttg_ops.md §4 (async_tma_copy_global_to_local, async_tma_copy_local_to_global)", "store_wait_missing",
            exchange=False),
    _target("cluster.exchange", "tridiff.kernels.pipelines.cluster_exchange",
            "blocks store into each other's shared memory",
            "ttg_ops.md §4 (async_shared_store, cluster_barrier)", "missing_cluster_barrier", exchange=True),
)
