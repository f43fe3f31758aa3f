"""What matrix products may rightly give where more than one answer is right, in numpy (contract: oracles.md §4,
language.md §2): candidates along a new first axis, the exact answer first.

Arrays have the rows of the batch in front of (..., m, k) and (..., k, n).
"""


import numpy as np

from tridiff.oracles.dtypes import Array

STEPS = (16, 32, 64)
"""Places along k whose products an instruction for i8 adds before it saturates (PTX ISA, mma and wgmma)."""
_NEARLY_TOO_LARGE, _NORMAL, _INFINITE_IN_TF32 = 3e38, 2.0**-126, (2.0 - 2.0**-11) * 2.0**127


def saturating(a: Array, b: Array, acc: Array) -> Array:
    """i8 by i8 onto an i32 accumulator: the exact sum, which wraps, and sums that saturate after each instruction."""
    left, right, start = (x.astype(np.int64) for x in (a, b, acc))
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    found = [(start + np.matmul(left, right)).astype(np.int32)]
    for step in STEPS:
        total = start
        for k in range(0, a.shape[-1], step):
            total = np.clip(total + np.matmul(left[..., k:k + step], right[..., k:k + step, :]), low, high)
        found.append(total.astype(np.int32))
    return np.stack(found)


def _in_row(mask: Array) -> Array:
    """For every element of the product whether its row of the left operand has one of these."""
    return np.any(mask, axis=-1, keepdims=True)


def _in_column(mask: Array) -> Array:
    """The same of its column of the right operand."""
    return np.any(mask, axis=-2, keepdims=True)


def candidates(a: Array, b: Array, acc: Array | None = None, *, narrowed: str = "") -> Array:
    """Products of floats in float64: the exact ones, and the infinities and NaN that may come out in their place.

    A partial sum that leaves the range is an infinity of the sign of some term, and two such make a NaN. A sum of
    nothing but negative zeros is one if it begins with the accumulator, and a positive zero if with one. narrowed:
    "tf32" or "tf32x3" where operands are rounded to that type, in which the largest numbers are infinite.
    """
    with np.errstate(all="ignore"):
        left, right = a.astype(np.float64), b.astype(np.float64)

    def some(one: Array, other: Array) -> Array:
        return np.matmul(one.astype(np.float32), other.astype(np.float32)) > 0

    with np.errstate(all="ignore"):
        exact = np.matmul(left, right)
        sizes = [np.where(np.isfinite(x), np.abs(x), 0.0) for x in (left, right)]
        total = np.matmul(*sizes)
        positive = some(left > 0, right > 0) | some(left < 0, right < 0)
        negative = some(left > 0, right < 0) | some(left < 0, right > 0)
        if acc is not None:
            added = acc.astype(np.float64)
            exact, total = exact + added, total + np.where(np.isfinite(added), np.abs(added), 0.0)
            positive, negative = positive | (added > 0), negative | (added < 0)
    negative_zeros = np.zeros(exact.shape, dtype=bool)
    if acc is not None:
        minus = [np.signbit(x) for x in (left, right)]
        negative_zeros = (exact == 0) & (total == 0) & np.signbit(added) & ~(
            some(minus[0], minus[1]) | some(~minus[0], ~minus[1]))
    leaves = total >= _NEARLY_TOO_LARGE
    never = _in_row(np.isnan(left)) | _in_column(np.isnan(right))
    lost = np.zeros(exact.shape, dtype=bool)
    made = np.zeros(exact.shape, dtype=bool)
    if narrowed:
        large = [size >= _INFINITE_IN_TF32 for size in sizes]
        infinite = _in_row(large[0]) | _in_column(large[1])
        # Subnormal numbers may be flushed, and an infinity times a zero is a NaN.
        without = [here | np.isinf(x) for here, x in zip(large, (left, right), strict=True)]
        zeros = some(without[0], np.abs(right) < _NORMAL) | some(np.abs(left) < _NORMAL, without[1])
        # The low part of a split number is an infinity of the other sign, and may be a zero.
        made = zeros | (infinite & (narrowed == "tf32x3"))
        if narrowed == "tf32x3":
            # So are products with low parts, of at most 2^-9 of all, which may be the first to leave the range.
            split = total >= _NEARLY_TOO_LARGE * 2.0**9
            positive, negative = positive | split, negative | split
        leaves = leaves | infinite
        # Payloads below the bits of tf32 are cut off, which leaves an infinity.
        short = [np.isnan(x) & ((x.view(np.int32) & 0x7FE000) == 0) for x in (a, b)]
        lost = _in_row(short[0]) | _in_column(short[1])
        never = _in_row(np.isnan(left) & ~short[0]) | _in_column(np.isnan(right) & ~short[1])
    if acc is not None:
        never = never | np.isnan(acc)
    if not (leaves | lost | made | negative_zeros).any():
        return exact[None]
    also = ((leaves & positive) | lost, (leaves & negative) | lost, (leaves & positive & negative) | made)
    return np.stack([exact, *(np.where(right_too & ~never, value, exact)
                              for right_too, value in zip(also, (np.inf, -np.inf, np.nan), strict=True)),
                     np.where(negative_zeros, -0.0, exact)])
