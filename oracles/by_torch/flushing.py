"""Subnormal fp32 numbers as zeros, in torch, on any device (contract: language.md §2). Works on bit patterns."""

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, is_subnormal, is_zero, to_bits

_SIGN = -(1 << 31)


def tiny(x: Tensor) -> Tensor:
    """True where a number of type fp32 is subnormal; nowhere in other types."""
    return is_subnormal(x) if x.dtype == torch.float32 else torch.zeros(x.shape, dtype=torch.bool, device=x.device)


def flushed(x: Tensor) -> Tensor:
    """x with the zero of its sign in place of each subnormal fp32 number."""
    if x.dtype != torch.float32:
        return x
    pattern = to_bits(x)
    return from_bits(torch.where(is_subnormal(x), pattern & _SIGN, pattern), "fp32")


def with_size(x: Tensor, *, below: float, size: float, turned: bool = False) -> Tensor:
    """x with a number of this size and its sign (turned: the other one) in place of each that is neither zero nor
    larger than `below`."""
    other = torch.copysign(torch.full_like(x, size), -x if turned else x)
    return torch.where(~is_zero(x) & (x.to(torch.float64).abs() <= below), other, x)


def turned_zeros(x: Tensor, before: Tensor) -> Tensor:
    """x with the zero of the other sign where it is zero and `before` was not."""
    return torch.where(is_zero(x) & ~is_zero(before), -x, x)


def replaced(x: Tensor, places: Tensor, part: Tensor) -> Tensor:
    """A copy with other values in some rows. places: bool, one per row."""
    found = x.clone()
    found[places] = part
    return found


def stacked(found: list[Tensor]) -> Tensor:
    return torch.stack(found)
