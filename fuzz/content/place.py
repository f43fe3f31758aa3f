"""Arrays in memory: strided placement, poison, canaries.

Every array lies in a flat storage of its own between two guard zones. Whatever no element covers (guards
and the gaps of a strided layout) holds poison and must still hold it after the launch; outputs start out
as poison, so a lane that was never written shows.
"""

from dataclasses import dataclass

import torch

from tridiff.fuzz.content.counter import ROW, signed
from tridiff.fuzz.content.generate import INT_VIEW, patterns
from tridiff.fuzz.content.poison import poison_pattern
from tridiff.fuzz.records import ArraySpec, Case
from tridiff.oracles.dtypes import dtype as dtype_info, torch_dtype

GUARD = 256
"""Elements on either side of an array; a multiple of every vector width."""


@dataclass(frozen=True)
class Buffer:
    """One array placed on a device.

    storage: flat integers, guards included. pointer: what the kernel gets (i1 as int8), element 0 first.
    values: for inputs, the contiguous logical array the oracles read (broadcast axes expanded).
    """

    spec: ArraySpec
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    storage: torch.Tensor
    pointer: torch.Tensor
    values: torch.Tensor | None
    poison: int
    """The fill as the storage's own integer type reads it."""

    @property
    def is_output(self) -> bool:
        return self.spec.content is None

    @property
    def logical(self) -> torch.Tensor:
        """The array as integers of its width, strided over the storage."""
        return torch.as_strided(self.storage, self.shape, self.strides, GUARD + self.spec.layout.offset)

    def typed(self) -> torch.Tensor:
        """A contiguous copy of the logical array in its own dtype (i1 as torch.bool)."""
        return as_dtype(self.logical.contiguous(), self.spec.dtype)

    def trespass_count(self) -> torch.Tensor:
        """Poisoned elements outside the array that something overwrote, as a 0-d tensor (no synchronisation)."""
        size = self.storage.numel() - 2 * GUARD - self.spec.layout.offset
        dense = 1
        for n in self.shape:
            dense *= n
        if dense == size:
            start = GUARD + self.spec.layout.offset
            head, tail = self.storage[:start], self.storage[start + size:]
            return (head != self.poison).sum() + (tail != self.poison).sum()
        copy = self.storage.clone()
        torch.as_strided(copy, self.shape, self.strides, GUARD + self.spec.layout.offset).fill_(self.poison)
        return (copy != self.poison).sum()

    def trespass(self) -> int:
        """`trespass_count` as a number (synchronises)."""
        return int(self.trespass_count())

    def overwritten_count(self) -> torch.Tensor:
        """Input elements that no longer hold what was put there, as a 0-d tensor; 0 for outputs."""
        if self.values is None:
            return torch.zeros((), dtype=torch.int64, device=self.storage.device)
        mine = self.values.contiguous()
        if mine.dtype == torch.bool:
            mine = mine.view(torch.uint8)
        return (self.logical != mine.view(self.storage.dtype)).sum()

    def overwritten(self) -> int:
        """`overwritten_count` as a number (synchronises)."""
        return int(self.overwritten_count())

    def refill(self, *, second: bool = False, written: bool = False) -> "Buffer":
        """Poison an output again before another launch, fill an input that the kernel writes (`written`)
        again; other inputs are returned as they are."""
        if not self.is_output and not written:
            return self
        return place(self.spec, dict(zip(self.spec.dims, self.shape, strict=True)),
                     device=self.storage.device, second_poison=second)


def as_dtype(integers: torch.Tensor, dtype: str) -> torch.Tensor:
    """Reinterpret integers of the storage width as `dtype`; i1 bytes count as true when non-zero."""
    if dtype == "i1":
        return integers.view(torch.uint8) != 0
    return integers.view(torch_dtype(dtype))


def place(spec: ArraySpec, sizes: dict[str, int], *, device: torch.device, second_poison: bool = False) -> Buffer:
    """Allocate, poison and fill one array. The caller has checked the case (`Case.check`)."""
    width = INT_VIEW[dtype_info(spec.dtype).storage_bits]
    pattern = poison_pattern(spec.dtype, second=second_poison)
    fill = pattern if width is torch.uint8 else signed_width(pattern, dtype_info(spec.dtype).storage_bits)
    shape, strides = spec.shape(sizes), spec.strides(sizes)
    start = GUARD + spec.layout.offset
    storage = torch.full((start + spec.span(sizes) + GUARD,), fill, dtype=width, device=device)
    values = None
    if spec.content is not None:
        source = patterns(spec, sizes, device=device)
        once = tuple(1 if dim in spec.layout.broadcast else n for dim, n in zip(spec.dims, shape, strict=True))
        if 0 not in shape:
            torch.as_strided(storage, once, strides, start).copy_(source)
        values = as_dtype(source.expand(shape).contiguous(), spec.dtype)
    tail = storage[start:]
    # Triton has no byte-wide boolean pointer: drivers read int8 and convert by != 0.
    pointer = tail.view(torch.int8) if spec.dtype == "i1" else tail.view(torch_dtype(spec.dtype))
    return Buffer(spec, shape, strides, storage, pointer, values, fill)


def buffers_of(case: Case, device: torch.device | None = None) -> dict[str, Buffer]:
    """All arrays of a case, by name; device: default the CPU."""
    return {spec.name: place(spec, case.sizes, device=device or torch.device("cpu")) for spec in case.arrays}


def signed_width(pattern: int, bits: int) -> int:
    """The signed integer of `bits` bits with this pattern."""
    return pattern - (1 << bits) if pattern >> (bits - 1) else pattern


def checksum(values: torch.Tensor) -> int:
    """Order-dependent checksum of a tensor's bits, the same on every device."""
    flat = values.contiguous().reshape(-1)
    if flat.dtype == torch.bool:
        flat = flat.view(torch.uint8)
    integers = flat.view(INT_VIEW[flat.element_size() * 8]).to(torch.int64)
    weights = torch.arange(1, integers.numel() + 1, dtype=torch.int64, device=flat.device) * signed(ROW)
    return int((integers * (weights | 1)).sum()) & ((1 << 64) - 1)
