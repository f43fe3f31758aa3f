"""Kernels written as TTGIR text, for operations that no front end emits, and clusters of two blocks."""

from typing import TYPE_CHECKING

from tridiff.fuzz.kinds.plans.targets import made_for, references
from tridiff.fuzz.kinds.texts import cases, draw
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Target
from tridiff.kernels.ttgir.text import ClusterBarrier, Form

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.oracles.rules import Rule


def _launch(launch: "Launch") -> None:
    from tridiff.fuzz.kinds.texts import launching

    launching.run(launch)


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT

    return {"out": BIT}


def _target(name: str, forms: tuple[type[Form], ...], summary: str, contract: str) -> Target:
    return Target(
        name=name, family="pipelines", summary=summary, contract=contract, dtypes=("i32",),
        cases=lambda limits: draw.text_cases(target=name, forms=forms, limits=limits), launch=_launch, rules=_rules,
        valid=lambda case: cases.valid(case) and isinstance(cases.text_of(case).form, forms),
        written=("scratch",), cells=cases.cells, subjects={"own": "tridiff.kernels.ttgir.forms:barrier"},
        oracles=lambda case: references(case, "texts.answers:answer", scratch=("scratch",)), about=cases.label,
        reductions=cases.reductions, size=cases.size, lacking=made_for, backends=("cuda", "compile"))


TARGETS = (
    _target("ttgir.text", draw.FORMS,
            "barriers of chosen memories, warp numbers, scratch memory, tokens, masks, predicates, partitions",
            "ttg_ops.md §3 (barrier, warp_id, global_scratch_alloc, mask, predicate_stage, warp_specialize)"),
    _target("ttgir.cluster", (ClusterBarrier,), "arrive and wait of a cluster of two blocks",
            "ttg_ops.md §4 (cluster_arrive, cluster_wait, cluster_barrier)"),
)
