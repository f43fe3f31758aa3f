"""From a case with a loop to a launch; schedule 1 is the loop's plain version: one stage, one partition, no delay."""

from typing import Any

from tridiff.fuzz.backends import compiler
from tridiff.fuzz.backends.delay import built_in, of_launch, text
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.kinds.loops.cases import loop_of
from tridiff.fuzz.kinds.plans.launching import copy_initial, reported_warps
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels import generated
from tridiff.kernels.pipelines import hinted_loops, loops
from tridiff.kernels.pipelines.loop_faults import FAULTS
from tridiff.kernels.pipelines.loop_programs import (
    BoxCopy,
    BoxReduction,
    DescribedProduct,
    Hinted,
    LineFold,
    Product,
    RowGather,
    Stream,
)


def run(launch: Launch) -> None:
    """Launch the case's loop; the target's `launch` function."""
    loop, plain = loop_of(launch.case), launch.schedule == 1
    # The compiler chooses the warps of its own partitions: up to three times as many again.
    specialised = isinstance(loop, DescribedProduct | Hinted) and loop.specialised
    warps = launch.options.num_warps * (4 if specialised else 1)
    delay = None if plain else of_launch(launch, warps=warps)
    with built_in(delay):
        _launch(launch, plain, text(delay))


def _run(launch: Launch, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any]) -> None:
    """Run a kernel, or what the subject's fault makes of it."""
    if launch.planted in FAULTS:
        kernel = getattr(generated.load(launch.helper(), name="loops"), kernel.fn.__name__)
    launch.run(kernel, grid, arguments)


def _launch(launch: Launch, plain: bool, delayed: str) -> None:
    case, loop, sizes = launch.case, loop_of(launch.case), launch.case.sizes
    pointers = {f"{spec.name}_ptr": launch.pointer(spec.name) for spec in case.arrays if spec.name != "initial"}
    if isinstance(loop, RowGather):
        if compiler(launch.backend) != "compile:sm_100" and not (
                launch.backend == "cuda" and _device_generation() >= 10):
            raise Declined("tensor maps gather and scatter rows from sm_100 on")
        _run(launch, loops.described_gather, (1, 1, 1), {
            **pointers, "height": loop.rows, "width": loop.columns, "COUNT": loop.rows, "COLUMNS": loop.columns,
            "SCATTER": loop.scatter})
        return
    if isinstance(loop, Hinted):
        _launch_hinted(launch, loop, plain, {**pointers, "DELAY": delayed})
        return
    rows = sizes["rows"], 1, 1
    common: dict[str, Any] = {**pointers, "STAGES": 1 if plain else loop.stages, "DELAY": delayed}
    match loop:
        case Stream() | LineFold():
            kernel = loops.stream if isinstance(loop, Stream) else loops.fold
            _run(launch, kernel, rows, {**common, "length": loop.width, "pitch": loop.width, "BLOCK": loop.block,
                                      "KIND": loop.kind})
        case DescribedProduct():
            _run(launch, loops.described_product, rows, {
                **common, "inner": loop.inner, "column": 0, "M": loop.m, "N": loop.n, "BLOCK": loop.block,
                "SPECIALISED": loop.specialised and not plain, "DESCRIBED_STORE": loop.store != "pointers",
                "ONE_MAP": loop.store == "shared_map"})
            reported_warps(launch)  # of all partitions, of which the compiler chooses the number
        case Product():
            _run(launch, loops.product, rows, {**common, "inner": loop.inner, "M": loop.m, "N": loop.n,
                                             "BLOCK": loop.block, "TRANSPOSED": loop.transposed})
        case BoxCopy() | BoxReduction():
            boxes = {**common, "width": loop.width, "pitch": case.array("x").strides(sizes)[-2], "ROWS": loop.rows,
                     "COLUMNS": loop.columns}
            if isinstance(loop, BoxCopy):
                _run(launch, loops.described_copy, rows, {
                    **boxes, "height": sizes["rows"] * loop.rows, "ADDED": loop.added,
                    "DESCRIBED_STORE": loop.described_store})
                return
            copy_initial(launch, loop.rows, loop.width)
            _run(launch, loops.described_reduction, rows, {**boxes, "height": loop.rows, "programs": sizes["rows"],
                                                         "KIND": loop.kind})


def _launch_hinted(launch: Launch, loop: Hinted, plain: bool, common: dict[str, Any]) -> None:
    work, rows = loop.work, launch.case.sizes["rows"]
    if loop.specialised and isinstance(work, Product | DescribedProduct) and _chip(launch) == "sm_90":
        raise Declined("tl.range: warp specialisation is for Blackwell; sm_90 has it for some products only")
    hints: tuple[Any, ...] = loops.UNHINTED.value if plain else loop.hints
    common |= {"STAGES": 1 if plain else work.stages, "HINTS": hints, "AROUND": loop.lines > 1, "lines": rows}
    match work:
        case Stream() | LineFold():
            kernel = hinted_loops.streams if isinstance(work, Stream) else hinted_loops.folds
            own: dict[str, Any] = {"length": work.width, "pitch": work.width, "BLOCK": work.block, "KIND": work.kind}
        case Product():
            kernel = hinted_loops.products
            own = {"inner": work.inner, "M": work.m, "N": work.n, "BLOCK": work.block, "TRANSPOSED": work.transposed}
        case DescribedProduct():
            kernel = hinted_loops.described_products
            own = {"inner": work.inner, "M": work.m, "N": work.n, "BLOCK": work.block}
    _run(launch, kernel, (-(-rows // loop.lines), 1, 1), {**common, **own})
    if loop.specialised and not plain:
        reported_warps(launch)


def _chip(launch: Launch) -> str:
    if launch.backend == "cuda":
        return {9: "sm_90", 10: "sm_100"}.get(_device_generation(), "")
    return launch.backend.partition(":")[2]


def _device_generation() -> int:
    import torch

    return torch.cuda.get_device_capability()[0]
