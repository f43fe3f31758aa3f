"""Tensor maps of 1 to 5 axes, and stores into the shared memory of other blocks."""

from dataclasses import replace

from tridiff.fuzz.kinds.fields import values
from tridiff.fuzz.kinds.kind import target_of
from tridiff.fuzz.kinds.plans.targets import made_for
from tridiff.fuzz.kinds.transfers import KIND, draw
from tridiff.fuzz.records import Environment
from tridiff.fuzz.target import Faults, Target
from tridiff.fuzz.versions import offers
from tridiff.kernels.pipelines.boxes import Boxes
from tridiff.kernels.pipelines.cluster_exchange import Exchange
from tridiff.kernels.pipelines.text_faults import COUNTED


def _clusters(environment: Environment) -> str:
    if not offers(environment.triton, "stores into the shared memory of another block"):
        return "this Triton has no store into another block's shared memory"
    return made_for(environment)


def _target(name: str, kernels: str, summary: str, contract: str, fault: str, *, exchange: bool) -> Target:
    faults, program = (*COUNTED, fault), Exchange if exchange else Boxes
    target = target_of(
        KIND, name=name, family="pipelines", summary=summary, contract=contract,
        subjects={"own": f"{kernels}:source"}, within=lambda case: isinstance(case.program, program),
        cases=lambda limits: draw.transfer_cases(target=name, exchange=exchange, limits=limits))
    return replace(
        target, dtypes=values(program, "dtype"), backends=("cuda", "compile", "evaluated"),
        faults=Faults(planted={one: f"{kernels}:FAULTS[{one}]" for one in faults}),
        run=replace(target.run, memory_orders=lambda case: ("completion",),
                    lacking=_clusters if exchange else made_for))


TARGETS = (
    _target("tma.boxes", "tridiff.kernels.pipelines.boxes", "TMA copies of 1 to 5 axes, inside the tensor and out",
            "ttg_ops.md §4 (async_tma_copy_global_to_local, async_tma_copy_local_to_global)", "store_wait_missing",
            exchange=False),
    _target("cluster.exchange", "tridiff.kernels.pipelines.cluster_exchange",
            "blocks store into each other's shared memory",
            "ttg_ops.md §4 (async_shared_store, cluster_barrier)", "missing_cluster_barrier", exchange=True),
)
