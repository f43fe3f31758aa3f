"""Accesses of AMD's chips to buffers: a pointer, and offsets of 32 bits from it. Beyond 2^31 bytes there is nothing."""

import re
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.accesses import exchange, one_by_one, updated_value
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import VALUE, Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import means
from tridiff.fuzz.evaluate.types import Type

_END = 2**31 - 1
_PLACE = re.compile(r"(%[\w$.-]+(?:#\d+)?)\[(%[\w$.-]+(?:#\d+)?)\]")


def _places(machine: Any, operation: Operation) -> tuple[Array, Array, list[Any], list[Any]]:
    """Addresses, which of them lie in a buffer, and the operands in front of the pointer and behind the offsets."""
    found = _PLACE.search(operation.before)
    if not found or " stride = " in operation.before:
        raise NotEvaluated(f"op {operation.name} {operation.head[:40]}")
    pointer, offsets = int(machine[found[1]]), np.asarray(machine[found[2]]).astype(np.int64)
    size = Type(_element(operation)).dtype.itemsize
    far = (offsets * size) & 0xFFFFFFFF
    before, behind = ([machine[one] for one in VALUE.findall(part)] for part in (
        operation.before[:found.start()], operation.before[found.end():]))
    return np.asarray(pointer + far), np.asarray(far < _END), before, behind


def _element(operation: Operation) -> str:
    """The type of what lies in the buffer; versions print that of the pointer, or of the block alone."""
    pointer = next((one for one in operation.types if one.element.startswith("ptr<")), None)
    return operation.type.element if pointer is None else pointer.pointee


def _active(inside: Array, masks: list[Any]) -> Array:
    return np.asarray(inside & np.broadcast_to(masks[0] if masks else True, inside.shape))


@means("amdg.buffer_load")
def loaded(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """Zeros beyond the buffer and in masked-off lanes without other, as the chip has them: the compiler drops an other
    of zeros."""
    address, inside, _, more = _places(machine, operation)
    kind = Type(_element(operation), address.shape)
    other = np.broadcast_to(more[1] if len(more) > 1 else np.zeros((), kind.dtype), address.shape)
    found = machine.memory.load(address, _active(inside, more), np.asarray(other).astype(kind.dtype, copy=False))
    beyond = _active(~inside, more)
    return np.where(beyond, np.zeros_like(found), found) if beyond.any() else found


@means("amdg.buffer_store")
def stored(machine: Any, operation: Operation, values: list[Any]) -> Any:
    address, inside, (value, *_), masks = _places(machine, operation)
    machine.memory.store(address, np.broadcast_to(value, address.shape), _active(inside, masks))


@means("amdg.buffer_atomic_rmw")
def updated(machine: Any, operation: Operation, values: list[Any]) -> Any:
    address, inside, (given, *_), masks = _places(machine, operation)
    value = np.broadcast_to(given, address.shape)
    return one_by_one(machine, address, _active(inside, masks), Type(_element(operation)),
                      lambda old, place: updated_value(operation.words[0], old, np.asarray(value[place])))


@means("amdg.buffer_atomic_cas")
def exchanged(machine: Any, operation: Operation, values: list[Any]) -> Any:
    address, inside, (compared, value, *_), masks = _places(machine, operation)
    return one_by_one(machine, address, _active(inside, masks), Type(_element(operation)),
                      exchange(np.broadcast_to(compared, address.shape), np.broadcast_to(value, address.shape)))
