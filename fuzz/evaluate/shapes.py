"""Movements of elements: ranges, splats, broadcasts, transpositions, joins. Layouts change no value."""

from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import means


@means("tt.make_range")
def numbers(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.arange(operation.number("start"), operation.number("end"), dtype=np.int32)


@means("tt.splat")
def splat(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.broadcast_to(np.asarray(values[0]), operation.type.shape)


@means("tt.unsplat")
def unsplat(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.asarray(values[0]).reshape(())


@means("tt.broadcast")
def broadcast(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.broadcast_to(values[0], operation.type.shape)


@means("tt.expand_dims")
def expanded(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.expand_dims(values[0], operation.number("axis"))


@means("tt.reshape")
def reshaped(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """In row-major order, which is one of those that `allow_reorder` leaves open."""
    return np.reshape(values[0], operation.type.shape)


@means("tt.trans")
def transposed(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.transpose(values[0], operation.numbers("order"))


@means("tt.join")
def joined(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.stack(values, axis=-1)


@means("tt.split")
def halves(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return values[0][..., 0], values[0][..., 1]


@means("tt.cat")
def catenated(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.concatenate(values)


def along(operation: Operation, source: Array, places: Array) -> tuple[Array, ...]:
    """The elements of a block, of which those along one axis are given by number."""
    axis = operation.number("axis")
    if np.any((places < 0) | (places >= source.shape[axis])):
        raise NotEvaluated(f"op {operation.name} with an index outside of its block")
    others = np.ogrid[tuple(slice(size) for size in places.shape)]
    return tuple(places if one == axis else others[one] for one in range(places.ndim))


@means("tt.gather", "ttg.local_gather")
def gathered(machine: Any, operation: Operation, values: list[Any]) -> Any:
    source, places = values
    return np.array(source[along(operation, source, places)])


@means("tt.histogram")
def histogram(machine: Any, operation: Operation, values: list[Any]) -> Any:
    counted = values[0][values[1]] if len(values) > 1 else values[0]
    bins = operation.type.shape[0]
    inside = counted[(counted >= 0) & (counted < bins)]
    return np.bincount(inside.reshape(-1), minlength=bins).astype(operation.type.dtype)


@means("ttg.convert_layout", "tt.optimization_barrier", "ttng.warp_group_dot_wait", "amdg.in_thread_transpose")
def unchanged(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return values[0] if len(operation.results) == 1 else tuple(values)
