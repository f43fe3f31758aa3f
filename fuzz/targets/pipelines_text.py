"""Kernels written as TTGIR text, for operations that no front end emits, and clusters of two blocks."""

from typing import TYPE_CHECKING

from tridiff.fuzz.kinds.plans.targets import made_for, references
from tridiff.fuzz.kinds.texts import cases as text_cases
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Target

if TYPE_CHECKING:
    from tridiff.oracles.rules import Rule


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT

    return {"out": BIT}


def _cells(case: Case) -> tuple[str, ...]:
    words = " ".join(f"{name}={value}" for name, value in sorted(case.params.items()) if name != "form")
    return (f"text={case.params['form']} {words} warps={case.options.num_warps}",)


def _target(name: str, forms: tuple[str, ...], summary: str, contract: str) -> Target:
    return Target(
        params=lambda case: None,
        name=name, family="pipelines", summary=summary, contract=contract, dtypes=("i32",),
        cases=lambda limits: text_cases.text_cases(target=name, forms=forms, limits=limits),
        launch=text_cases.launch_text, rules=_rules, valid=text_cases.valid, written=("scratch",), cells=_cells,
        subjects={"own": "tridiff.kernels.ttgir.forms:barrier"},
        oracles=lambda case: references(case, "texts.cases:answer", scratch=("scratch",)),
        about=lambda case: str(case.params["form"]),
        simplest={"each": (1, 2, 4), "decoys": (0, 1, 2, 3), "hint": (False, True), "requested": (False, True),
                  "pending": tuple(range(24)), "alignment": (128, 16, 4, 1024), "relaxed": (False, True),
                  "fence": (False, True), "stages": (1, 2, 3, 4, 5)},
        lacking=made_for, backends=("cuda", "compile"))


TARGETS = (
    _target("ttgir.text", text_cases.FORMS,
            "barriers of chosen memories, warp numbers, scratch memory, tokens, masks, predicates, partitions",
            "ttg_ops.md §3 (barrier, warp_id, global_scratch_alloc, mask, predicate_stage, warp_specialize)"),
    _target("ttgir.cluster", ("cluster",), "arrive and wait of a cluster of two blocks",
            "ttg_ops.md §4 (cluster_arrive, cluster_wait, cluster_barrier)"),
)
