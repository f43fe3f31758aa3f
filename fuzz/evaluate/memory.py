"""The memory of a launch: the arrays that its arguments point to, by address."""

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import OutOfBounds

Array = np.ndarray[Any, Any]


class Memory:
    """spans: begin and length in bytes of every array, each of which stays where it is while this is used."""

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._spans: list[tuple[int, Array]] = []
        for begin, length in dict.fromkeys(spans):
            self.add(begin, length)

    def add(self, begin: int, length: int) -> None:
        """Make an array known."""
        if length:
            held = (ctypes.c_ubyte * length).from_address(begin)
            self._spans.append((begin, np.frombuffer(memoryview(held).cast("B"), dtype=np.uint8)))

    def _places(self, addresses: Array, active: Array, dtype: np.dtype) -> Iterable[tuple[Array, Array, Array]]:
        """For each array that is accessed: its elements, which lanes access it, and at which of its elements."""
        left = active.copy()
        for begin, held in self._spans:
            if not left.any():
                return
            inside = left & (addresses >= begin) & (addresses + dtype.itemsize <= begin + held.size)
            if inside.any():
                left &= ~inside
                offset = addresses[inside] - begin
                shift = int(offset.flat[0] % dtype.itemsize)
                if (offset % dtype.itemsize != shift).any() or (begin + shift) % dtype.itemsize:
                    raise OutOfBounds("a misaligned address")
                elements = (held.size - shift) // dtype.itemsize
                whole = held[shift:shift + elements * dtype.itemsize].view(dtype)
                yield whole, inside, (offset - shift) // dtype.itemsize
        if left.any():
            raise OutOfBounds(f"{int(left.sum())} active lanes address memory outside of every array")

    def load(self, addresses: Array, active: Array, other: Array) -> Array:
        """The elements at active lanes, those of `other` elsewhere; its dtype says what is read. Bytes stay as they
        are, payloads of NaNs included."""
        found = np.array(np.broadcast_to(other, addresses.shape))
        stored = _stored(found.dtype)
        for elements, inside, places in self._places(addresses, active, stored):
            found[inside] = elements[places] != 0 if found.dtype == np.bool_ else elements[places].view(found.dtype)
        return found

    def store(self, addresses: Array, values: Array, active: Array) -> None:
        """Write active lanes, in row-major order."""
        stored = _stored(values.dtype)
        for elements, inside, places in self._places(addresses, active, stored):
            elements[places] = np.ascontiguousarray(values[inside]).view(stored)


def _stored(dtype: np.dtype) -> np.dtype:
    """Unsigned integers of the same width: nothing rounds or quietens what is only moved."""
    return np.dtype(f"u{dtype.itemsize}")
