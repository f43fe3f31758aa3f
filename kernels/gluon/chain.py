"""A chain of data movements in one kernel, as plain data. Imports msgspec only.

A chain is a list of steps; step number k defines value k, and steps refer to earlier values by number. A value is
either a tensor in registers or a view of a buffer in shared memory; steps that only act define nothing. What a step
means is said with numpy's names; `kernels.gluon.check` says which chains are legal, `kernels.gluon.emit` writes the
kernel, `tridiff.fuzz.kinds.chains.evaluate` computes what it must give (contract: ttg_ops.md §3 and §5).
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from tridiff.kernels.gluon.layouts import Axis, Distributed, Extents, Order, Shared
from tridiff.kernels.record import Record

MAX_STEPS = 96
MAX_ARRAYS = 32

Value = Annotated[int, Meta(ge=0, lt=MAX_STEPS)]
ArrayNumber = Annotated[int, Meta(ge=0, lt=MAX_ARRAYS)]
Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,15}\Z")]
DType = Literal["i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp8e4nv", "fp8e5", "bf16", "fp16", "fp32",
                "fp64"]
Decoded = Literal["fp16", "bf16"]
Small = Annotated[int, Meta(ge=-(1 << 15), le=1 << 15)]
Turn = Annotated[tuple[Axis, ...], Meta(max_length=5)]
"""An order of axes; empty for the natural one."""
Operator = Literal["add", "xor", "and", "or", "min", "max"]
AtomicOperator = Literal["add", "max", "min", "and", "or", "xor", "xchg"]


class _Step(Record, omit_defaults=True):
    pass


class Global(Record, omit_defaults=True):
    """An array in global memory, row-major; i1 is stored as bytes 0 and 1. A scalar has shape (1,).

    between: a promise that every value is a whole number between these two; indices and sums of floats need one.
    """

    name: Name
    dtype: DType
    shape: Extents
    output: bool = False
    between: tuple[Small, Small] | UnsetType = UNSET


class Limit(Record):
    """A mask: true where the index along `axis` is below `count`."""

    axis: Axis
    count: Annotated[int, Meta(ge=0, le=1 << 14)]


# -- tensors


class Load(_Step, tag="load"):
    """`array.transpose(order)`; where the mask is false, `other`. pointers: the layout in which the pointers are
    made before they are converted to `layout`."""

    array: ArrayNumber
    layout: Distributed
    order: Turn = ()
    mask: Limit | UnsetType = UNSET
    other: Annotated[int, Meta(ge=-8, le=8)] = 0
    pointers: Distributed | UnsetType = UNSET


class Ramp(_Step, tag="ramp"):
    """`((sum of strides * indices + start) ^ flip) & mask`, in i32, then converted to `dtype`."""

    shape: Extents
    layout: Distributed
    strides: Annotated[tuple[Small, ...], Meta(min_length=1, max_length=5)]
    dtype: DType = "i32"
    start: Small = 0
    flip: Annotated[int, Meta(ge=0, lt=1 << 14)] = 0
    mask: Annotated[int, Meta(ge=-1, lt=1 << 30)] = -1


class Convert(_Step, tag="convert"):
    """The same tensor in another layout."""

    source: Value
    layout: Distributed


class Transpose(_Step, tag="transpose"):
    """`source.transpose(order)`, converted to `layout` from whatever layout the compiler infers."""

    source: Value
    order: Order
    layout: Distributed


class Regroup(_Step, tag="regroup"):
    """`source.reshape(shape)`, converted to `layout` from whatever layout the compiler infers."""

    source: Value
    shape: Extents
    layout: Distributed


class Fp4(_Step, tag="fp4"):
    """Bytes to pairs of e2m1 numbers, low nibble first, along `axis`, which becomes twice as long; converted to
    `layout`."""

    source: Value
    dtype: Decoded
    axis: Axis
    layout: Distributed


class Combine(_Step, tag="combine"):
    """`left op right`, element by element; both in one layout."""

    left: Value
    right: Value
    op: Operator


class Reduce(_Step, tag="reduce"):
    """Reduction along `axis`; the result has the slice of the source's layout, or is a scalar."""

    source: Value
    axis: Axis
    op: Operator


class Scan(_Step, tag="scan"):
    """Inclusive scan along `axis`, from the end if `reverse`."""

    source: Value
    axis: Axis
    op: Operator
    reverse: bool = False


class Take(_Step, tag="take"):
    """`take_along_axis(source, index, axis)` in registers."""

    source: Value
    index: Value
    axis: Axis


class Out(_Step, tag="out"):
    """Store a tensor to an output array: `array.transpose(order) = source`."""

    source: Value
    array: ArrayNumber
    order: Turn = ()


# -- buffers


class Alloc(_Step, tag="alloc"):
    """A buffer; with `slots`, that many of them behind one another. source: what it holds at first."""

    dtype: DType
    shape: Extents
    layout: Shared
    slots: Annotated[int, Meta(ge=0, le=16)] = 0
    source: Value | UnsetType = UNSET


class Store(_Step, tag="store"):
    """`view[...] = source`."""

    view: Value
    source: Value


class Read(_Step, tag="read"):
    """The view's elements as a tensor."""

    view: Value
    layout: Distributed


class Index(_Step, tag="index"):
    """`view[slot]`; running: the slot is known at run time only."""

    view: Value
    slot: Annotated[int, Meta(ge=0, lt=16)]
    running: bool = False


class Subslice(_Step, tag="subslice"):
    """`view[..., start:start + length, ...]` along `axis`."""

    view: Value
    axis: Axis
    start: Annotated[int, Meta(ge=0, lt=1 << 14)]
    length: Annotated[int, Meta(ge=1, le=1 << 14)]


class Permute(_Step, tag="permute"):
    """`view.transpose(order)`."""

    view: Value
    order: Order


class Reshape(_Step, tag="reshape"):
    """`view.reshape(shape)`."""

    view: Value
    shape: Extents


class Reinterpret(_Step, tag="reinterpret"):
    """The same bytes as another buffer."""

    view: Value
    dtype: DType
    shape: Extents
    layout: Shared


class Gather(_Step, tag="gather"):
    """`take_along_axis(view, index, axis)`."""

    view: Value
    index: Value
    axis: Axis


class Scatter(_Step, tag="scatter"):
    """`put_along_axis(view, index, source, axis)` after broadcasting index and source against each other; no element
    may be the target of two."""

    view: Value
    source: Value
    index: Value
    axis: Axis


class Atomic(_Step, tag="atomic"):
    """`view[target] = view[target] op source` for every element of source and index, in any order; the value is what
    stood there before. Elements whose mask is false do nothing and have no value."""

    view: Value
    source: Value
    index: Value
    axis: Axis
    op: AtomicOperator
    mask: Limit | UnsetType = UNSET


class Barrier(_Step, tag="barrier"):
    """All warps wait for one another."""


class Dealloc(_Step, tag="dealloc"):
    """The end of a buffer's life; `view` is the buffer itself."""

    view: Value


class Ring(_Step, tag="ring"):
    """A loop that copies `tiles` tiles from the rows of one array to those of another through a ring of `slots`
    buffers, storing `ahead` tiles ahead of reading. Arrays have the shape (tiles, *shape)."""

    source: ArrayNumber
    target: ArrayNumber
    shape: Extents
    layout: Shared
    written: Distributed
    read: Distributed
    slots: Annotated[int, Meta(ge=1, le=16)]
    ahead: Annotated[int, Meta(ge=0, lt=16)]
    tiles: Annotated[int, Meta(ge=1, le=32)]


Step = (Load | Ramp | Convert | Transpose | Regroup | Fp4 | Combine | Reduce | Scan | Take | Out | Alloc | Store | Read
        | Index | Subslice | Permute | Reshape | Reinterpret | Gather | Scatter | Atomic | Barrier | Dealloc | Ring)

VIEWS_OF_VIEWS = (Index, Subslice, Permute, Reshape, Reinterpret)
VIEW_STEPS = (Alloc, *VIEWS_OF_VIEWS)


class Chain(Record, tag="chain"):
    """One kernel of one block with `warps` warps."""

    warps: Annotated[int, Meta(ge=1, le=16)]
    arrays: Annotated[tuple[Global, ...], Meta(min_length=1, max_length=MAX_ARRAYS)]
    steps: Annotated[tuple[Step, ...], Meta(min_length=1, max_length=MAX_STEPS)]


def _operands(step: Step) -> dict[str, int]:
    """By field, the values that a step refers to; what a ring names are arrays."""
    fields = () if isinstance(step, Ring) else ("view", "source", "index", "left", "right")
    return {name: value for name in fields if isinstance(value := getattr(step, name, UNSET), int)}


def operands(step: Step) -> tuple[int, ...]:
    """Numbers of the values that a step refers to."""
    return tuple(_operands(step).values())


def renumbered(step: Step, numbers: dict[int, int]) -> Step:
    """The step with the values it refers to replaced."""
    changes = {name: numbers[value] for name, value in _operands(step).items()}
    return replace(step, **changes)


def with_step(chain: Chain, number: int, step: Step) -> Chain:
    """The chain with one step replaced."""
    return replace(chain, steps=(*chain.steps[:number], step, *chain.steps[number + 1:]))
