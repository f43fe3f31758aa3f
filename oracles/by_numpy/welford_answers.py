"""All admissible Welford states of a kernel's inputs, in numpy (contract: helpers.md §7; oracles.md §5).

Conventions as in `tridiff.oracles.by_torch.welford_answers`.
"""


import numpy as np

from tridiff.oracles.by_numpy.welford import mean_candidates, welford
from tridiff.oracles.dtypes import Array, numpy_dtype

State = tuple[Array, Array, Array]


def _either_zero(candidates: Array) -> Array:
    """The candidates, and once more with the sign of zeros changed: no rule fixes it."""
    return np.concatenate([candidates, np.where(candidates == 0, -candidates, candidates)])


def states(mean: Array, m2: Array, weight: Array) -> State:
    """Of each row of states merged."""
    with np.errstate(all="ignore"):
        _, spread, count = welford(mean, m2, weight)
        means = mean_candidates(mean, weight)
    return _either_zero(means), _either_zero(np.stack([spread, spread])), count


def rows(a: Array, *, accumulator: str) -> State:
    """Of each row of elements, converted to the accumulator type first."""
    with np.errstate(all="ignore"):
        wide = a.astype(numpy_dtype(accumulator))
    return states(wide, np.zeros_like(wide), np.ones_like(wide))


def pairs(mean_1: Array, m2_1: Array, weight_1: Array, mean_2: Array, m2_2: Array, weight_2: Array) -> State:
    """Of two states each, element-wise."""
    mean, m2, weight = np.stack([mean_1, mean_2]), np.stack([m2_1, m2_2]), np.stack([weight_1, weight_2])
    with np.errstate(all="ignore"):
        _, spread, count = welford(mean, m2, weight, 0)
        means = mean_candidates(mean, weight, 0)
        handed_on = np.where(weight_1 != 0, m2_1, m2_2).astype(np.float64)
    alone = (weight != 0).sum(axis=0) == 1
    spreads = np.stack([spread, np.where(alone, handed_on, spread)])
    return _either_zero(means), _either_zero(spreads), count


def step(value: Array, mean: Array, m2: Array, weight: Array, *, first: bool) -> State:
    """After one more element; the first one gives (value, 0, 1) whatever came before."""
    if first:
        kept = value.astype(np.float64)
        return np.stack([kept, kept]), np.zeros((2, *kept.shape)), np.ones_like(kept)
    return pairs(mean, m2, weight, value, np.zeros_like(m2), np.ones_like(weight))
