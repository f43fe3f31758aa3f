"""What matrix products may rightly give where more than one answer is right, in torch (contract: oracles.md §4,
language.md §2): candidates along a new first axis, the exact answer first.

Tensors have the rows of the batch in front of (..., m, k) and (..., k, n).
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import to_float64, unsigned_bits
from tridiff.oracles.by_torch.integer import widen


def _terms(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """(..., m, n, k) each: the factors of every term."""
    return torch.broadcast_tensors(a.unsqueeze(-2), b.transpose(-1, -2).unsqueeze(-3))


def saturating(a: Tensor, b: Tensor, acc: Tensor) -> Tensor:
    """i8 by i8 onto an i32 accumulator: the sum that wraps, and those that saturate after 16, 32 and 64 places."""
    left, right = _terms(widen(a), widen(b))
    products, start = left * right, widen(acc)
    found = [(start + products.sum(-1)).to(torch.int32)]
    for step in (16, 32, 64):
        total = start
        for part in products.split(step, -1):
            total = (total + part.sum(-1)).clamp(-(1 << 31), (1 << 31) - 1)
        found.append(total.to(torch.int32))
    return torch.stack(found)


def _any(one: Tensor, other: Tensor) -> Tensor:
    """Whether both hold at some place along k: counted by a product of ones and zeros."""
    return torch.matmul(one.float(), other.float()).round() >= 1


def candidates(a: Tensor, b: Tensor, acc: Tensor | None = None, *, narrowed: str = "") -> Tensor:
    """Products of floats in float64: the exact ones, and the infinities and NaN that may come out in their place.

    narrowed: "tf32" or "tf32x3" where operands are rounded to that type, in which the largest numbers are infinite.
    """
    x, y = to_float64(a), to_float64(b)
    summand = to_float64(acc) if acc is not None else torch.zeros(x.shape[:-1] + y.shape[-1:], device=x.device)
    exact = x @ y + summand if acc is not None else x @ y
    sizes = [one.abs().masked_fill(~one.isfinite(), 0.0) for one in (x, y, summand)]
    total = sizes[0] @ sizes[1] + sizes[2]
    beyond = total >= 3e38
    stays = [x.isnan(), y.isnan()]
    turned = meets = either = torch.zeros_like(beyond)
    if narrowed:
        words = [unsigned_bits(one) for one in (a, b)]
        cut = [nan & ((word >> 13) & 0x3FF == 0) for nan, word in zip(stays, words, strict=True)]
        stays = [nan & ~one for nan, one in zip(stays, cut, strict=True)]
        turned = cut[0].any(-1, keepdim=True) | cut[1].any(-2, keepdim=True)
        limit = float(torch.finfo(torch.float32).max) * (1 - 2.0**-12)
        large = [size > limit for size in sizes[:2]]
        infinite = large[0].any(-1, keepdim=True) | large[1].any(-2, keepdim=True)
        small = [one.abs() < torch.finfo(torch.float32).smallest_normal for one in (x, y)]
        # What is flushed on its way to tf32 is zero, beside infinities that were there and those that are made.
        endless = [here | one.isinf() for here, one in zip(large, (x, y), strict=True)]
        meets = _any(endless[0], small[1]) | _any(small[0], endless[1])
        if narrowed == "tf32x3":
            meets = meets | infinite
            # The low part of a split number has either sign, and its products have up to 2^-9 of all.
            either = total * 2.0**-9 >= 3e38
        beyond = beyond | infinite
    # Where every term is a negative zero, so may the sum be: it depends on what it begins with.
    lowest = torch.zeros_like(beyond)
    if acc is not None:
        all_minus = ~_any(~x.signbit(), ~y.signbit()) & ~_any(x.signbit(), y.signbit())
        lowest = all_minus & summand.signbit() & (total == 0) & (exact == 0)
    if not bool((beyond | turned | meets | lowest).any()):
        return exact.unsqueeze(0)
    above = _any(x > 0, y > 0) | _any(x < 0, y < 0) | (summand > 0) | either
    below = _any(x > 0, y < 0) | _any(x < 0, y > 0) | (summand < 0) | either
    certain = stays[0].any(-1, keepdim=True) | stays[1].any(-2, keepdim=True) | summand.isnan()
    allowed = {torch.inf: beyond & above | turned, -torch.inf: beyond & below | turned,
               torch.nan: beyond & above & below | meets}
    return torch.stack([exact, *(exact.masked_fill(mask & ~certain, value) for value, mask in allowed.items()),
                        exact.masked_fill(lowest, -0.0)])
