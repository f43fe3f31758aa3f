"""Which plans are legal. Every rule is one that a compiler or the hardware imposes, or that progress needs
(contract: ttg_ops.md §3 to §5)."""

from collections.abc import Iterator

from tridiff.kernels.pipelines.plan import (
    ACROSS,
    DTYPE_BITS,
    MOVES,
    REDUCED,
    SECOND,
    SHARED_BYTES,
    TMA_SLOT,
    TMA_UNIT,
    Dot,
    Fold,
    Plan,
    Store,
    TmaStore,
    total_warps,
)

_DOT_DTYPES = ("fp16", "bf16", "i8", "fp8e4nv", "fp8e5", "fp32")


def problem(plan: Plan) -> str:
    """Why a plan is illegal, in one line; "" for a legal one."""
    return next(_problems(plan), "")


def _problems(plan: Plan) -> Iterator[str]:
    yield from _shape(plan)
    yield from _pipeline(plan)
    yield from _sources(plan)
    yield from _partitions(plan)
    if isinstance(plan.sink, Dot):
        yield from _dot(plan, plan.sink)
    else:
        yield from _elementwise(plan)


def _shape(plan: Plan) -> Iterator[str]:
    if plan.tiles and plan.width < 1:
        yield f"{plan.tiles} tiles of {plan.columns} columns leave nothing of width {plan.width}"
    if not plan.tiles and (plan.cut or plan.before):
        yield "without tiles there is nothing to cut"
    if not plan.tiles and not isinstance(plan.sink, Dot | Fold):
        yield "without tiles only a fold has a result"
    if plan.before >= plan.columns or plan.cut >= 2 * plan.columns:
        yield "more than the first tile before column 0, or more than two tiles behind the end"
    if plan.itemsize < 4 and (plan.cut % 16 or plan.before % 16):
        yield "narrow elements need tiles that begin and end at a multiple of 16 elements"
    if plan.before * plan.itemsize % 16:
        yield "copies start at multiples of 16 bytes"
    if plan.shared_bytes() > SHARED_BYTES:
        yield f"{plan.shared_bytes()} bytes of shared memory"
    if plan.rows * plan.columns > 1 << 14:
        yield "tiles of more than 2^14 elements"


def _pipeline(plan: Plan) -> Iterator[str]:
    depth = plan.sink.depth if isinstance(plan.sink, Dot) and plan.sink.asynchronous else 0
    if plan.workers:
        if plan.ahead + depth > plan.ring - 1:
            yield "copies and multiplications under way would hold every slot, and each wait for the other"
        return
    if plan.tail == "branch" and plan.tiles == 1 and plan.loop != "static":
        # The loop of one iteration is dissolved and leaves loads in a branch that is never taken; Gluon of 3.6.0 fails
        # to lower them (ConvertTritonGPUToLLVM), 3.9.0 does not.
        yield "a branch that is never taken"
    if plan.ahead < 1 and plan.refill == "last":
        yield "refilling last needs at least one tile ahead"
    if plan.ahead > plan.ring - (plan.refill == "first") - depth:
        yield "a tile would be copied over one that is still in use"
    if plan.refill == "first" and depth and plan.ahead > plan.ring - 1 - depth:
        yield "a tile would be copied over one that is still being multiplied"


def _sources(plan: Plan) -> Iterator[str]:
    second = [op for op in plan.ops if op.kind in SECOND]
    if len(plan.sources) == 1 and (second or isinstance(plan.sink, Dot)):
        yield "an operation lacks its second source"
    if len(plan.sources) == 2 and not second and not isinstance(plan.sink, Dot):
        yield "the second source is not used"
    for number, source in enumerate(plan.sources):
        shape = plan.tile_shape(number)
        line = shape[1] * plan.itemsize
        if source.across and not (isinstance(plan.sink, Dot) and number == 1):
            yield "only the second operand of a multiplication has tiles along its rows"
        if source.copy == "tma":
            if plan.itemsize == 8:
                yield "tensor maps hold elements of up to 32 bits"
            if max(shape) > 256:
                yield "a box of more than 256 elements along one axis"
        if source.copy in ("tma", "registers") and (source.cache or source.evict):
            yield "cache modifiers belong to cp.async"
        if source.copy == "tma" and plan.ring > 1 and shape[0] * line % TMA_SLOT:
            yield f"slots of {shape[0] * line} bytes, which TMA fills where they begin at multiples of {TMA_SLOT}"
        if (source.copy == "tma" or source.tensor_core) and not _core_layout(line, shape[0], source.swizzle):
            yield f"a line of {line} bytes and {shape[0]} rows do not take a swizzle of {source.swizzle} bytes"
        if not plan.workers and source.copy.startswith("cp_arrive") and plan.tail == "predicate":
            yield "arrivals of copies are left out by branches, not by predicates"
    if plan.shared_barrier and (len(plan.sources) == 1 or not (
            plan.workers or all(s.copy in ("tma", "cp_arrive", "cp_arrive_counted") for s in plan.sources))):
        yield "nothing shares a barrier"


def _core_layout(line: int, rows: int, swizzle: int) -> bool:
    return line >= max(swizzle, 16) and (swizzle == 0 or rows >= 8)


def _partitions(plan: Plan) -> Iterator[str]:
    roles = plan.roles
    if not plan.workers:
        if plan.default != "compute":
            yield "without workers the only role is compute"
        return
    if len(set(roles)) != len(roles):
        yield "two partitions have one role"
    if "load" not in roles or "compute" not in roles:
        yield "a specialised kernel has a partition that copies and one that computes"
    if plan.default == "side":
        yield "the default partition takes part in the pipeline"
    if plan.has("load_second") and len(plan.sources) == 1:
        yield "there is no second source to copy"
    if plan.warps % 4:
        yield "the default partition has a multiple of 4 warps"
    if plan.has("store") and not isinstance(plan.sink, TmaStore | Store):
        yield "nothing to pass to a storing partition"
    if plan.has("compute_second") and (plan.has("store") or not isinstance(plan.sink, Store)):
        yield "a second reader stores its own output"
    if total_warps(plan) > 20:
        yield "more than 20 warps"
    given = [worker.registers is None for worker in plan.workers]
    if any(given) and not all(given):
        yield "register requests are all given or all left out"
    # A warp group that asks for more registers than the block has cannot start.
    asked = sum((worker.registers or 0) * 32 * (worker.warps + 3 & ~3) for worker in plan.workers)
    if asked + 24 * 32 * plan.warps > 65536:
        yield "more registers than a multiprocessor has"


def _elementwise(plan: Plan) -> Iterator[str]:
    sink = plan.sink
    if plan.dtype.startswith("fp8"):
        yield "fp8 is for multiplications"
    if isinstance(sink, TmaStore):
        if sink.pending >= (plan.ring if plan.has("store") else sink.buffers):
            yield "a buffer would be filled while it is being copied"
        if plan.has("store") and sink.buffers != plan.ring:
            yield "the storing partition's ring has as many slots as the loading one's"
        if plan.itemsize == 8 or max(plan.rows, plan.columns) > 256:
            yield "tensor maps hold elements of up to 32 bits in boxes of up to 256"
        if sink.buffers > 1 and plan.rows * plan.columns * plan.itemsize % TMA_SLOT:
            yield f"buffers that TMA empties begin at multiples of {TMA_SLOT} bytes"
        if plan.before:
            # The GPU stops such a store as an illegal instruction; a load may begin there (CUDA C++ Programming Guide,
            # the Tensor Memory Accelerator, "Negative indices and out of bounds").
            yield "a box that TMA stores begins at no negative column"
        if plan.width * plan.itemsize % TMA_UNIT:
            yield f"TMA stores whole units of {TMA_UNIT} bytes, beyond the end of a line too"
        if not _core_layout(plan.columns * plan.itemsize, plan.rows, sink.swizzle):
            yield "the staging buffers do not take this swizzle"
        if sink.reduce and plan.dtype not in REDUCED[sink.reduce]:
            yield f"no reduction {sink.reduce} of {plan.dtype}"
        if sink.reduce and DTYPE_BITS[plan.dtype] < 32 and any(op.kind not in MOVES for op in plan.ops):
            yield "sums of narrow floats are exact only for the inputs themselves"
        if sink.reduce and plan.dtype.startswith(("fp", "bf")) and plan.ops:
            yield "operations work on the bits of floats, whose sums are not exact"
    if isinstance(sink, Fold) and sink.returned and (not plan.workers or plan.default != "compute"):
        yield "only a default partition that computes returns a result"
    if any(op.kind in ACROSS for op in plan.ops) and plan.columns < 32:
        yield "operations across a row need 32 columns"
    if any(op.kind == "multiply" and op.constant % 2 == 0 for op in plan.ops):
        yield "factors are odd, so that nothing is lost"
    if any(op.kind == "mix" and not 1 <= op.constant <= 7 for op in plan.ops):
        yield "shifts of 1 to 7"
    if any(source.across for source in plan.sources):
        yield "tiles along the rows are for multiplications"


def _dot(plan: Plan, sink: Dot) -> Iterator[str]:
    warps = plan.warps_of("compute")
    if plan.dtype not in _DOT_DTYPES:
        yield f"no multiplication of {plan.dtype}"
    if warps % 4 or plan.rows % 64 or plan.rows < 16 * warps:
        yield f"{warps} warps do not multiply {plan.rows} rows"
    if plan.warps_across:
        yield "warps of a multiplication lie along the rows"
    if plan.columns * plan.itemsize < 32:
        yield "a chunk of the inner axis has at least 32 bytes"
    if plan.itemsize != 2 and plan.sources[1].across:
        yield "operands of other than 16 bits lie along the inner axis"
    if plan.sources[1].across and plan.cut + plan.before:
        yield "rows beyond the end belong to another program"
    held = plan.rows * sink.n // (32 * warps)
    # What ptxas may use: the accumulator, and about 48 for everything else.
    if held + 48 > min(65536 // (32 * total_warps(plan)), 255):
        yield f"an accumulator of {held} registers per thread does not fit"
    for number, source in enumerate(plan.sources):
        line = plan.tile_shape(number)[1] * plan.itemsize
        if source.copy != "tma" and not source.tensor_core and not (number == 0 and sink.registers):
            yield "tensor cores read their own shared layout"
        if not (number == 0 and sink.registers) and source.swizzle == 0:
            yield "operands in shared memory are swizzled"
        if source.swizzle > line:
            yield "a line shorter than its swizzle"
    if sink.registers and sink.depth:
        yield "operands in registers are read before the next multiplication"
    if not sink.asynchronous and sink.depth:
        yield "only asynchronous multiplications overlap"
    if plan.ops and not sink.registers:
        yield "operations need the operand in registers"
    if any(op.kind not in (*MOVES, "invert") for op in plan.ops):
        yield "operands keep their values"
    if any(op.kind == "invert" for op in plan.ops) and plan.dtype != "i8":
        yield "only integers are inverted"
    if plan.dtype.startswith("fp8") and plan.ops:
        yield "fp8 has no operations"
