"""Parts and neighbours of floats, in numpy (source: C17 §7.12, CUDA Math API). Results have the type of the operands
unless it is said otherwise."""

import math

import numpy as np

from tridiff.oracles.dtypes import Array


def half_to_even(x: Array) -> Array:
    return np.asarray(np.rint(x))


def half_away(x: Array) -> Array:
    """The nearest whole number, halves away from zero."""
    with np.errstate(invalid="ignore"):
        whole = np.trunc(x)
        return np.copysign(np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole), x).astype(x.dtype)


def saturated(x: Array) -> Array:
    """x within [0, 1]; +0 for NaN and for what lies below."""
    return np.where(x > 0, np.minimum(x, np.asarray(1, x.dtype)), np.asarray(0, x.dtype)).astype(x.dtype)


def finite(x: Array) -> Array:
    """i1."""
    return np.asarray(np.isfinite(x))


def nan(x: Array) -> Array:
    """i1."""
    return np.asarray(np.isnan(x))


def infinite(x: Array) -> Array:
    """i1."""
    return np.asarray(np.isinf(x))


def negative(x: Array) -> Array:
    """i1: the sign bit."""
    return np.asarray(np.signbit(x))


def distance(a: Array, b: Array) -> Array:
    """a - b where that is positive, else +0; NaN where an operand is."""
    with np.errstate(all="ignore"):
        return np.where(a <= b, np.asarray(0, a.dtype), a - b).astype(a.dtype)


def exponent(x: Array) -> Array:
    """The exponent of the first bit as a float: -inf of zero, inf of an infinity."""
    with np.errstate(all="ignore"):
        found = np.where(x == 0, -np.inf, np.frexp(x)[1] - 1)
        return np.where(np.isfinite(x), found, np.abs(x)).astype(x.dtype)


def scaled(x: Array, power: Array) -> Array:
    """x * 2^power, rounded once."""
    with np.errstate(all="ignore"):
        return np.asarray(np.ldexp(x, np.clip(power, -5000, 5000).astype(np.int32)))


def remainder_to_nearest(a: Array, b: Array) -> Array:
    """a - n b for the whole n nearest to a / b, halves to even (IEEE 754 remainder)."""
    def one(x: float, y: float) -> float:
        return math.nan if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0 else math.remainder(x, y)

    pairs = zip(a.astype(np.float64).reshape(-1).tolist(), b.astype(np.float64).reshape(-1).tolist(), strict=True)
    return np.array([one(x, y) for x, y in pairs]).astype(a.dtype).reshape(a.shape)


def normal_pair(first: Array, second: Array) -> tuple[Array, Array]:
    """float64: two normal numbers of two uniform ones by Box and Muller; the first is at least 1e-7."""
    size = np.sqrt(-2.0 * np.log(np.maximum(first.astype(np.float64), float(np.float32(1e-7)))))
    angle = 2 * np.pi * second.astype(np.float64)
    return size * np.cos(angle), size * np.sin(angle)
