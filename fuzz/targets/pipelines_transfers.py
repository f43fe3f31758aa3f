"""Tensor maps of 1 to 5 axes, and stores into the shared memory of other blocks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tridiff.fuzz.kinds.plans.targets import made_for, references
from tridiff.fuzz.kinds.transfers import cases as transfers
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.target import Target
from tridiff.fuzz.versions import offers
from tridiff.kernels.pipelines.text_faults import COUNTED

if TYPE_CHECKING:
    from tridiff.oracles.rules import Rule


def _rules(case: Case) -> Mapping[str, "Rule"]:
    from tridiff.oracles.rules import BIT, NUM0

    return {"out": NUM0 if case.params.get("nan") else BIT}


def _about(case: Case) -> str:
    p = case.params
    if "box" in p:
        return f"{'store' if p['to'] else 'load'} {str(p['box']).count(',') + 1}d"
    return f"{p['value']} into {p['memory']}"


def _cells(case: Case) -> tuple[str, ...]:
    return (f"transfer={_about(case)} dtype={case.params['dtype']}",
            f"ring={case.params['ring']} tiles={case.params['tiles']}")


def _clusters(environment: Environment) -> str:
    if not offers(environment.triton, "stores into the shared memory of another block"):
        return "this Triton has no store into another block's shared memory"
    return made_for(environment)


def _target(name: str, kernels: str, summary: str, contract: str, fault: str, *, exchange: bool) -> Target:
    faults = (*COUNTED, fault)
    return Target(
        params=lambda case: None,
        name=name, family="pipelines", summary=summary, contract=contract, dtypes=transfers.MOVED,
        launch=transfers.launch_transfer,
        cases=lambda limits: transfers.transfer_cases(target=name, exchange=exchange, limits=limits),
        subjects={"own": f"{kernels}:source"}, faults={one: f"{kernels}:FAULTS[{one}]" for one in faults},
        oracles=lambda case: references(case, "transfers.cases:answer"), rules=_rules, about=_about, cells=_cells,
        valid=transfers.valid, size=transfers.size,
        reductions=transfers.reductions, orders=lambda case: ("completion",),
        lacking=_clusters if exchange else made_for, backends=("cuda", "compile"))


TARGETS = (
    _target("tma.boxes", "tridiff.kernels.pipelines.boxes", "TMA copies of 1 to 5 axes, inside the tensor and out",
            "ttg_ops.md §4 (async_tma_copy_global_to_local, async_tma_copy_local_to_global)", "store_wait_missing",
            exchange=False),
    _target("cluster.exchange", "tridiff.kernels.pipelines.cluster_exchange",
            "blocks store into each other's shared memory",
            "ttg_ops.md §4 (async_shared_store, cluster_barrier)", "missing_cluster_barrier", exchange=True),
)
