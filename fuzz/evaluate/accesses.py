"""Loads, stores and atomic operations through pointers."""

from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.constants import undefined
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.floats import extreme
from tridiff.fuzz.evaluate.integers import unsigned
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives, means
from tridiff.fuzz.evaluate.types import Type, dtype_of


@gives("tt.addptr")
def moved(operation: Operation, pointers: Array, offsets: Array) -> Any:
    """Offsets are signed, in elements."""
    size = dtype_of(operation.types[0].pointee).itemsize
    return np.asarray(pointers + offsets.astype(np.int64) * size)


@means("tt.load")
def loaded(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """Pointers, mask, other; masked-off lanes without other are undefined."""
    pointers = np.asarray(values[0])
    pointee = Type(operation.types[0].pointee, pointers.shape)
    active = np.broadcast_to(values[1] if len(values) > 1 else True, pointers.shape)
    other = values[2] if len(values) > 2 else undefined(pointee)
    return machine.memory.load(pointers, active, np.asarray(other).astype(pointee.dtype, copy=False))


@means("tt.store")
def stored(machine: Any, operation: Operation, values: list[Any]) -> Any:
    pointers, value = map(np.asarray, values[:2])
    active = np.broadcast_to(values[2] if len(values) > 2 else True, pointers.shape)
    machine.memory.store(pointers, np.broadcast_to(value, pointers.shape), np.asarray(active))


def updated_value(kind: str, old: Array, value: Array) -> Array:
    """What an atomic operation leaves in memory."""
    if kind in ("add", "fadd"):
        return np.asarray(old + value).astype(old.dtype)
    if kind in ("max", "min"):
        return np.where((value > old) if kind == "max" else (value < old), value, old).astype(old.dtype)
    if kind in ("umax", "umin"):
        first, second = unsigned(value), unsigned(old)
        return np.where((first > second) if kind == "umax" else (first < second), value, old).astype(old.dtype)
    if kind in ("fmax", "fmin"):
        return extreme(old, value, largest=kind == "fmax", propagate=False).astype(old.dtype)
    found = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.get(kind)
    if found is not None:
        return np.asarray(found(old, value))
    if kind == "exch":
        return value
    raise NotEvaluated(f"op tt.atomic_rmw {kind}")


def one_by_one(machine: Any, pointers: Array, active: Array, kind: Type, update: Any) -> Array:
    """Every active lane in row-major order; the values that were there before."""
    found = np.array(undefined(Type(kind.element, pointers.shape)))
    for place in np.ndindex(pointers.shape):
        if not active[place]:
            continue
        address, always = np.asarray(pointers[place]), np.asarray(True)
        old = machine.memory.load(address, always, np.zeros((), kind.dtype))
        found[place] = old
        machine.memory.store(address, np.asarray(update(old, place)), always)
    return found


@means("tt.atomic_rmw")
def updated(machine: Any, operation: Operation, values: list[Any]) -> Any:
    pointers, value = map(np.asarray, values[:2])
    active = np.broadcast_to(values[2] if len(values) > 2 else True, pointers.shape)
    kind = Type(operation.types[0].pointee)
    return one_by_one(machine, pointers, active, kind,
                       lambda old, place: updated_value(operation.words[0], old, np.asarray(value[place])))


def exchange(compared: Array, value: Array) -> Any:
    """What a place holds after an exchange where it held what is compared with, bit for bit."""
    words = f"u{compared.dtype.itemsize}"

    def update(old: Array, place: tuple[int, ...]) -> Array:
        equal = old.view(words) == np.asarray(compared[place]).view(words)
        return np.asarray(value[place]) if equal else old

    return update


@means("tt.atomic_cas")
def exchanged(machine: Any, operation: Operation, values: list[Any]) -> Any:
    pointers, compared, value = map(np.asarray, values)
    return one_by_one(machine, pointers, np.broadcast_to(True, pointers.shape), Type(operation.types[0].pointee),
                      exchange(compared, value))


@means("tt.atomic_load")
def loaded_at_once(machine: Any, operation: Operation, values: list[Any]) -> Any:
    pointers = np.asarray(values[0])
    active = np.broadcast_to(values[1] if len(values) > 1 else True, pointers.shape)
    return machine.memory.load(pointers, active, undefined(Type(operation.types[0].pointee, pointers.shape)))


@means("tt.atomic_store")
def stored_at_once(machine: Any, operation: Operation, values: list[Any]) -> Any:
    stored(machine, operation, values)


@means("tt.atomic_poll")
def polled(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """Whether memory holds what is expected. Nobody is there to put it there meanwhile."""
    pointers, due = map(np.asarray, values[:2])
    words = f"u{due.dtype.itemsize}"
    found = machine.memory.load(pointers, np.broadcast_to(True, pointers.shape), np.zeros(pointers.shape, due.dtype))
    equal = np.asarray(found.view(words) == np.broadcast_to(due, pointers.shape).view(words))
    if not equal.all() and not (len(values) > 2 and int(values[2]) == 0):
        raise NotEvaluated("op tt.atomic_poll for what another program writes")
    return equal
