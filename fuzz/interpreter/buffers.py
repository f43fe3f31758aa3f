"""The memory a kernel may touch: named address ranges, and the way from an address to an element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.interpreter.narrow_floats import Array


@dataclass(frozen=True)
class Buffer:
    """A range of host memory that belongs to one kernel argument.

    address, size_bytes: the range. element_bytes: size of one element. initialised: False for memory whose content
    before the launch is undefined, so that reading it before writing counts as reading an undefined value.
    """

    name: str
    address: int
    size_bytes: int
    element_bytes: int
    initialised: bool = True

    @classmethod
    def of_tensor(cls, name: str, tensor: Any, *, initialised: bool = True) -> Buffer:
        """From the first to the last element that a (possibly strided) CPU torch tensor addresses."""
        extent = 0 if tensor.numel() == 0 else 1 + sum(
            (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        size = int(tensor.element_size())
        return cls(name, int(tensor.data_ptr()), extent * size, size, initialised)

    @property
    def elements(self) -> int:
        """Number of elements in the range, gaps of a strided tensor included."""
        return self.size_bytes // self.element_bytes


class BufferMap:
    """Disjoint buffers, searched by address. Buffers of one and the same range are aliases and become one."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        """Raises TridiffError for two buffers of one name and for buffers that overlap in part."""
        merged: dict[tuple[int, int], Buffer] = {}
        self._index: dict[str, int] = {}
        names: dict[str, tuple[int, int]] = {}
        for buffer in buffers:
            if buffer.name in names:
                raise TridiffError(f"two buffers are called {buffer.name!r}", fix="give each its own name")
            key = (buffer.address, buffer.size_bytes)
            names[buffer.name] = key
            known = merged.get(key)
            merged[key] = buffer if known is None else replace(
                known, name=f"{known.name}={buffer.name}", initialised=known.initialised or buffer.initialised)
        self.buffers = tuple(sorted(merged.values(), key=lambda buffer: (buffer.address, buffer.size_bytes)))
        filled = [buffer for buffer in self.buffers if buffer.size_bytes]
        for low, high in pairwise(filled):
            if low.address + low.size_bytes > high.address:
                raise TridiffError(f"buffers {low.name!r} and {high.name!r} overlap in part",
                                   fix="register one buffer that covers both")
        positions = {(buffer.address, buffer.size_bytes): i for i, buffer in enumerate(self.buffers)}
        self._index = {name: positions[key] for name, key in names.items()}
        self._starts = np.array([buffer.address for buffer in self.buffers], dtype=np.uint64)
        self._ends = np.array([buffer.address + buffer.size_bytes for buffer in self.buffers], dtype=np.uint64)
        self._element_bytes = np.array([buffer.element_bytes for buffer in self.buffers], dtype=np.int64)

    def index(self, name: str) -> int:
        """Position in `buffers` of the buffer registered as `name`."""
        if name not in self._index:
            raise TridiffError(f"no buffer is called {name!r}", fix=f"use one of {sorted(self._index)}")
        return self._index[name]

    def locate(self, addresses: Array, size: int) -> tuple[Array, Array, Array]:
        """(buffer index, element index, inside) of accesses of `size` bytes at uint64[n] addresses.

        The element index is relative to the buffer found, negative never; where `inside` is False both are void.
        """
        if not self.buffers:
            nothing = np.zeros(addresses.shape, dtype=np.int64)
            return nothing, nothing, nothing.astype(bool)
        # Searching the start addresses from the right skips empty buffers that begin where another one does.
        found = np.searchsorted(self._starts, addresses, side="right").astype(np.int64) - 1
        index = np.maximum(found, 0)
        ends = self._ends[index]
        inside = (found >= 0) & (addresses < ends) & (ends - addresses >= np.uint64(size))
        offset = (addresses - self._starts[index]).astype(np.int64)
        return index, offset // self._element_bytes[index], inside

    def home(self, base: int) -> int:
        """Index of the buffer that an argument pointing to `base` belongs to, -1 for none.

        A base at the very end counts as inside when no other buffer begins there (a stride may be negative).
        """
        position = int(np.searchsorted(self._starts, np.uint64(base), side="right")) - 1
        return position if position >= 0 and base <= int(self._ends[position]) else -1

    def nearest(self, address: int) -> tuple[Buffer, int] | None:
        """The buffer closest to `address` and the element index there (maybe outside); None without buffers."""
        def distance(buffer: Buffer) -> int:
            return max(buffer.address - address, address - (buffer.address + buffer.size_bytes), 0)

        if not self.buffers:
            return None
        buffer = min(self.buffers, key=distance)
        return buffer, (address - buffer.address) // buffer.element_bytes
