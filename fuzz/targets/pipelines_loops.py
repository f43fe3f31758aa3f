"""Ordinary kernels through the compiler's own pipelining, warp specialisation and tensor descriptors."""

from collections.abc import Callable
from dataclasses import replace

from tridiff.fuzz.kinds.kind import target_of
from tridiff.fuzz.kinds.loops import KIND, cases, draw
from tridiff.fuzz.records import Environment
from tridiff.fuzz.target import Faults, Target
from tridiff.kernels.pipelines.loop_faults import AROUND, BOXES, GATHERED, LINES, LOOPS, SPECIALISED


def _rows_by_tma(environment: Environment) -> str:
    """Gather and scatter: no other chip lacks them silently, so one that is not known to have them is left out."""
    if environment.architecture in ("", "sm_100", "sm_103"):
        return ""
    return f"tensor maps gather and scatter rows from sm_100 on, not on {environment.architecture}"


def _target(name: str, forms: tuple[str, ...], faults: tuple[str, ...], *, summary: str, contract: str,
            dtypes: tuple[str, ...], specialised: bool = False,
            backends: tuple[str, ...] = ("cuda", "compile", "evaluated"), schedules: int = 1,
            lacking: Callable[[Environment], str] = lambda environment: "") -> Target:
    target = target_of(
        KIND, name=name, family="pipelines", summary=summary, contract=contract,
        subjects={"own": "tridiff.kernels.pipelines.loops:stream"}, within=lambda case: cases.form(case) in forms,
        cases=lambda limits: draw.loop_cases(target=name, forms=forms, specialised=specialised, limits=limits))
    return replace(
        target, dtypes=dtypes, backends=backends,
        draw=replace(target.draw, delays="" if forms == draw.GATHERED else KIND.delays),
        run=replace(target.run, lacking=lacking, schedules=lambda case: schedules),
        judge=replace(target.judge, label_is_issue=specialised),
        faults=Faults(planted={one: f"tridiff.kernels.pipelines.loop_faults:FAULTS[{one}]" for one in faults}))


TARGETS = (
    _target("loops.num_stages", draw.LOOPS, (*LOOPS, *LINES), dtypes=("i32", "i8", "fp16", "bf16", "fp32"),
            summary="loads, reductions and products in loops of 1 to 5 stages, all with the bits of 1 stage",
            contract="ttg_ops.md §3 (async_copy_global_to_local by the pipeliner)",
            backends=("cuda", "interpreter", "compile", "evaluated")),
    _target("loops.options", draw.HINTED, (*LOOPS, *LINES, *AROUND), dtypes=("i32", "i8", "fp16", "bf16", "fp32"),
            summary="every option of tl.range on the same loops and on loops over them, with the bits of none",
            contract="ttg_ops.md §3 (async_copy_global_to_local by the pipeliner, warp_specialize)",
            backends=("cuda", "interpreter", "compile", "evaluated")),
    _target("loops.warp_specialize", draw.PRODUCTS, (*LOOPS, *SPECIALISED), specialised=True, dtypes=("fp16", "bf16"),
            summary="loops split into partitions by the compiler, with the bits of the plain loop",
            contract="ttg_ops.md §3 (warp_specialize)"),
    _target("descriptors.boxes", draw.DESCRIBED, (*BOXES,), dtypes=("i8", "i16", "i32", "u32", "fp16", "bf16", "fp32"),
            summary="tensor descriptors: boxes over the edges, reductions of many programs into one matrix",
            contract="ttg_ops.md §4 (tensormap_create, async_tma_reduce)"),
    _target("descriptors.gather", draw.GATHERED, (*GATHERED,), dtypes=("fp32", "fp16", "i32"), schedules=0,
            lacking=_rows_by_tma,
            summary="rows gathered and scattered by tensor maps; compiled for sm_100, which an H200 is not",
            contract="ttg_ops.md §4 (async_tma_gather, async_tma_scatter)"),
)
