"""Subnormal fp32 numbers as zeros, in numpy (contract: language.md §2)."""


import numpy as np

from tridiff.oracles.dtypes import Array

SMALLEST_NORMAL = 2.0**-126


def tiny(x: Array) -> Array:
    """True where a number of type fp32 is subnormal; nowhere in other types."""
    if x.dtype != np.float32:
        return np.zeros(x.shape, dtype=bool)
    return (x != 0) & (np.abs(x) < np.float32(SMALLEST_NORMAL))


def flushed(x: Array) -> Array:
    """x with the zero of its sign in place of each subnormal fp32 number."""
    return np.where(tiny(x), np.copysign(np.zeros_like(x), x), x)


def with_size(x: Array, *, below: float, size: float, turned: bool = False) -> Array:
    """x with a number of this size and its sign (turned: the other one) in place of each that is neither zero nor
    larger than `below`."""
    return np.where((x != 0) & (np.abs(x) <= below), np.copysign(np.full_like(x, size), -x if turned else x), x)


def turned_zeros(x: Array, before: Array) -> Array:
    """x with the zero of the other sign where it is zero and `before` was not."""
    return np.where((x == 0) & (before != 0), -x, x)


def replaced(x: Array, places: Array, part: Array) -> Array:
    """A copy with other values in some rows. places: bool, one per row."""
    found = x.copy()
    found[places] = part
    return found


def stacked(found: list[Array]) -> Array:
    return np.stack(found)
