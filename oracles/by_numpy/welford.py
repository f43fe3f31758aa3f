"""Welford states in numpy by the closed formula (contract: helpers.md §7).

A state is (mean, m2, weight). Results are unrounded float64 (computed in longdouble); compare m2 with
`welford_m2_bound`, mean with SET(SUM) over `mean_candidates` and `welford_mean_bound`, weight with BIT after
a cast. A partner of weight 0 contributes nothing whatever it holds. A slice with an infinity or NaN has m2
NaN; its mean may be NaN or, with infinities of one sign, that infinity.
"""


import numpy as np

from tridiff.oracles.dtypes import Array

State = tuple[Array, Array, Array]


def welford(mean: Array, m2: Array, weight: Array, axis: int = -1) -> State:
    """The state of all elements along `axis` (removed)."""
    w = np.asarray(weight).astype(np.longdouble)
    counted = w != 0
    means = np.where(counted, np.asarray(mean).astype(np.longdouble), 0)
    inner = np.where(counted, np.asarray(m2).astype(np.longdouble), 0)
    with np.errstate(all="ignore"):
        count = w.sum(axis=axis)
        centre = (means * w).sum(axis=axis) / np.where(count == 0, 1, count)
        gaps = means - np.expand_dims(centre, axis)
        spread = (inner + np.where(counted, w * gaps * gaps, 0)).sum(axis=axis)
        regular = np.isfinite(means).all(axis=axis) & np.isfinite(inner).all(axis=axis)
    return (
        np.where(np.isfinite(means).all(axis=axis), centre, np.nan).astype(np.float64),
        np.where(regular, spread, np.nan).astype(np.float64), count.astype(np.float64),
    )


def welford_combine(mean_1: Array, m2_1: Array, weight_1: Array, mean_2: Array, m2_2: Array, weight_2: Array) -> State:
    """The state of two states together, element-wise."""
    return welford(np.stack([mean_1, mean_2]), np.stack([m2_1, m2_2]), np.stack([weight_1, weight_2]), axis=0)


def welford_reduce(value: Array, mean: Array, m2: Array, weight: Array, *, first_iteration: bool) -> State:
    """The state after one more element; the incoming state is ignored on the first iteration."""
    one, zero = np.ones_like(weight), np.zeros_like(m2)
    if first_iteration:
        return welford(np.stack([value]), np.stack([zero]), np.stack([one]), axis=0)
    return welford_combine(mean, m2, weight, value, zero, one)


def mean_candidates(mean: Array, weight: Array, axis: int = -1) -> Array:
    """(2, ...) float64: the allowed means of a slice. They differ only where the slice holds infinities of
    one sign.
    """
    w = np.asarray(weight)
    values = np.where(w != 0, np.asarray(mean).astype(np.float64), 0)
    centre = welford(mean, np.zeros_like(mean), weight, axis)[0]
    with np.errstate(invalid="ignore"):
        total = np.where(np.isfinite(values), 0, values).sum(axis=axis)
    return np.stack([centre, np.where(np.isinf(total), total, centre)])


def var_mean(x: Array, axis: int = -1, *, correction: int = 0) -> tuple[Array, Array]:
    """(variance, mean) of the elements along `axis` (removed); NaN where the count is at most the
    correction.
    """
    zero, one = np.zeros(x.shape), np.ones(x.shape)
    centre, spread, count = welford(x, zero, one, axis)
    left = count - correction
    return np.where(left > 0, spread / np.where(left > 0, left, 1), np.nan), centre
