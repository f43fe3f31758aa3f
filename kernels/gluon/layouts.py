"""Layouts as plain data: how a tensor lies in registers, how a buffer lies in shared memory. Imports msgspec only.

Records mirror the layouts of Gluon; `constructor` is the Gluon expression of one. Bases follow the convention of
linear layouts: bit k of a register, lane, warp or offset number contributes basis k (a coordinate), and
contributions are combined with exclusive or. `tridiff.kernels.gluon.memory` computes with shared layouts.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from msgspec import Meta

from tridiff.kernels.record import Record

MAX_RANK = 5
LANES = 32
"""Threads of a warp."""

Extent = Annotated[int, Meta(ge=1, le=1 << 14)]
Axis = Annotated[int, Meta(ge=0, lt=MAX_RANK)]
Extents = Annotated[tuple[Extent, ...], Meta(min_length=1, max_length=MAX_RANK)]
Order = Annotated[tuple[Axis, ...], Meta(min_length=1, max_length=MAX_RANK)]
Basis = Annotated[tuple[Annotated[int, Meta(ge=0, lt=1 << 14)], ...], Meta(min_length=1, max_length=MAX_RANK)]
Bases = Annotated[tuple[Basis, ...], Meta(max_length=16)]


class Blocked(Record, tag="blocked"):
    """Tiles of `size_per_thread` elements per thread, threads of a warp and warps in a grid, `order` from the
    fastest axis on. A tensor larger than the tile repeats it in registers, a smaller one is held by several threads."""

    size_per_thread: Extents
    threads_per_warp: Extents
    warps_per_cta: Extents
    order: Order


class Slice(Record, tag="slice"):
    """What remains of `parent` when its axis `dim` is reduced away."""

    dim: Axis
    parent: Distributed

    def whole(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Of the tensor that `parent` lays out, whose slice has this shape. Where the parent is not made for one, its
        axis may have length 1."""
        extent = self.parent.shape[self.dim] if isinstance(self.parent, Linear) else 1
        return (*shape[:self.dim], extent, *shape[self.dim:])


class Linear(Record, tag="linear"):
    """Explicit bases of registers, lanes and warps for tensors of `shape`; a zero basis repeats elements."""

    register: Bases
    lane: Bases
    warp: Bases
    shape: Extents


class Mma(Record, tag="mma"):
    """Accumulator of a tensor core instruction: version 2 (mma.sync) or 3 (wgmma, four warps together)."""

    version: Literal[2, 3]
    warps_per_cta: Extents
    instruction: Extents


class DotOperand(Record, tag="dot_operand"):
    """Operand 0 (left) or 1 (right) of a dot whose result has the layout `parent`; k_width: elements along k that
    a thread holds together."""

    operand: Literal[0, 1]
    parent: Mma | Blocked
    k_width: Annotated[int, Meta(ge=0, le=8)]


Distributed = Blocked | Slice | Linear | Mma | DotOperand
"""Layouts of tensors in registers."""


class Swizzled(Record, tag="swizzled"):
    """Rows along order[0]; groups of `vec` elements of a row are exchanged by exclusive or with the row's phase,
    (row / per_phase) % max_phase. vec = max_phase = 1 is plain memory."""

    vec: Extent
    per_phase: Extent
    max_phase: Extent
    order: Order


class Padded(Record, tag="padded"):
    """Offsets by bases, then `padding` unused elements after every `interval`; pairs add up."""

    pairs: Annotated[tuple[tuple[Extent, Extent], ...], Meta(min_length=1, max_length=4)]
    offset: Bases
    shape: Extents


def vector(run: int, *, bits: int) -> int:
    """Elements of `bits` bits in one access to shared memory, of at most 16 bytes, where `run` lie side by side."""
    return min(run, max(128 // bits, 1))


NvmmaRow = Literal[0, 32, 64, 128]
Bits = Literal[8, 16, 32, 64]
"""Of an element in memory."""


class Nvmma(Record, tag="nvmma"):
    """What TMA and wgmma read: eight rows of `swizzle` bytes, swizzled in groups of 16 bytes."""

    swizzle: NvmmaRow
    bits: Bits
    rank: Annotated[int, Meta(ge=1, le=MAX_RANK)]
    transposed: bool = False


class SharedLinear(Record, tag="shared_linear"):
    """Offsets by bases; an invertible map for buffers of exactly that size."""

    offset: Bases
    alignment: Annotated[int, Meta(ge=1, le=1024)] = 16


Shared = Swizzled | Padded | Nvmma | SharedLinear
"""Layouts of buffers in shared memory."""


def log2(number: int) -> int:
    """Exponent of a power of two."""
    return number.bit_length() - 1


def power_of_two(*numbers: int) -> bool:
    return all(n > 0 and n & (n - 1) == 0 for n in numbers)


def untransposed(shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the array whose transposition by `order`, () for the natural one, has `shape`."""
    own = list(shape)
    for axis, extent in zip(order, shape, strict=False):
        own[axis] = extent
    return tuple(own)


def strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Of a row-major array, in elements."""
    return tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))


def row_major(axes: int) -> Swizzled:
    """Plain memory with the last axis innermost."""
    return Swizzled(1, 1, 1, tuple(reversed(range(axes))))


def rank(layout: Distributed | Shared) -> int:
    """Number of axes."""
    match layout:
        case Blocked() | Swizzled():
            return len(layout.order)
        case Slice():
            return rank(layout.parent) - 1
        case Linear() | Padded():
            return len(layout.shape)
        case Mma():
            return len(layout.warps_per_cta)
        case DotOperand():
            return rank(layout.parent)
        case Nvmma():
            return layout.rank
        case SharedLinear():
            return len(layout.offset[0]) if layout.offset else 0


def _lists(bases: Bases) -> str:
    return str([*map(list, bases)])


def constructor(layout: Distributed | Shared) -> str:
    """The Gluon expression that makes the layout, valid in every supported version."""
    match layout:
        case Blocked():
            fields = (layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, layout.order)
            return f"gl.BlockedLayout({', '.join(map(str, map(list, fields)))})"
        case Slice():
            return f"gl.SliceLayout({layout.dim}, {constructor(layout.parent)})"
        case Linear():
            bases = (layout.register, layout.lane, layout.warp)
            return f"gl.DistributedLinearLayout({', '.join(map(_lists, bases))}, [], {list(layout.shape)})"
        case Mma():
            return (f"gl.NVMMADistributedLayout([{layout.version}, 0], {list(layout.warps_per_cta)}, "
                    f"{list(layout.instruction)})")
        case DotOperand():
            return f"gl.DotOperandLayout({layout.operand}, {constructor(layout.parent)}, {layout.k_width})"
        case Swizzled():
            return (f"gl.SwizzledSharedLayout({layout.vec}, {layout.per_phase}, {layout.max_phase}, "
                    f"{list(layout.order)})")
        case Padded():
            return f"gl.PaddedSharedLayout({_lists(layout.pairs)}, {_lists(layout.offset)}, [], {list(layout.shape)})"
        case Nvmma():
            return (f"gl.NVMMASharedLayout({layout.swizzle}, {layout.bits}, rank={layout.rank}, "
                    f"transposed={layout.transposed})")
        case SharedLinear():
            return f"gl.SharedLinearLayout({_lists(layout.offset)}, [], {layout.alignment})"


def distributed_problem(layout: Distributed, *, shape: tuple[int, ...], warps: int) -> str:
    """Why a tensor of `shape` cannot have this layout in a kernel of `warps` warps; "" if it can (contract:
    ttg_ops.md §3, convert_layout)."""
    if rank(layout) != len(shape):
        return f"a layout of rank {rank(layout)} for a tensor of rank {len(shape)}"
    if not power_of_two(*shape):
        return f"shape {shape} is not made of powers of two"
    match layout:
        case Slice():
            parent = rank(layout.parent)
            if not 0 <= layout.dim < parent or parent < 2:
                return f"slice along axis {layout.dim} of a layout of rank {parent}"
            return distributed_problem(layout.parent, shape=layout.whole(shape), warps=warps)
        case Blocked():
            return _blocked_problem(layout, warps=warps)
        case Linear():
            return _linear_problem(layout, shape=shape, warps=warps)
        case Mma():
            return _mma_problem(layout, warps=warps)
        case DotOperand():
            if isinstance(layout.parent, Blocked):
                if layout.k_width != 0:
                    return "an operand of a blocked dot has k_width 0"
                return _blocked_problem(layout.parent, warps=warps)
            if layout.parent.version == 3 and layout.operand != 0:
                return "only the left operand of wgmma lies in registers"
            if layout.k_width not in (1, 2, 4, 8):
                return "k_width is 1, 2, 4 or 8"
            return _mma_problem(layout.parent, warps=warps)


def _blocked_problem(layout: Blocked, *, warps: int) -> str:
    n = len(layout.order)
    fields = (layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta)
    if any(len(field) != n for field in fields) or sorted(layout.order) != list(range(n)):
        return "the fields of a blocked layout differ in rank"
    if not all(power_of_two(*field) for field in fields):
        return "a blocked layout has an extent that is no power of two"
    if math.prod(layout.threads_per_warp) != LANES or math.prod(layout.warps_per_cta) != warps:
        return f"a blocked layout not for {LANES} lanes and {warps} warps"
    return "" if math.prod(layout.size_per_thread) <= 64 else "a blocked layout with more than 64 elements per thread"


def _linear_problem(layout: Linear, *, shape: tuple[int, ...], warps: int) -> str:
    if layout.shape != shape:
        return f"a linear layout for {layout.shape}, not {shape}"
    if 1 << len(layout.lane) != LANES or 1 << len(layout.warp) != warps:
        return f"a linear layout not for {LANES} lanes and {warps} warps"
    every = (*layout.register, *layout.lane, *layout.warp)
    if any(len(basis) != len(shape) for basis in every):
        return "a basis of another rank than the layout"
    if any(value >= extent for basis in every for value, extent in zip(basis, shape, strict=True)):
        return "a basis outside the shape"
    # Distributed linear layouts are permutations of the axes' bits: a basis has at most one bit.
    flat = [_flat(basis, shape) for basis in every if any(basis)]
    if not power_of_two(*flat) or len(set(flat)) != len(flat):
        return "bases of a linear layout are distinct single bits or zero"
    return "" if 1 << len(flat) == math.prod(shape) else "the bases of a linear layout do not reach every element"


def _mma_problem(layout: Mma, *, warps: int) -> str:
    n, instruction = len(layout.warps_per_cta), layout.instruction
    if math.prod(layout.warps_per_cta) != warps or not power_of_two(*layout.warps_per_cta):
        return f"an MMA layout not for {warps} warps"
    if layout.version == 2:
        wanted = (16, 8) if n == 2 else (1, 16, 8)
        return "" if n in (2, 3) and instruction == wanted else f"mma.sync gives tiles of {wanted}"
    if n != 2 or warps % 4 or layout.warps_per_cta[0] % 4:
        return "wgmma needs groups of four warps along the rows"
    if len(instruction) != 3 or instruction[0] != 16 or instruction[1] not in (8, 16, 32, 64, 128, 256) or (
            instruction[2] not in (8, 16, 32)):
        return "wgmma gives tiles of 16 rows by 8 to 256 columns, 8, 16 or 32 along k"
    return ""


def _flat(coordinate: tuple[int, ...], shape: tuple[int, ...]) -> int:
    number = 0
    for value, extent in zip(coordinate, shape, strict=True):
        number = number * extent + value
    return number
