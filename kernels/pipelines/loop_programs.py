"""Ordinary kernels with one loop, as data: what `tridiff.kernels.pipelines.loops` computes (contract: ttg_ops.md §3).

Every form has the fields that its kernel has and no others; a field's type lists its values, simplest first where
there are few. What fields must agree about is in `problem`, and nowhere else. Lengths are in elements; everything is
what one program of the grid works on.

This module imports msgspec only: the process that draws programs has no Triton.
"""

from typing import Annotated, Literal

from msgspec import Meta

from tridiff.kernels.pipelines.plan import DTYPE_BITS, REDUCED, TMA_SLOT, TMA_UNIT
from tridiff.kernels.record import Record

SHARED_BYTES = 200 << 10
"""Shared memory that a product's stages may take; the compiler adds buffers and barriers of its own (an sm_90 block can
have 227 KiB)."""

Stages = Annotated[int, Meta(ge=1, le=5)]
"""The loop's `num_stages`."""
Length = Annotated[int, Meta(ge=1, le=1 << 16)]
Block = Literal[64, 16, 128, 256]
"""Elements of a line that one iteration works on."""
Side = Literal[16, 32, 64, 128]
"""Rows or columns of a product."""
BoxRows = Literal[1, 8, 16, 32, 64]
BoxColumns = Literal[16, 32, 64, 128]


class Stream(Record, kw_only=True, tag="stream"):
    """A line written block by block from two lines of i32: `loops.stream`."""

    width: Length
    stages: Stages = 1
    block: Block = 64
    kind: Literal["add", "running", "indirect", "conditional"] = "add"


class LineFold(Record, kw_only=True, tag="line_fold"):
    """A line of i32 reduced to one number, block by block: `loops.fold`."""

    width: Length
    stages: Stages = 1
    block: Block = 64
    kind: Literal["sum", "max", "xor"] = "sum"


class Product(Record, kw_only=True, tag="product"):
    """(m, inner) @ (inner, n), or its transpose (n, inner), with loads through pointers: `loops.product`."""

    inner: Annotated[int, Meta(ge=16, le=1 << 16, multiple_of=16)]
    m: Side = 64
    n: Side = 64
    stages: Stages = 1
    block: Literal[32, 64, 128] = 64
    transposed: bool = False
    dtype: Literal["fp16", "bf16", "fp32", "i8"] = "fp16"


class DescribedProduct(Record, kw_only=True, tag="described_product"):
    """(m, inner) @ (n, inner).T with loads through tensor descriptors: `loops.described_product`.

    store: through pointers, through a descriptor that every program has of its own, or through one that all programs
    share. specialised: the loop asks for `warp_specialize`.
    """

    inner: Annotated[int, Meta(ge=16, le=1 << 16, multiple_of=16)]
    m: Side = 64
    n: Side = 64
    stages: Stages = 1
    block: Literal[32, 64, 128] = 64
    store: Literal["pointers", "own_map", "shared_map"] = "pointers"
    specialised: bool = False
    dtype: Literal["fp16", "bf16"] = "fp16"


class BoxCopy(Record, kw_only=True, tag="box_copy"):
    """Boxes of rows x columns copied along `width` columns, a number added: `loops.described_copy`.

    described_store: they are stored through a descriptor as well, instead of through pointers.
    """

    rows: BoxRows
    width: Length
    columns: BoxColumns = 32
    stages: Stages = 1
    described_store: bool = False
    added: Literal[0, 1, 3] = 1
    dtype: Literal["i32", "i8", "i16", "u32", "fp16", "bf16", "fp32"] = "i32"

    @property
    def unit(self) -> int:
        """Elements that a descriptor stores as one."""
        return TMA_UNIT * 8 // DTYPE_BITS[self.dtype]

    @property
    def cuts_unit(self) -> bool:
        """Whether stored lines end inside a unit, where the hardware is known to write beyond their end."""
        return self.described_store and self.width % self.unit > 0


class BoxReduction(Record, kw_only=True, tag="box_reduction"):
    """Boxes of every program combined with what stands in one output: `loops.described_reduction`."""

    rows: BoxRows
    width: Annotated[int, Meta(ge=16, le=1 << 16, multiple_of=16)]
    columns: BoxColumns = 32
    stages: Stages = 1
    kind: Literal["add", "min", "max", "and", "or", "xor"] = "add"
    dtype: Literal["i32", "u32", "fp32", "fp16", "bf16"] = "i32"


class RowGather(Record, kw_only=True, tag="row_gather"):
    """Rows gathered by their numbers, or scattered to them, by a tensor map: `loops.described_gather`."""

    rows: Literal[8, 32, 64] = 8
    columns: Literal[32, 64, 128] = 32
    scatter: bool = False
    dtype: Literal["fp32", "fp16", "i32"] = "fp32"


class Hinted(Record, kw_only=True, tag="hinted"):
    """A loop with further options, which change no result: `tridiff.kernels.pipelines.hinted_loops`.

    lines: how many lines or matrices a program works on; if there are several, the options are those of the loop over
    them. unrolled: `loop_unroll_factor`. one_accumulator: `disallow_acc_multi_buffer`. flattened: `flatten`.
    invariants_stay: `disable_licm`. specialised: `warp_specialize`.
    """

    work: Stream | LineFold | Product | DescribedProduct
    lines: Literal[1, 2, 3] = 1
    unrolled: Literal[1, 2, 3, 4] = 1
    one_accumulator: bool = False
    flattened: bool = False
    invariants_stay: bool = False
    specialised: bool = False

    @property
    def hints(self) -> tuple[int, bool, bool, bool, bool]:
        """The options in the order of the kernels."""
        return self.unrolled, self.one_accumulator, self.flattened, self.invariants_stay, self.specialised


Work = Stream | LineFold | Product | DescribedProduct | BoxCopy | BoxReduction | RowGather
"""What loops compute."""
Loop = Hinted | Work


def problem(loop: Loop) -> str:
    """Why no kernel can be made of a loop, "" if one can; its fields are within their types."""
    match loop:
        case Product():
            if loop.dtype == "i8" and not loop.transposed:
                return "tensor cores read the right operand of a product of i8 along its inner axis"
        case DescribedProduct():
            if loop.inner % loop.block:
                return "boxes reach over the end of the inner axis"
        case Hinted():
            work = loop.work
            if isinstance(work, DescribedProduct) and (work.specialised or work.store != "pointers"):
                return "the options of a hinted loop are said once, and its results are stored through pointers"
            return problem(work)
        case BoxReduction():
            if loop.dtype not in REDUCED[loop.kind]:
                return f"there is no {loop.kind} of {loop.dtype} in memory"
    if isinstance(loop, Product | DescribedProduct) and shared_bytes(loop) > SHARED_BYTES:
        return "the stages do not fit in shared memory"
    return ""


def shared_bytes(product: Product | DescribedProduct) -> int:
    """Shared memory of all stages, and of the result on its way out."""
    stage = (product.m + product.n) * product.block * DTYPE_BITS[product.dtype] // 8
    return product.stages * stage + 4 * product.m * product.n


def half_a_slot(loop: BoxCopy | BoxReduction) -> bool:
    """Whether a pipelined load puts boxes where TMA cannot: slots begin at multiples of `TMA_SLOT` bytes."""
    return loop.stages > 1 and loop.rows * loop.columns * DTYPE_BITS[loop.dtype] // 8 % TMA_SLOT > 0
