"""Data movement by torch, the second opinion to `tridiff.oracles.by_numpy.movement` and with the same functions.

It looks at buffers another way: what is kept are the bytes of the elements in their logical order, wherever the
layout puts them, and a view says for each of its elements which of these bytes it is made of. Only a reinterpretation
has to know where the layout puts what. Atomics are applied in rounds: in round r the r-th arrival at every target.
Tensors are on the CPU.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, to_bits
from tridiff.oracles.by_torch.integer import narrow
from tridiff.oracles.dtypes import dtype as dtype_info, name_of_tensor, torch_dtype


@dataclass(frozen=True)
class View:
    """Elements of a buffer. content: the buffer's bytes in logical order, then those on which no element lies. parts
    (..., itemsize): numbers of the bytes that make up each element. physical: where the layout puts each byte."""

    content: Tensor
    parts: Tensor
    physical: Tensor
    dtype: str


@dataclass(frozen=True)
class Exchange:
    """What an atomic scatter returns if the elements arrive in row-major order; 0 where inactive."""

    old: Tensor


# -- tensors


def load(array: Tensor, order: tuple[int, ...], mask: tuple[int, int] | None, other: int) -> Tensor:
    """See the numpy function."""
    value = array.permute(order) if order else array
    if mask is None:
        return value.contiguous()
    name = name_of_tensor(array)
    bits = to_bits(value).clone()
    beyond = torch.tensor([float(other)] if dtype_info(name).is_float else [other]).to(torch_dtype(name))
    axis, count = mask
    bits.narrow(axis, min(count, bits.shape[axis]), max(bits.shape[axis] - count, 0)).fill_(int(to_bits(beyond)[0]))
    return from_bits(bits, name)


def ramp(shape: tuple[int, ...], strides: tuple[int, ...], start: int, flip: int, mask: int,
         dtype: str) -> Tensor:
    """See the numpy function."""
    lines = [torch.arange(extent) * stride for extent, stride in zip(shape, strides, strict=True)]
    total = torch.zeros(1, dtype=torch.int64) + start
    for line in lines:
        total = total.unsqueeze(-1) + line
    return ((total.reshape(shape) ^ flip) & mask).to(torch_dtype(dtype))


def transpose(value: Tensor, order: tuple[int, ...]) -> Tensor:
    """torch's permute."""
    return value.permute(order).contiguous()


def regroup(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    """torch's reshape."""
    return value.reshape(shape)


def fp4(packed: Tensor, axis: int, dtype: str) -> Tensor:
    """Sign, two exponent bits and one mantissa bit, put together from their fields."""
    byte = packed.view(torch.uint8).to(torch.int64)
    nibble = torch.stack((byte & 15, byte >> 4), dim=axis + 1).flatten(axis, axis + 1)
    exponent, mantissa = nibble >> 1 & 3, nibble & 1
    magnitude = torch.where(exponent == 0, mantissa * 0.5, (1 + 0.5 * mantissa) * 2.0 ** (exponent - 1))
    return torch.where(nibble >= 8, -magnitude, magnitude).to(torch_dtype(dtype))


def _wide(value: Tensor) -> Tensor:
    info = dtype_info(name_of_tensor(value))
    if info.is_float:
        return value.to(torch.float64)
    return value.view(torch.int64) if info.name == "u64" else value.to(torch.int64)


def _narrow(wide: Tensor, name: str) -> Tensor:
    """Back to the type; integers wrap."""
    info = dtype_info(name)
    if info.is_float:
        return wide.to(torch_dtype(name))
    if name == "i1":
        return wide != 0
    return narrow(wide, info)


def _pairwise(one: Tensor, other: Tensor, op: str, name: str) -> Tensor:
    """`one op other` on wide values."""
    if op in ("min", "max"):
        flip = torch.iinfo(torch.int64).min if name == "u64" else 0  # signed order on unsigned patterns
        less = (one ^ flip) < (other ^ flip) if flip else one < other
        return torch.where(less if op == "min" else ~less, one, other)
    if op == "add":
        return one + other
    return {"xor": torch.bitwise_xor, "and": torch.bitwise_and, "or": torch.bitwise_or}[op](one, other)


def combine(left: Tensor, right: Tensor, op: str) -> Tensor:
    """See the numpy function."""
    name = name_of_tensor(left)
    return _narrow(_pairwise(_wide(left), _wide(right), op, name), name)


def reduce(value: Tensor, axis: int, op: str) -> Tensor:
    """A tree over halves of the axis, whose length is a power of two."""
    name, wide = name_of_tensor(value), _wide(value)
    while wide.shape[axis] > 1:
        half = wide.shape[axis] // 2
        wide = _pairwise(wide.narrow(axis, 0, half), wide.narrow(axis, half, half), op, name)
    return _narrow(wide.squeeze(axis), name)


def scan(value: Tensor, axis: int, op: str, reverse: bool) -> Tensor:
    """Doubling: after step k every element holds the fold of the 2^k before it."""
    name, wide = name_of_tensor(value), _wide(value)
    wide = wide.flip(axis) if reverse else wide.clone()
    length, step = wide.shape[axis], 1
    while step < length:
        left = wide.narrow(axis, 0, length - step)
        right = wide.narrow(axis, step, length - step)
        wide = torch.cat((wide.narrow(axis, 0, step), _pairwise(left, right, op, name)), dim=axis)
        step *= 2
    return _narrow(wide.flip(axis) if reverse else wide, name)


def take(value: Tensor, index: Tensor, axis: int) -> Tensor:
    """torch's take_along_dim."""
    return from_bits(torch.take_along_dim(to_bits(value), _wide(index), axis), name_of_tensor(value))


# -- buffers


def buffer(places: Tensor, dtype: str) -> View:
    """See the numpy function; `places` only matters once the buffer is reinterpreted."""
    width = dtype_info(dtype).itemsize
    parts = torch.arange(places.numel() * width).reshape(*places.shape, width)
    used = (places.unsqueeze(-1) + torch.arange(width)).reshape(-1)
    gaps = torch.ones(int(used.max()) + 1, dtype=torch.bool)
    gaps[used] = False
    physical = torch.cat((used, gaps.nonzero().reshape(-1)))
    return View(torch.full(physical.shape, 0xCD, dtype=torch.uint8), parts, physical, dtype)


def store(view: View, value: Tensor) -> None:
    """See the numpy function."""
    patterns = to_bits(value).reshape(-1).clone(memory_format=torch.contiguous_format)
    view.content[view.parts.reshape(-1)] = patterns.view(torch.uint8)


def read(view: View) -> Tensor:
    """See the numpy function."""
    raw = view.content[view.parts.reshape(-1)]
    return raw.view(torch_dtype(view.dtype)).reshape(view.parts.shape[:-1])


def index(view: View, slot: int) -> View:
    """`view[slot]`."""
    return View(view.content, view.parts.select(0, slot), view.physical, view.dtype)


def subslice(view: View, axis: int, start: int, length: int) -> View:
    """torch's narrow."""
    return View(view.content, view.parts.narrow(axis, start, length), view.physical, view.dtype)


def permute(view: View, order: tuple[int, ...]) -> View:
    """torch's permute."""
    return View(view.content, view.parts.permute(*order, len(order)), view.physical, view.dtype)


def reshape(view: View, shape: tuple[int, ...]) -> View:
    """torch's reshape."""
    return View(view.content, view.parts.reshape(*shape, view.parts.shape[-1]), view.physical, view.dtype)


def reinterpret(view: View, dtype: str, places: Tensor) -> View:
    """See the numpy function."""
    width = dtype_info(dtype).itemsize
    start = int(view.physical[view.parts].min())
    wanted = places.unsqueeze(-1) + torch.arange(width) + start
    return View(view.content, torch.argsort(view.physical)[wanted], view.physical, dtype)


def _selected(view: View, index: Tensor, axis: int) -> View:
    grid = list(torch.meshgrid(*(torch.arange(extent) for extent in index.shape), indexing="ij"))
    grid[axis] = _wide(index)
    return View(view.content, view.parts[tuple(grid)], view.physical, view.dtype)


def gather(view: View, index: Tensor, axis: int) -> Tensor:
    """See the numpy function."""
    return read(_selected(view, index, axis))


def _broadcast(value: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    bits, index = torch.broadcast_tensors(to_bits(value), index)
    return from_bits(bits.contiguous(), name_of_tensor(value)), index


def scatter(view: View, value: Tensor, index: Tensor, axis: int) -> None:
    """See the numpy function."""
    value, index = _broadcast(value, index)
    store(_selected(view, index, axis), value)


def atomic(view: View, value: Tensor, index: Tensor, axis: int, op: str,
           mask: tuple[int, int] | None) -> Exchange:
    """See the numpy function."""
    value, index = _broadcast(value, index)
    chosen, name = _selected(view, index, axis), view.dtype
    active = torch.ones(value.shape, dtype=torch.bool)
    if mask is not None:
        line = torch.arange(value.shape[mask[0]]) < mask[1]
        active = active & line.reshape([-1 if k == mask[0] else 1 for k in range(value.dim())])
    parts = chosen.parts.reshape(-1, chosen.parts.shape[-1])
    numbers = active.reshape(-1).nonzero().reshape(-1)
    by_target = numbers[torch.argsort(parts[numbers, 0], stable=True)]
    arrivals = parts[by_target, 0]
    first = torch.searchsorted(arrivals, arrivals)  # position of the first arrival at the same target
    round_of = torch.arange(len(by_target)) - first
    values = _wide(value.reshape(-1))
    old = torch.zeros(len(values), dtype=values.dtype)
    for number in range(int(round_of.max()) + 1 if len(by_target) else 0):
        now = by_target[round_of == number]
        there = View(view.content, parts[now], view.physical, name)
        stood = _wide(read(there))
        old[now] = stood
        left = values[now] if op == "xchg" else _pairwise(stood, values[now], op, name)
        store(there, _narrow(left, name))
    return Exchange(_narrow(old.reshape(value.shape), name))
