"""Ordinary kernels through the compiler's own pipelining, warp specialisation and tensor descriptors."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tridiff.fuzz.kinds.loops import cases, draw
from tridiff.fuzz.kinds.plans.cases import inputs
from tridiff.fuzz.kinds.plans.targets import EVERY_ROW, references
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.target import Reference, Target
from tridiff.kernels.pipelines.loop_programs import BoxCopy, BoxReduction, DescribedProduct, Product

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.oracles.rules import Rule


def _launch(launch: "Launch") -> None:
    from tridiff.fuzz.kinds.loops import launching

    launching.run(launch)


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT, NUM0
    from tridiff.oracles.tolerances import RULES

    if cases.approximate(case):
        return {"out": RULES["dot_bound"]}
    loop = cases.loop_of(case)
    floats = cases.dtype_of(loop).startswith(("fp", "bf"))
    return {"out": NUM0 if floats and isinstance(loop, Product | DescribedProduct | BoxCopy | BoxReduction) else BIT}


def _across_programs(case: Case) -> bool:
    """Whether the output takes something from every program, so that an oracle needs all of them."""
    return all(spec.content is not None or spec.dims[0] != "rows" for spec in case.arrays)


def _bounds(case: Case) -> tuple[Reference, ...]:
    if not cases.approximate(case):
        return ()
    return (Reference(source="torch", function="tridiff.fuzz.kinds.loops.answers:product_bound",
                      arguments=("@case", *inputs(case))),)


def _rows_by_tma(environment: Environment) -> str:
    """Gather and scatter: no other chip lacks them silently, so one that is not known to have them is left out."""
    if environment.architecture in ("", "sm_100", "sm_103"):
        return ""
    return f"tensor maps gather and scatter rows from sm_100 on, not on {environment.architecture}"


def _target(name: str, forms: tuple[str, ...], *, summary: str, contract: str, dtypes: tuple[str, ...],
            specialised: bool = False, backends: tuple[str, ...] = ("cuda", "compile"), schedules: int = 1,
            lacking: Callable[[Environment], str] = lambda environment: "") -> Target:
    return Target(
        name=name, family="pipelines", summary=summary, contract=contract, dtypes=dtypes, launch=_launch,
        cases=lambda limits: draw.loop_cases(target=name, forms=forms, specialised=specialised, limits=limits),
        rules=_rules, bounds=_bounds, valid=lambda case: cases.valid(case) and cases.form(case) in forms,
        cells=cases.cells, schedules=lambda case: schedules, subjects={"own": "tridiff.kernels.pipelines.loops:stream"},
        oracles=lambda case: references(case, "loops.answers:{}_answer",
                                        sample=EVERY_ROW if _across_programs(case) else None),
        about=cases.label, about_causes=specialised, delays="" if forms == draw.GATHERED else "warp",
        backends=backends, lacking=lacking, reductions=cases.reductions, size=cases.size, interpreter_elements=1 << 12)


TARGETS = (
    _target("loops.num_stages", draw.LOOPS, dtypes=("i32", "i8", "fp16", "bf16", "fp32"),
            summary="loads, reductions and products in loops of 1 to 5 stages, all with the bits of 1 stage",
            contract="ttg_ops.md §3 (async_copy_global_to_local by the pipeliner)",
            backends=("cuda", "interpreter", "compile")),
    _target("loops.warp_specialize", draw.PRODUCTS, specialised=True, dtypes=("fp16", "bf16"),
            summary="loops split into partitions by the compiler, with the bits of the plain loop",
            contract="ttg_ops.md §3 (warp_specialize)"),
    _target("descriptors.boxes", draw.DESCRIBED, dtypes=("i8", "i16", "i32", "u32", "fp16", "bf16", "fp32"),
            summary="tensor descriptors: boxes over the edges, reductions of many programs into one matrix",
            contract="ttg_ops.md §4 (tensormap_create, async_tma_reduce)"),
    _target("descriptors.gather", draw.GATHERED, dtypes=("fp32", "fp16", "i32"), schedules=0, lacking=_rows_by_tma,
            summary="rows gathered and scattered by tensor maps; compiled for sm_100, which an H200 is not",
            contract="ttg_ops.md §4 (async_tma_gather, async_tma_scatter)"),
)
