"""Known issues of loops that the compiler pipelines or splits into partitions, and of tensor descriptors."""

from msgspec.structs import replace

from tridiff.fuzz.known.issue import ASTRAY, WRONG, KnownIssue
from tridiff.fuzz.records import Case
from tridiff.kernels.pipelines.loop_programs import (
    BoxCopy,
    BoxReduction,
    DescribedProduct,
    Hinted,
    LineFold,
    Product,
    half_a_slot,
)

_SPLIT = 128
"""Rows of a tile from which on the compiler gives each of two partitions a half."""
_PREDICTED = "tridiff.fuzz.known.predictions.loops"
_WARPS = (("loops.warp_specialize", "own"),)
_BOXES = (("descriptors.boxes", "own"),)
_OPTIONS = (("loops.options", "own"),)
_FAILED = ("PassManager::run failed", "Failures have been detected while processing an MLIR pass pipeline")
"""What Triton 3.6.0 says where later releases end in an assertion."""


def _specialised(case: Case) -> DescribedProduct | None:
    """The case's loop, if the compiler is asked to split it into partitions."""
    loop = case.program
    return loop if isinstance(loop, DescribedProduct) and loop.specialised else None


def _plain(case: Case) -> Case | None:
    """The same loop with its other options, which the compiler leaves in one partition."""
    loop = case.program
    if not isinstance(loop, DescribedProduct | Hinted) or not loop.specialised:
        return None
    return replace(case, program=replace(loop, specialised=False))


def _one_stage(case: Case) -> bool:
    loop = _specialised(case)
    return loop is not None and loop.stages == 1


def _split(case: Case) -> bool:
    loop = _specialised(case)
    return loop is not None and loop.stages > 1 and loop.m >= _SPLIT


def _split_store(case: Case) -> bool:
    loop = _specialised(case)
    return loop is not None and loop.m >= _SPLIT and loop.store == "own_map"


def _small_boxes(case: Case) -> bool:
    """Whether slots of a pipelined box begin where TMA cannot write."""
    return isinstance(case.program, BoxCopy | BoxReduction) and half_a_slot(case.program)


def _specialised_fold(case: Case) -> bool:
    loop = case.program
    return isinstance(loop, Hinted) and loop.specialised and isinstance(loop.work, LineFold)


def _specialised_nest(case: Case) -> bool:
    """Whether partitions are asked for in a loop over products that stays a nest: unrolled ones are not flattened."""
    loop = case.program
    return (isinstance(loop, Hinted) and loop.specialised and isinstance(loop.work, Product) and loop.lines > 1
            and not (loop.flattened and loop.unrolled == 1))


ISSUES = (
    KnownIssue(
        name="specialised-fold-without-partition", title="a reduction in a specialised loop does not compile",
        stage="ttgir", where=_OPTIONS, entries=("loops.options/assertion--detail--ispre-876fd9b5b4",),
        match=_specialised_fold, relative=_plain, kinds=(), errors=("*dyn_cast on a non-existent value*", *_FAILED)),
    KnownIssue(
        name="specialised-nest-without-partition-outputs",
        title="a product in a specialised loop over matrices does not compile", stage="ttgir",
        where=_OPTIONS, entries=("loops.options/assertion--op--hasattr-k-0364a370ae",), match=_specialised_nest,
        relative=_plain, kinds=(), errors=("*kPartitionOutputsAttrName*", *_FAILED)),
    KnownIssue(
        name="uniform-registers-of-another-partition", title="a product in one stage lacks most of its terms",
        stage="ptxas", where=_WARPS, entries=("loops.warp_specialize/value-1ca4fb2ee7",),
        match=_one_stage, relative=_plain, kinds=(*WRONG, "nondeterministic", "option_dependent"),
        errors=ASTRAY),
    KnownIssue(
        name="dead-barriers-below-a-ring",
        title="a row or column of a product is NaN: barriers lie where a ring begins",
        stage="ttgir", where=_WARPS,
        entries=("loops.warp_specialize/nan-unexpected-451c818b3e", "loops.warp_specialize/nan-unexpected-a0eaf29ccf",
                 "loops.warp_specialize/nan-unexpected-ccc8f15e35"),
        match=_split, explains=f"{_PREDICTED}:lines_of_nan", relative=_plain),
    KnownIssue(
        name="split-store-moves-both-coordinates", title="the second half of a tile is stored 64 columns further",
        stage="ttgir", where=_WARPS, entries=("loops.warp_specialize/unwritten-d21c1bfc0f",),
        match=_split_store, explains=f"{_PREDICTED}:second_half_moved", relative=_plain),
    KnownIssue(
        name="pipelined-box-below-128-bytes", title="a pipelined descriptor load of a box of 64 bytes is misaligned",
        stage="ttgir", where=_BOXES, entries=("descriptors.boxes/misaligned-address-faff6dc214",),
        match=_small_boxes, errors=("misaligned_address",)),
    KnownIssue(
        name="descriptor-store-in-units-of-16-bytes", title="a descriptor store overwrites up to 16 bytes of a line",
        upstream=("triton#11583", "triton#11893"), stage="hardware", truth="by_design", where=_BOXES,
        entries=("descriptors.boxes/out-of-bounds-8593d16163",),
        match=lambda case: isinstance(case.program, BoxCopy) and case.program.cuts_unit, errors=("out_of_bounds",)),
)
