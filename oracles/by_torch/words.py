"""Functions of the bits of integers, in torch, on int64. Names and arguments as in `tridiff.oracles.by_numpy.words`."""

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, to_bits, unsigned_bits
from tridiff.oracles.by_torch.integer import narrow, widen
from tridiff.oracles.dtypes import dtype, name_of_tensor

_I32 = dtype("i32")


def _width(x: Tensor) -> int:
    return dtype(name_of_tensor(x)).bits


def _bit(x: Tensor, place: int) -> Tensor:
    return (widen(x) >> place) & 1


def leading_zeros(x: Tensor) -> Tensor:
    """i32; the width for 0."""
    found = torch.full(x.shape, _width(x), dtype=torch.int64, device=x.device)
    for place in range(_width(x)):
        found = torch.where(_bit(x, place) == 1, _width(x) - 1 - place, found)
    return found.to(torch.int32)


def ones(x: Tensor) -> Tensor:
    """i32."""
    return torch.stack([_bit(x, place) for place in range(_width(x))]).sum(0).to(torch.int32)


def first_set(x: Tensor) -> Tensor:
    """i32: the place of the lowest bit set, counted from 1; 0 for 0."""
    found = torch.zeros(x.shape, dtype=torch.int64, device=x.device)
    for place in reversed(range(_width(x))):
        found = torch.where(_bit(x, place) == 1, place + 1, found)
    return found.to(torch.int32)


def reversed_bits(x: Tensor) -> Tensor:
    """The word read from its other end."""
    found = torch.zeros(x.shape, dtype=torch.int64, device=x.device)
    for place in range(_width(x)):
        found = found | (_bit(x, place) << (_width(x) - 1 - place))
    return narrow(found, dtype(name_of_tensor(x)))


def permuted_bytes(a: Tensor, b: Tensor, selector: Tensor) -> Tensor:
    """i32: byte k is that of the eight bytes of a and b which bits 4k to 4k+2 of the selector name."""
    both = (unsigned_bits(a) & 0xFFFFFFFF) | (widen(b) << 32)
    found = torch.zeros(a.shape, dtype=torch.int64, device=a.device)
    for place in range(4):
        taken = (both >> (8 * ((widen(selector) >> (4 * place)) & 7))) & 0xFF
        found = found | (taken << (8 * place))
    return narrow(found, _I32)


def product_of_24_bits(a: Tensor, b: Tensor) -> Tensor:
    """The lower 32 bits of the product of the lower 24 bits."""
    kind = dtype(name_of_tensor(a))
    high = 40
    factors = [(widen(one) << high) >> high if kind.kind == "int" else widen(one) & 0xFFFFFF for one in (a, b)]
    return narrow(factors[0] * factors[1], kind)


def sum_with_distance(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """c + |a - b|, modulo 2^32, in the type of a."""
    return narrow(widen(c) + (widen(a) - widen(b)).abs(), dtype(name_of_tensor(a)))


def mean(a: Tensor, b: Tensor, *, up: bool) -> Tensor:
    """The mean of two 32-bit integers, rounded down or up: without their sum, from common and unlike bits."""
    x, y = widen(a), widen(b)
    found = (x | y) - ((x ^ y) >> 1) if up else (x & y) + ((x ^ y) >> 1)
    return narrow(found, dtype(name_of_tensor(a)))


def half_of_double(x: Tensor, *, upper: bool) -> Tensor:
    """i32: one half of the pattern of an fp64."""
    bits = to_bits(x.contiguous())
    return narrow(bits >> 32 if upper else bits, _I32)


def double_of_halves(high: Tensor, low: Tensor) -> Tensor:
    """fp64 from the halves of its pattern."""
    return from_bits((widen(high) << 32) | unsigned_bits(low), "fp64")
