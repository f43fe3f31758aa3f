"""Conversions between element types in torch, on any device (contract: oracles.md §5); conventions as in
numpy's.

bf16, fp16 and fp8 targets go through float32. A wider source is rounded to odd on the way: the sticky last
bit makes the second rounding the only one that counts.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import INT64_MIN, from_bits, is_nan, is_zero, to_bits
from tridiff.oracles.by_torch.integer import narrow, widen
from tridiff.oracles.dtypes import dtype, name_of_tensor, torch_dtype


def _to_odd_float32(x: Tensor) -> Tensor:
    """float64 to float32, inexact results rounded to the neighbour with an odd last bit."""
    near = x.to(torch.float32)
    back = near.to(torch.float64)
    bits = to_bits(near)
    inexact = torch.isfinite(x) & (back != x) & ((bits & 1) == 0)
    # An even neighbour is one step off in the direction of the true value; overflow to infinity steps back
    # likewise.
    step = torch.where(back.abs() > x.abs(), -1, 1)
    return from_bits(torch.where(inexact, bits + step.to(torch.int32), bits), "fp32")


def _unsigned_halves(wide: Tensor) -> Tensor:
    """u64 bits from 2^63 on as signed: halved, with the lost bit kept sticky."""
    return ((wide >> 1) & ~INT64_MIN) | (wide & 1)


def _integer_to_odd_float64(wide: Tensor) -> Tensor:
    """int64 to float64, inexact values rounded to odd, so that a narrower rounding can follow."""
    low = wide & 0x7FF
    # Below 2^53 everything is exact. Above, dropping 11 bits leaves a 53-bit integer; the dropped ones become
    # sticky.
    sticky = (wide - low) | torch.where(low != 0, 1 << 11, 0)
    large = (wide > 1 << 53) | (wide < -(1 << 53))
    return torch.where(large, sticky, wide).to(torch.float64)


def convert(x: Tensor, *, to: str) -> Tensor:
    """x converted to type `to`, same shape."""
    source, target = dtype(name_of_tensor(x)), dtype(to)
    if target.kind == "bool":
        return ~is_zero(x)
    if target.is_integer:
        if not source.is_float:
            return narrow(widen(x), target)
        whole = torch.where(convert_defined(x, to=to), x.to(torch.float64).trunc(), 0.0)
        # Values from 2^63 on do not fit int64; shift them down and put the top bit back.
        high = whole >= 2.0**63
        integer = torch.where(high, whole - 2.0**63, whole).to(torch.int64)
        return narrow(torch.where(high, integer ^ INT64_MIN, integer), target)
    if source.is_float:
        wide = x.to(torch.float64)
    else:
        value = widen(x)
        wide = _integer_to_odd_float64(value)
        if source.name == "u64":
            wide = torch.where(value < 0, 2.0 * _integer_to_odd_float64(_unsigned_halves(value)), wide)
        if to == "fp64" and source.bits == 64:
            # The sticky value is for narrower targets; for float64 itself the plain conversion is correctly
            # rounded.
            halved = 2.0 * _unsigned_halves(value).to(torch.float64)
            plain = value.to(torch.float64)
            return torch.where(value < 0, halved, plain) if source.name == "u64" else plain
    if to in ("fp32", "fp64"):
        return wide.to(torch_dtype(to))
    odd = _to_odd_float32(wide)
    if to == "fp8e4nv":
        limit = float(target.max)
        odd = torch.where(is_nan(odd), odd, odd.clamp(-limit, limit))
    return odd.to(torch_dtype(to))


def convert_defined(x: Tensor, *, to: str) -> Tensor:
    """False for float inputs that an integer target cannot hold: NaN, infinities, truncated values out of
    range.
    """
    source, target = dtype(name_of_tensor(x)), dtype(to)
    if not source.is_float or not target.is_integer:
        return torch.ones(x.shape, dtype=torch.bool, device=x.device)
    whole = x.to(torch.float64).trunc()
    # max + 1 is a power of two and exact; max itself is not for 64-bit types.
    return (whole >= float(target.min)) & (whole < float(int(target.max) + 1))
