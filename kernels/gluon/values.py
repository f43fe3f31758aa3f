"""What is known of the values of a chain while it is checked, and what the rules of all steps share."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tridiff.kernels.gluon.chain import AtomicOperator, DType, Global
from tridiff.kernels.gluon.layouts import LANES, Bits, Distributed, distributed_problem
from tridiff.kernels.gluon.memory import Placement

Integers = npt.NDArray[np.int64]

WIDTH: Mapping[str, Bits] = {
    "i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64, "fp8e4nv": 8,
    "fp8e5": 8, "bf16": 16, "fp16": 16, "fp32": 32, "fp64": 64}
"""Bits of an element in memory."""

EXACT = {"bf16": 1 << 8, "fp16": 1 << 11, "fp32": 1 << 24, "fp64": 1 << 53}
"""Up to here a float type holds every whole number."""

MAX_ELEMENTS = 1 << 13
MAX_PER_THREAD = 128
MAX_SHARED_BYTES = 96 << 10
"""Shared memory of all buffers together; what layout conversions need comes on top."""

_INTEGERS: tuple[DType, ...] = ("i32", "u32", "i64", "u64")
ATOMIC_DTYPES: Mapping[AtomicOperator, tuple[DType, ...]] = {
    "add": (*_INTEGERS, "fp16", "bf16", "fp32", "fp64"), "max": _INTEGERS, "min": _INTEGERS, "and": _INTEGERS,
    "or": _INTEGERS, "xor": _INTEGERS, "xchg": (*_INTEGERS, "fp32", "fp64")}
"""Element types with shared-memory atomics (contract: ttg_ops.md §3 and §7.4)."""


class Illegal(Exception):
    """A chain that must not be launched; the message says which step breaks which rule."""


@dataclass(frozen=True)
class Tensor:
    """A tensor in registers. between: bounds that all its values keep, as whole numbers. known: its values, where no
    input takes part in them. settled: False for what atomics return, whose order of arrival is open."""

    dtype: DType
    shape: tuple[int, ...]
    layout: Distributed | None
    between: tuple[int, int] | None = None
    known: Integers | None = None
    settled: bool = True

    @property
    def held(self) -> Distributed:
        """The layout of a tensor that is no scalar."""
        assert self.layout is not None
        return self.layout


@dataclass
class Memory:
    """What is known of one buffer: which bytes hold a value, bounds of its elements, whether it is alive."""

    written: npt.NDArray[np.bool_]
    between: tuple[int, int] | None = None
    fresh: bool = True
    alive: bool = True
    exchanging: bool = False
    """Atomics ran and no barrier since: nothing else may look."""


@dataclass(frozen=True)
class View:
    """A view of the buffer that step `buffer` allocates. places: byte offset of every element. whole: where the
    uncut view lies, for the rules of subslices. slots: length of the leading ring axis, 0 once it is indexed."""

    buffer: int
    dtype: DType
    shape: tuple[int, ...]
    whole: Placement
    kind: str
    places: Integers
    slots: int = 0
    cut: bool = False
    foreign: bool = False
    """Seen as other elements than those stored."""


Type = Tensor | View | None


def as_tensor(made: Type) -> Tensor:
    """Of a value that a legal chain uses as a tensor."""
    assert isinstance(made, Tensor)
    return made


@dataclass
class State:
    """What is known after some steps. arrays may still grow while a chain is being made."""

    warps: int
    arrays: Sequence[Global]
    types: list[Type] = field(default_factory=list)
    memory: dict[int, Memory] = field(default_factory=dict)
    outputs: set[int] = field(default_factory=set)
    shared_bytes: int = 0


def require(condition: bool, why: str) -> None:
    if not condition:
        raise Illegal(why)


def tensor(state: State, number: int) -> Tensor:
    found = state.types[number] if number < len(state.types) else None
    if not isinstance(found, Tensor):
        raise Illegal(f"value {number} is no tensor")
    return found


def settled(state: State, number: int) -> Tensor:
    found = tensor(state, number)
    require(found.settled, f"value {number} depends on the order of atomics")
    return found


def view_of(state: State, number: int, *, ring: bool = False) -> View:
    found = state.types[number] if number < len(state.types) else None
    if not isinstance(found, View):
        raise Illegal(f"value {number} is no view")
    require(state.memory[found.buffer].alive, f"the buffer of value {number} was freed")
    require(ring or not found.slots, f"value {number} is a ring and must be indexed first")
    return found


def new_tensor(state: State, dtype: DType, shape: tuple[int, ...], layout: Distributed, *,
               between: tuple[int, int] | None = None, known: Integers | None = None) -> Tensor:
    """A tensor type, checked."""
    why = distributed_problem(layout, shape=shape, warps=state.warps)
    require(not why, why)
    size = math.prod(shape)
    require(size <= most_elements(state.warps), f"a tensor of {size} elements is too large")
    return Tensor(dtype, shape, layout, between, known)


def most_elements(warps: int) -> int:
    """Of one tensor in a kernel of so many warps."""
    return min(MAX_ELEMENTS, MAX_PER_THREAD * LANES * warps)


def order_of(order: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """A permutation of the axes, the natural one if it is not given."""
    if not order:
        return tuple(range(rank))
    require(sorted(order) == list(range(rank)), f"order {order} is no permutation of {rank} axes")
    return order


def axis_of(axis: int, shape: tuple[int, ...]) -> int:
    require(axis < len(shape), f"axis {axis} of shape {shape}")
    return axis


def input_array(state: State, number: int) -> Global:
    require(number < len(state.arrays), f"array {number} does not exist")
    array = state.arrays[number]
    require(not array.output, f"array {array.name} is an output")
    return array


def output_array(state: State, number: int, dtype: str, shape: tuple[int, ...]) -> None:
    require(number < len(state.arrays), f"array {number} does not exist")
    array = state.arrays[number]
    require(array.output, f"array {array.name} is an input")
    require(number not in state.outputs, f"array {array.name} is stored twice")
    require((array.dtype, array.shape) == (dtype, shape),
             f"array {array.name} is {array.dtype} {array.shape}, not {dtype} {shape}")
    state.outputs.add(number)


def bounded(dtype: str, op: str, between: tuple[int, int] | None) -> tuple[int, int] | None:
    """Bounds of a result; for floats they must be such that nothing is rounded."""
    if dtype in EXACT:
        require(op in ("add", "min", "max"), f"{op} of floats")
        require(between is not None, "arithmetic on floats that are no small whole numbers")
        assert between is not None
        require(max(-between[0], between[1]) <= EXACT[dtype], "sums beyond what the type holds exactly")
        return between
    require(dtype[0] in "iu", f"arithmetic on {dtype}")
    return None


def hull(op: str, one: tuple[int, int] | None, other: tuple[int, int] | None, times: int = 1) -> (
        tuple[int, int] | None):
    if one is None or other is None:
        return None
    if op == "add":
        low, high = one[0] + times * other[0], one[1] + times * other[1]
        return min(low, one[0]), max(high, one[1])
    return min(one[0], other[0]), max(one[1], other[1])


def indices(index: Tensor, extent: int) -> None:
    require(index.dtype in ("i8", "i16", "i32", "i64", "u32"), f"indices of type {index.dtype}")
    require(index.between is not None and 0 <= index.between[0] and index.between[1] < extent,
             f"indices that are not known to lie below {extent}")
