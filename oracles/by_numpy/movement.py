"""Data movement by numpy, exact to the bit (contract: ttg_ops.md §3).

A buffer in shared memory is simulated as bytes; a view is the array of the byte offsets of its elements, so that
index, slice, transpose and reshape are numpy's own, and a reinterpretation is another array of offsets. Arithmetic on
floats is done in double precision and must not need rounding. Shapes are those of the operands; nothing broadcasts
unless it says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import Array, dtype as dtype_info, name_of_array, numpy_dtype
from tridiff.oracles.errors import OracleError

Offsets = npt.NDArray[np.int64]

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
"""Values of the 16 four-bit floats."""

_UFUNCS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "xor": np.bitwise_xor, "and": np.bitwise_and, "or": np.bitwise_or, "min": np.minimum,
    "max": np.maximum,
}


@dataclass(frozen=True)
class View:
    """Elements of a simulated buffer. memory: its bytes, shared by all views. places: first byte of each element."""

    memory: npt.NDArray[np.uint8]
    places: Offsets
    dtype: str


@dataclass(frozen=True)
class Exchange:
    """What one atomic scatter did, as flat arrays over its elements, and what it returns.

    old: the values returned if the elements arrived in row-major order; 0 where inactive. hits: byte offset of the
    target of each. before: the target's value before the first arrival.
    """

    old: Array
    hits: Offsets
    before: Array
    values: Array
    active: npt.NDArray[np.bool_]
    op: str


# -- tensors


def load(array: Array, order: tuple[int, ...], mask: tuple[int, int] | None, other: int) -> Array:
    """`array.transpose(order)` (natural order if empty); where the index along mask[0] is not below mask[1], other."""
    value = array.transpose(order) if order else array
    if mask is None:
        return value
    axis, count = mask
    result = np.full(value.shape, other, dtype=np.float64 if dtype_info(name_of_array(array)).is_float else np.int64)
    result = result.astype(array.dtype)
    kept = tuple(slice(0, count) if k == axis else slice(None) for k in range(value.ndim))
    result[kept] = value[kept]
    return result


def ramp(shape: tuple[int, ...], strides: tuple[int, ...], start: int, flip: int, mask: int, dtype: str) -> Array:
    """`((sum of strides * indices + start) ^ flip) & mask`."""
    total = sum((grid * stride for grid, stride in zip(np.indices(shape), strides, strict=True)),
                start=np.full(shape, start))
    return ((total ^ flip) & mask).astype(numpy_dtype(dtype))


def transpose(value: Array, order: tuple[int, ...]) -> Array:
    """numpy's transpose."""
    return value.transpose(order)


def regroup(value: Array, shape: tuple[int, ...]) -> Array:
    """numpy's reshape."""
    return value.reshape(shape)


def fp4(packed: Array, axis: int, dtype: str) -> Array:
    """e2m1 numbers from bytes (..., n, ...) -> (..., 2n, ...): low nibble first along `axis`; -0 is kept."""
    table = np.array(E2M1, dtype=np.float64).astype(numpy_dtype(dtype))
    byte = packed.view(np.uint8)
    pairs = np.stack([table[byte & 15], table[byte >> 4]], axis=axis + 1)
    shape = tuple(2 * n if k == axis else n for k, n in enumerate(packed.shape))
    return pairs.reshape(shape)


def _wide(value: Array) -> tuple[Array, bool]:
    """Floats in double precision, in which whole numbers add without rounding."""
    is_float = dtype_info(name_of_array(value)).is_float
    return (value.astype(np.float64), True) if is_float else (value, False)


def combine(left: Array, right: Array, op: str) -> Array:
    """`left op right`; integers wrap."""
    one, _ = _wide(left)
    other, _ = _wide(right)
    return np.asarray(_UFUNCS[op](one, other)).astype(left.dtype)


def reduce(value: Array, axis: int, op: str) -> Array:
    """Reduction along `axis`, in the type of the value."""
    wide, is_float = _wide(value)
    keywords: dict[str, Any] = {} if op in ("min", "max") or is_float else {"dtype": value.dtype}
    return np.asarray(_UFUNCS[op].reduce(wide, axis=axis, **keywords)).astype(value.dtype)  # type: ignore[attr-defined]


def scan(value: Array, axis: int, op: str, reverse: bool) -> Array:
    """Inclusive scan along `axis`, from the end if `reverse`."""
    wide, is_float = _wide(value)
    turned = np.flip(wide, axis) if reverse else wide
    keywords: dict[str, Any] = {} if op in ("min", "max") or is_float else {"dtype": value.dtype}
    result = _UFUNCS[op].accumulate(turned, axis=axis, **keywords)  # type: ignore[attr-defined]
    return np.asarray(np.flip(result, axis) if reverse else result).astype(value.dtype)


def take(value: Array, index: Array, axis: int) -> Array:
    """numpy's take_along_axis."""
    return np.take_along_axis(value, index.astype(np.int64), axis)


# -- buffers


def buffer(places: Offsets, dtype: str) -> View:
    """A new buffer whose elements lie at `places` (bytes); it holds 0xCD until something is stored."""
    size = int(places.max()) + dtype_info(dtype).itemsize
    return View(np.full(size, 0xCD, np.uint8), places, dtype)


def _bytes(places: Offsets, dtype: str) -> Offsets:
    return places[..., None] + np.arange(dtype_info(dtype).itemsize, dtype=np.int64)


def store(view: View, value: Array) -> None:
    """Put `value` where the view looks."""
    raw = np.ascontiguousarray(value).view(np.uint8).reshape(*value.shape, -1)
    view.memory[_bytes(view.places, view.dtype)] = raw


def read(view: View) -> Array:
    """What the view sees."""
    raw = view.memory[_bytes(view.places, view.dtype)]
    return np.ascontiguousarray(raw).view(numpy_dtype(view.dtype)).reshape(view.places.shape)


def index(view: View, slot: int) -> View:
    """`view[slot]`."""
    return View(view.memory, view.places[slot], view.dtype)


def subslice(view: View, axis: int, start: int, length: int) -> View:
    """`view[..., start:start + length, ...]`."""
    cut = tuple(slice(start, start + length) if k == axis else slice(None) for k in range(view.places.ndim))
    return View(view.memory, view.places[cut], view.dtype)


def permute(view: View, order: tuple[int, ...]) -> View:
    """`view.transpose(order)`."""
    return View(view.memory, view.places.transpose(order), view.dtype)


def reshape(view: View, shape: tuple[int, ...]) -> View:
    """`view.reshape(shape)`."""
    return View(view.memory, view.places.reshape(shape), view.dtype)


def reinterpret(view: View, dtype: str, places: Offsets) -> View:
    """The bytes from the view's first one on, as elements at `places` (bytes from there)."""
    return View(view.memory, places + int(view.places.min()), dtype)


def _selected(view: View, index: Array, axis: int) -> View:
    """The elements that indices along `axis` select; the other coordinates are those of the index itself."""
    grid: list[Array] = list(np.indices(index.shape, sparse=True))
    grid[axis] = index.astype(np.int64)
    return View(view.memory, view.places[tuple(grid)], view.dtype)


def gather(view: View, index: Array, axis: int) -> Array:
    """`take_along_axis`; the index may be shorter than the view beside the axis."""
    return read(_selected(view, index, axis))


def scatter(view: View, value: Array, index: Array, axis: int) -> None:
    """`put_along_axis` after broadcasting; OracleError if two values have one target."""
    value, index = np.broadcast_arrays(value, index)
    chosen = _selected(view, index, axis)
    if np.unique(chosen.places).size != chosen.places.size:
        raise OracleError("two scattered values have one target; the result would depend on their order")
    store(chosen, value)


def atomic(view: View, value: Array, index: Array, axis: int, op: str, mask: tuple[int, int] | None) -> Exchange:
    """`view[target] = view[target] op value`, one element after the other in row-major order.

    op: add, min, max, and, or, xor, xchg. mask: (axis, count) as in `load`; elements beyond it are inactive.
    """
    value, index = np.broadcast_arrays(value, index)
    active = np.ones(value.shape, np.bool_)
    if mask is not None:
        active = np.broadcast_to(np.indices(value.shape, sparse=True)[mask[0]] < mask[1], value.shape)
    chosen = _selected(view, index, axis)
    hits, values, act = chosen.places.reshape(-1), np.ascontiguousarray(value).reshape(-1), active.reshape(-1)
    before = read(View(view.memory, hits, view.dtype))
    old = np.zeros_like(values)
    for number in np.flatnonzero(act):
        target = View(view.memory, hits[number:number + 1], view.dtype)
        old[number] = read(target)[0]
        store(target, applied(old[number:number + 1], values[number:number + 1], op))
    return Exchange(old.reshape(value.shape), hits, before, values, act, op)


def applied(old: Array, value: Array, op: str) -> Array:
    """What an atomic leaves behind."""
    return value.copy() if op == "xchg" else combine(old, value, op)
