"""Shared memory as arrays: allocations, views of them, copies. What is copied asynchronously is there at once."""

import re
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.accesses import updated_value
from tridiff.fuzz.evaluate.constants import undefined
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.shapes import along
from tridiff.fuzz.evaluate.table import gives, means
from tridiff.fuzz.evaluate.types import Type

_PLAIN = re.compile(r"#ttg\.swizzled_shared<\{[^}]*maxPhase = 1, order = \[([\d, ]*)\]\}>")


def _axes(machine: Any, kind: Type) -> tuple[int, ...] | None:
    """A buffer's axes as they lie in memory, outermost first; None for layouts that do more than to order them."""
    found = _PLAIN.fullmatch(machine.module.layouts.get(kind.layout, kind.layout))
    if not found:
        return None
    order = [int(one) for one in found[1].split(",")]
    further = len(kind.shape) - len(order)  # of several buffers
    return (*range(further), *(further + one for one in reversed(order)))


def _turned_back(array: Array, axes: tuple[int, ...]) -> Array:
    return array.transpose(np.argsort(axes))


@means("ttg.local_alloc")
def allocated(machine: Any, operation: Operation, values: list[Any]) -> Any:
    axes = _axes(machine, operation.type)
    made = np.array(values[0] if values else undefined(operation.type))
    return made if axes is None else _turned_back(np.ascontiguousarray(made.transpose(axes)), axes)


@means("ttg.memdesc_reinterpret")
def read_otherwise(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """The same bytes as elements of another type, shape and order."""
    source, to = operation.types[0], operation.type
    axes, others = _axes(machine, source), _axes(machine, to)
    if axes is None or others is None:
        raise NotEvaluated("op ttg.memdesc_reinterpret of a layout that is not plain")
    lying = values[0].transpose(axes)
    if not lying.flags.c_contiguous:
        raise NotEvaluated("op ttg.memdesc_reinterpret of a part of a buffer")
    elements = lying.reshape(-1).view(np.uint8)
    size = int(np.prod(to.shape)) * to.dtype.itemsize
    if size > elements.size:
        raise NotEvaluated("op ttg.memdesc_reinterpret beyond its buffer")
    return _turned_back(elements[:size].view(to.dtype).reshape([to.shape[one] for one in others]), others)


@gives("ttg.local_load")
def loaded(operation: Operation, one: Array, *_: Array) -> Any:
    """Of a buffer, and perhaps a token."""
    return np.array(one)


@gives("ttg.local_store")
def stored(operation: Operation, value: Array, buffer: Array) -> Any:
    buffer[...] = value


@gives("ttg.memdesc_index")
def indexed(operation: Operation, buffers: Array, place: Array) -> Any:
    """Of a number that is none of them, a buffer that holds nothing: the address alone does no harm."""
    number = int(place)
    return buffers[number] if 0 <= number < len(buffers) else np.array(undefined(operation.type))


@gives("ttg.memdesc_reshape")
def reshaped(operation: Operation, one: Array) -> Any:
    found = one.reshape(operation.type.shape)
    if not np.shares_memory(found, one):
        raise NotEvaluated("op ttg.memdesc_reshape of a view that is not contiguous")
    return found


@gives("ttg.memdesc_subslice")
def sliced(operation: Operation, one: Array) -> Any:
    found = re.search(r"\[([\d, ]*)\]", operation.head)
    if not found:
        raise NotEvaluated(f"op ttg.memdesc_subslice {operation.head[:40]}")
    ranges = zip(map(int, found[1].split(",")), operation.type.shape, strict=True)
    return one[tuple(slice(begin, begin + size) for begin, size in ranges)]


@means("ttg.async_copy_global_to_local")
def copied(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """Pointers and buffer, then `mask` and `other` by word."""
    pointers, buffer = np.asarray(values[0]), values[1]
    named: dict[str, Array] = dict(zip(
        [one for one in operation.words if one in ("mask", "other")], values[2:], strict=True))
    active = np.broadcast_to(named.get("mask", np.asarray(True)), pointers.shape)
    kind = Type(operation.types[0].pointee, pointers.shape)
    # Lanes that are masked off and have no other are zeros: cp.async fills them.
    other = named.get("other", np.zeros(pointers.shape, kind.dtype))
    buffer[...] = machine.memory.load(pointers, active, np.asarray(other))
    return np.asarray(0)


@gives("ttg.local_scatter")
def scattered(operation: Operation, buffer: Array, places: Array, value: Array) -> Any:
    """Of elements that go to one place the last."""
    buffer[along(operation, buffer, places)] = value


@gives("ttg.local_atomic_scatter_rmw")
def updated(operation: Operation, buffer: Array, places: Array, value: Array, *mask: Array) -> Any:
    """Element by element in row-major order; the values that were there before."""
    chosen = np.broadcast_arrays(*along(operation, buffer, places))
    found = np.array(undefined(operation.type))
    for lane in np.ndindex(places.shape):
        if mask and not np.broadcast_to(mask[0], places.shape)[lane]:
            continue
        place = tuple(int(one[lane]) for one in chosen)
        old = np.asarray(buffer[place])
        found[lane] = old
        buffer[place] = updated_value(operation.words[0], old, np.asarray(value[lane]))
    return found
