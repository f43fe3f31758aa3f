"""Welford's mean and sum of squared deviations, streaming and merged (contract: helpers.md §7).

The state of a set of numbers is (mean, m2, weight): their mean, the sum of squared deviations from it, their count. The
variance is m2 / weight. All three are blocks of one float type, fp32 or fp64. The empty set is (0, 0, 0).
"""

import triton
import triton.language as tl


@triton.jit
def nan_unless_finite(x):
    """0 where x is finite, NaN where it is infinite or NaN: added to m2, it makes the variance of such a set NaN."""
    # inf - inf is NaN. Of an x that is a product, fused with this difference, x - x is the rounding error of x.
    return (x - x) * 0.0


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration):
    """The state after one more element; in the first iteration (value, 0, 1), whatever the state was.

    first_iteration: a scalar bool known at compile time or at run time. Masked lanes are the caller's to restore.
    In fp32 the weight stops growing at 2**24 elements.
    """
    # A selection rather than an `if`: one text serves both kinds of first_iteration, and NaNs in an uninitialised state
    # cannot leak, because they are never added to anything that is kept.
    new_weight = tl.where(first_iteration, 1.0, weight + 1).to(weight.dtype)
    delta = value - mean
    new_mean = tl.where(first_iteration, value, mean + delta / new_weight).to(mean.dtype)
    new_m2 = tl.where(first_iteration, 0.0, m2 + delta * (value - new_mean)).to(m2.dtype)
    return new_mean, new_m2, new_weight


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """The state of the union of two disjoint sets.

    A set of weight 0 adds nothing, whatever its mean and m2 hold: the result is then the other state, bit for bit, or
    (0, 0, 0) if both are empty. An infinite or NaN mean on either side makes m2 NaN.
    """
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    ratio = weight_2 / weight  # NaN where both are empty; such lanes are replaced below
    mean = mean_1 + delta * ratio
    # delta * delta may overflow to infinity or meet an infinity; a zero weight does not undo that (inf * 0 is NaN), so
    # empty sets are selected away instead of multiplied away.
    m2 = m2_1 + m2_2 + delta * delta * weight_1 * ratio
    m2 += nan_unless_finite(mean_1) + nan_unless_finite(mean_2)
    empty_1 = weight_1 == 0
    empty_2 = weight_2 == 0
    mean = tl.where(empty_1, mean_2, tl.where(empty_2, mean_1, mean))
    m2 = tl.where(empty_1, m2_2, tl.where(empty_2, m2_1, m2))
    both_empty = empty_1 & empty_2
    return tl.where(both_empty, 0.0, mean), tl.where(both_empty, 0.0, m2), weight


@triton.jit
def welford(mean, m2, weight, dim):
    """The state of the union along the constexpr axis dim, which is removed; returns (mean, m2, weight)."""
    mean, m2, weight = tl.reduce((mean, m2, weight), dim, welford_combine)
    # An axis of length 1 was merged with nothing: what an empty set holds is still there.
    empty = weight == 0
    mean = tl.where(empty, 0.0, mean)
    # A single infinity among empty sets was merged with nothing, and its m2 is still the 0 of a one-element set.
    return mean, tl.where(empty, 0.0, m2 + nan_unless_finite(mean)), weight
