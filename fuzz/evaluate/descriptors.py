"""Tensor descriptors: boxes of arrays in memory, and transfers of them, which are done at once.

A descriptor holds the address of an array, its extents, and its strides in bytes. What a box has outside of the array
is filled on the way in and left out on the way back.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.accesses import updated_value
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import VALUE, Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.partitions import barrier
from tridiff.fuzz.evaluate.table import means
from tridiff.fuzz.evaluate.types import Type

ZEROS, NANS = 1, 2
"""What TTIR numbers as padding."""


@dataclass(frozen=True)
class Descriptor:
    """extents in elements, strides in bytes, outermost first. box: the block that is transferred."""

    base: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: Type
    nan: bool

    def places(self, coordinates: list[Array]) -> tuple[Array, Array]:
        """Addresses of elements, and which of them lie in the array. coordinates: for each axis, of shapes that
        broadcast."""
        inside, address = np.asarray(True), np.asarray(self.base, dtype=np.int64)
        for one, extent, stride in zip(coordinates, self.extents, self.strides, strict=True):
            inside = inside & (one >= 0) & (one < extent)
            address = address + one.astype(np.int64) * stride
        return np.asarray(address), np.asarray(inside)

    def filler(self, shape: tuple[int, ...]) -> Array:
        value = np.nan if self.nan and self.box.dtype.kind not in "iub" else 0
        return np.full(shape, value).astype(self.box.dtype)


def _corners(starts: list[Any], shape: tuple[int, ...]) -> list[Array]:
    """The coordinates of a box's elements along each axis. shape: of the box, whose first axes may be left out where
    they have one element."""
    shape = (1,) * (len(starts) - len(shape)) + shape if len(shape) < len(starts) else shape
    return [np.asarray(int(start) + axis, dtype=np.int64) for start, axis in zip(
        starts, np.ogrid[tuple(slice(size) for size in shape)], strict=True)]


def _lists(operation: Operation, machine: Any) -> list[list[Any]]:
    """The values in brackets, list by list."""
    before = operation.before
    return [[machine[name] for name in VALUE.findall(inside)] for inside in re.findall(r"\[([^\]]*)\]", before)]


def _loaded(machine: Any, descriptor: Descriptor, coordinates: list[Array], shape: tuple[int, ...]) -> Array:
    address, inside = np.broadcast_arrays(*descriptor.places(coordinates))
    found: Array = machine.memory.load(address, inside, descriptor.filler(address.shape))
    return found.reshape(shape)


def _stored(machine: Any, descriptor: Descriptor, coordinates: list[Array], value: Array, kind: str = "") -> None:
    address, inside = np.broadcast_arrays(*descriptor.places(coordinates))
    value = np.asarray(value).reshape(address.shape)
    if kind:
        old = machine.memory.load(address, inside, descriptor.filler(address.shape))
        name = f"u{kind}" if kind in ("min", "max") and descriptor.box.element.startswith("ui") else kind
        value = updated_value(f"f{kind}" if kind in ("min", "max") and old.dtype.kind not in "iu" else name, old, value)
    machine.memory.store(address, value, inside)


@means("ttg.global_scratch_alloc")
def scratch(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.asarray(machine.scratch(operation.number("nbytes")), dtype=np.int64)


@means("ttng.tensormap_create")
def created(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """At an address in memory: lists innermost first, of the box, the extents, the strides and steps."""
    _, extents, strides, steps = ([int(one) for one in given] for given in _lists(operation, machine))
    if any(one != 1 for one in steps):
        raise NotEvaluated("op ttng.tensormap_create with steps")
    size = operation.types[1]
    inner = Type(size.pointee).dtype.itemsize
    machine.descriptors[int(values[0])] = Descriptor(
        base=int(values[1]), extents=tuple(one & 0xFFFFFFFF for one in extents[::-1]),
        strides=(*strides[::-1], inner), box=Type(size.pointee), nan=operation.number("fill_mode", 0) == 1)


@means("ttng.reinterpret_tensor_descriptor")
def typed(machine: Any, operation: Operation, values: list[Any]) -> Any:
    found = machine.descriptors.get(int(values[0]))
    if found is None:
        raise NotEvaluated("op ttng.reinterpret_tensor_descriptor of memory without a descriptor")
    return Descriptor(found.base, found.extents, found.strides, operation.type, found.nan)


@means("tt.make_tensor_descriptor")
def made(machine: Any, operation: Operation, values: list[Any]) -> Any:
    extents, strides = _lists(operation, machine)
    size = operation.type.dtype.itemsize
    return Descriptor(
        base=int(values[0]), extents=tuple(int(one) & 0xFFFFFFFF for one in extents),
        strides=tuple(int(one) * size for one in strides), box=operation.type,
        nan=operation.number("padding", ZEROS) == NANS)


def _parts(machine: Any, operation: Operation, values: list[Any]) -> tuple[Descriptor, list[Any], list[Any]]:
    """The descriptor, its coordinates, and the operands behind them."""
    descriptor = next(one for one in values if isinstance(one, Descriptor))
    coordinates = _lists(operation, machine)[0]
    others = [one for one in values[:values.index(descriptor)]] if values[0] is not descriptor else []
    return descriptor, coordinates, others + values[len(others) + 1 + len(coordinates):]


@means("tt.descriptor_load", "tt.descriptor_gather")
def loaded(machine: Any, operation: Operation, values: list[Any]) -> Any:
    descriptor, starts, _ = _parts(machine, operation, values)
    shape = operation.type.shape
    return _loaded(machine, descriptor, _gathered(starts, shape) if "gather" in operation.name else _corners(
        starts, descriptor.box.shape), shape)


def _gathered(starts: list[Any], shape: tuple[int, ...]) -> list[Array]:
    """Rows by number, columns from a start."""
    rows, column = starts
    return [np.asarray(rows).astype(np.int64)[:, None], np.asarray(int(column) + np.arange(shape[-1]))[None, :]]


@means("tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce")
def stored(machine: Any, operation: Operation, values: list[Any]) -> Any:
    descriptor, starts, (value, *_) = _parts(machine, operation, values)
    places = _gathered(starts, np.shape(value)) if "scatter" in operation.name else _corners(
        starts, descriptor.box.shape)
    _stored(machine, descriptor, places, value, operation.words[0] if "reduce" in operation.name else "")


@means("ttng.async_tma_copy_global_to_local", "ttng.async_tma_gather")
def copied(machine: Any, operation: Operation, values: list[Any]) -> Any:
    descriptor, starts, (buffer, *more) = _parts(machine, operation, values)
    flags = [one for one in more if np.asarray(one).dtype == np.bool_ and np.ndim(one) == 0]
    if flags and not flags[-1]:
        return
    places = _gathered(starts, buffer.shape) if "gather" in operation.name else _corners(starts, descriptor.box.shape)
    buffer[...] = _loaded(machine, descriptor, places, buffer.shape)
    told = next((barrier(machine, one) for one in more if isinstance(one, np.ndarray) and one.ndim), None)
    if told is not None:
        told.arrive(come=buffer.nbytes)


@means("ttng.async_tma_copy_local_to_global", "ttng.async_tma_scatter", "ttng.async_tma_reduce")
def written(machine: Any, operation: Operation, values: list[Any]) -> Any:
    descriptor, starts, (buffer, *_) = _parts(machine, operation, values)
    places = _gathered(starts, buffer.shape) if "scatter" in operation.name else _corners(starts, descriptor.box.shape)
    _stored(machine, descriptor, places, buffer, operation.words[0] if "reduce" in operation.name else "")
