"""Kernels written as TTGIR text, for operations that no front end emits, and clusters of two blocks."""

from dataclasses import replace

from tridiff.fuzz.kinds.kind import target_of
from tridiff.fuzz.kinds.plans.targets import made_for
from tridiff.fuzz.kinds.texts import KIND, cases, draw
from tridiff.fuzz.target import Faults, Target
from tridiff.kernels.ttgir.faults import CLUSTER, NEEDS_A_GPU, TEXTS
from tridiff.kernels.ttgir.text import ClusterBarrier, Form


def _target(name: str, forms: tuple[type[Form], ...], summary: str, contract: str, faults: tuple[str, ...]) -> Target:
    target = target_of(
        KIND, name=name, family="pipelines", summary=summary, contract=contract,
        subjects={"own": "tridiff.kernels.ttgir.forms:barrier"},
        within=lambda case: isinstance(cases.text_of(case).form, forms),
        cases=lambda limits: draw.text_cases(target=name, forms=forms, limits=limits))
    return replace(target, dtypes=("i32",), backends=("cuda", "compile", "evaluated"),
                   run=replace(target.run, written=("scratch",), lacking=made_for),
                   faults=Faults(planted={one: f"tridiff.kernels.ttgir.faults:FAULTS[{one}]" for one in faults}))


TARGETS = (
    _target("ttgir.text", draw.FORMS,
            "barriers of chosen memories, warp numbers, scratch memory, tokens, masks, predicates, partitions",
            "ttg_ops.md §3 (barrier, warp_id, global_scratch_alloc, mask, predicate_stage, warp_specialize)",
            (*CLUSTER, *TEXTS, *NEEDS_A_GPU)),
    _target("ttgir.cluster", (ClusterBarrier,), "arrive and wait of a cluster of two blocks",
            "ttg_ops.md §4 (cluster_arrive, cluster_wait, cluster_barrier)", (*CLUSTER,)),
)
