"""Movements of elements: ranges, splats, broadcasts, transpositions, joins. Layouts change no value."""

from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives


@gives("tt.make_range")
def numbers(operation: Operation) -> Any:
    return np.arange(operation.number("start"), operation.number("end"), dtype=np.int32)


@gives("tt.unsplat")
def unsplat(operation: Operation, one: Array) -> Any:
    return one.reshape(())


@gives("tt.broadcast", "tt.splat")
def broadcast(operation: Operation, one: Array) -> Any:
    return np.broadcast_to(one, operation.type.shape)


@gives("tt.expand_dims")
def expanded(operation: Operation, one: Array) -> Any:
    return np.expand_dims(one, operation.number("axis"))


@gives("tt.reshape")
def reshaped(operation: Operation, one: Array) -> Any:
    """In row-major order, which is one of those that `allow_reorder` leaves open."""
    return np.reshape(one, operation.type.shape)


@gives("tt.trans", "ttg.memdesc_trans")
def transposed(operation: Operation, one: Array) -> Any:
    return np.transpose(one, operation.numbers("order"))


@gives("tt.join")
def joined(operation: Operation, *values: Array) -> Any:
    return np.stack(values, axis=-1)


@gives("tt.split")
def halves(operation: Operation, one: Array) -> Any:
    return one[..., 0], one[..., 1]


@gives("tt.cat")
def catenated(operation: Operation, *values: Array) -> Any:
    return np.concatenate(values)


def along(operation: Operation, source: Array, places: Array) -> tuple[Array, ...]:
    """The elements of a block, of which those along one axis are given by number."""
    axis = operation.number("axis")
    if np.any((places < 0) | (places >= source.shape[axis])):
        raise NotEvaluated(f"op {operation.name} with an index outside of its block")
    others = np.ogrid[tuple(slice(size) for size in places.shape)]
    return tuple(places if one == axis else others[one] for one in range(places.ndim))


@gives("tt.gather", "ttg.local_gather")
def gathered(operation: Operation, source: Array, places: Array) -> Any:
    return np.array(source[along(operation, source, places)])


@gives("tt.histogram")
def histogram(operation: Operation, counted: Array, *mask: Array) -> Any:
    counted = counted[mask[0]] if mask else counted
    bins = operation.type.shape[0]
    inside = counted[(counted >= 0) & (counted < bins)]
    return np.bincount(inside.reshape(-1), minlength=bins).astype(operation.type.dtype)


@gives("ttg.convert_layout", "tt.optimization_barrier", "ttng.warp_group_dot_wait", "amdg.in_thread_transpose")
def unchanged(operation: Operation, *values: Array) -> Any:
    return values[0] if len(operation.results) == 1 else values
