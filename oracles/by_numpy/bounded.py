"""Values with error bounds: what a chain of rounded operations may produce (contract: oracles.md §2 to §4).

A `Real` holds, per element, a float64 value and how far the subject's value may lie from it. Error 0 means that the
subject has exactly this value, the sign of zero included (of a NaN only that it is one); an infinite error leaves
the element open. `TINY` stands for "zero, of either sign". Errors are derived, never guessed: the rounding of each
operation in its own type (`settle`), and what it makes of its operands' errors. The value itself is computed in
float64, whose rounding is part of every non-zero bound.

A `Whole` holds integers or truth values of numpy's own type and which elements are open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tridiff.oracles.dtypes import Array, dtype, numpy_dtype

TINY = 5e-324
"""Error of a zero of unknown sign: smaller than any other."""

_REFERENCE = 2.0**-51
"""Relative error of the reference's own arithmetic: four roundings to nearest in float64."""


@dataclass(frozen=True, slots=True, eq=False)
class Real:
    """Float values of type `dtype`, float64 `value` and `error` of one shape. fused: where this is a product that a sum
    may take unrounded (contraction into one fma), how far the unrounded product may lie from the rounded one."""

    dtype: str
    value: Array
    error: Array
    fused: Array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def low(self) -> Array:
        return np.asarray(self.value - self.error)

    @property
    def high(self) -> Array:
        return np.asarray(self.value + self.error)

    @property
    def exact(self) -> Array:
        """Elements whose value is certain."""
        return np.asarray(self.error == 0)

    @property
    def nan(self) -> Array:
        """Elements that are certainly NaN."""
        return np.asarray(np.isnan(self.value) & (self.error == 0))

    def open_where(self, mask: Array) -> Real:
        """The same with further elements open."""
        return Real(self.dtype, self.value, np.where(mask, np.inf, self.error), self.fused)

    def each(self, change: Callable[[Array], Array]) -> Real:
        """The same with its arrays changed alike."""
        return Real(self.dtype, change(self.value), change(self.error),
                    None if self.fused is None else change(self.fused))

    def loose(self) -> Array:
        """The error if a sum may take the unrounded product instead."""
        return self.error if self.fused is None else self.error + self.fused


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Integers or truth values (`i1`: numpy bool) of type `dtype`, and the elements that are open."""

    dtype: str
    value: Array
    open: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def open_where(self, mask: Array) -> Whole:
        """The same with further elements open."""
        return Whole(self.dtype, self.value, np.asarray(self.open | mask))

    def each(self, change: Callable[[Array], Array]) -> Whole:
        """The same with its arrays changed alike."""
        return Whole(self.dtype, change(self.value), change(self.open))


Value = Real | Whole


def exact_real(name: str, value: Array) -> Real:
    """Certain values; float64 array whose elements type `name` represents. NaNs become quiet: to the C library,
    hypot(inf, signalling NaN) is NaN."""
    wide = np.asarray(value, dtype=np.float64)
    return Real(name, np.where(np.isnan(wide), np.nan, wide), np.zeros(wide.shape))


def whole(name: str, value: Array, is_open: Array | None = None) -> Whole:
    """Integers wrapped into type `name`, or truth values."""
    typed = np.asarray(value)
    if typed.dtype != numpy_dtype(name):
        typed = typed.astype(numpy_dtype(name))
    mask = np.zeros(typed.shape, dtype=bool) if is_open is None else np.broadcast_to(is_open, typed.shape)
    return Whole(name, typed, mask)


def rounded(value: Array, name: str) -> Array:
    """float64 values rounded once to type `name` (nearest even, overflow to infinity), as float64.

    bf16 and fp8 are reached by way of fp32: give them values that fp32 holds.
    """
    if name == "fp64":
        return value
    with np.errstate(all="ignore"):
        if name == "fp8e4nv":
            clipped = np.where(np.isnan(value), value, np.clip(value, -448.0, 448.0))
            return np.asarray(clipped.astype(np.float32).astype(numpy_dtype(name)).astype(np.float64))
        if name in ("bf16", "fp8e5"):
            return np.asarray(value.astype(np.float32).astype(numpy_dtype(name)).astype(np.float64))
        return np.asarray(value.astype(numpy_dtype(name)).astype(np.float64))


def spacing(value: Array, name: str) -> Array:
    """Distance between neighbours of type `name` at |value|: the larger one at a power of two, float64.

    That of the subnormals below the smallest normal, that of the top binade beyond the largest number.
    """
    kind = dtype(name)
    size = np.abs(value)
    size = np.where(size < np.inf, size, kind.max)
    exponent = np.where(size == 0, -2000, np.frexp(np.minimum(size, float(kind.max)))[1] - 1)
    exponent = np.maximum(exponent, 1 - kind.bias) - kind.mantissa_bits
    return np.asarray(np.ldexp(1.0, exponent))


def overflow_threshold(name: str) -> float:
    """The smallest number that rounds to infinity."""
    kind = dtype(name)
    return float(kind.max) * (1.0 + kind.unit_roundoff / (2.0 - 2.0 * kind.unit_roundoff)) if name != "fp64" else np.inf


def settle(
    name: str, value: Array, spread: Array | float, *, ulps: Array | float = 0.5, absolute: Array | float = 0.0,
    rounds: bool = False,
) -> Real:
    """The result of an operation in type `name`.

    value: the true result for the operands' values, in float64. spread: how far the operands' errors move it, NaN
    where that is unknown. ulps: accuracy of the operation, the half ulp of rounding included. absolute: added.
    rounds: the operation rounds correctly, so that certain operands (spread 0) give a certain result.
    """
    with np.errstate(all="ignore"):
        spread = np.broadcast_to(np.asarray(spread, dtype=np.float64), value.shape)
        finite = np.isfinite(value)
        size = np.where(finite, np.abs(value), 0.0)
        error = spread + ulps * spacing(size + spread, name) + absolute + _REFERENCE * size
        if name == "fp64":
            # Below the normal numbers the reference rounds to the same steps as the subject, and half a step is none.
            below = (size < 2 * dtype(name).smallest_normal) & ((value != 0) | (spread > TINY))
            error = error + np.where(below, dtype(name).smallest_subnormal, 0.0)
        if name != "fp64":
            # Near the overflow threshold either side of it may come out; beyond it only infinity does.
            edge = overflow_threshold(name)
            beyond = finite & (size - error >= edge)
            near = finite & ~beyond & (size + error >= edge)
            value = np.where(beyond, np.copysign(np.inf, value), value)
            error = np.where(beyond, 0.0, np.where(near, np.inf, error))
        else:
            error = np.where(finite & (size + error > 1.7e308), np.inf, error)
        error = np.where(finite | np.isnan(spread), error, np.where(spread == 0, 0.0, np.inf))
        error = np.where(np.isnan(error), np.inf, error)
        if rounds:
            certain = spread == 0
            value = np.where(certain, rounded(value, name), value)
            error = np.where(certain, 0.0, error)
    return Real(name, value, error)


def nearest(value: Array, name: str) -> Array:
    """float64 values rounded once to type `name`, ties to even, however far apart the types are; no overflow."""
    kind = dtype(name)
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.where(np.isfinite(value), value, 0.0))[1] - 1
        quantum = np.maximum(exponent, 1 - kind.bias) - kind.mantissa_bits
        return np.where(np.isfinite(value), np.ldexp(np.rint(np.ldexp(value, -quantum)), quantum), value)


def cast_real(x: Real, name: str) -> Real:
    """x rounded to type `name`. From fp64 to bf16 and fp8 the way by fp32 rounds twice, which is allowed: half an
    ulp of both types; fp8e4nv saturates, infinities included; where fp8e5 overflows it may saturate and is left open
    (oracles.md §5)."""
    source, target = dtype(x.dtype), dtype(name)
    if x.dtype == name or (target.mantissa_bits >= source.mantissa_bits and target.bias >= source.bias
                           and target.has_inf and source.has_inf):
        return Real(name, x.value, x.error, x.fused)
    with np.errstate(all="ignore"):
        by_single = 0.5 * spacing(np.abs(x.value) + x.error, "fp32") if x.dtype == "fp64" else 0.0
        if name == "fp8e4nv":
            return _saturated(x, by_single)
        found = settle(name, x.value, x.error, rounds=True, absolute=by_single if name in ("bf16", "fp8e5") else 0.0)
        if x.dtype == "fp64" and name in ("bf16", "fp8e5"):
            twice = (found.error == 0) & np.isfinite(found.value) & (found.value != nearest(x.value, name))
            found = Real(name, found.value, np.where(twice, spacing(found.value, name), found.error))
        if name in ("fp16", "bf16") and x.dtype == "fp32" and x.fused is not None:
            # LLVM makes a product of halves that is rounded to their type one operation, which a sum of halves takes
            # unrounded as well: the fma of the half type.
            lost = np.where(x.exact, np.abs(x.value - found.value), spacing(found.value, name))
            overflowed = np.where(np.isfinite(x.value), np.inf, x.fused)
            found = Real(name, found.value, found.error, np.where(np.isfinite(found.value), x.fused + lost, overflowed))
        if name == "fp32" and x.fused is not None:
            # Widened to fp64 and back it is what it was before, as a product too.
            found = Real(name, found.value, found.error, np.where(x.exact & (found.value != x.value), 0.0, x.fused))
        if name == "fp8e5":
            at_limit = np.abs(x.value) + x.error >= 57344.0
            found = found.open_where(at_limit & ~(x.exact & ((np.abs(x.value) < 61440.0) | np.isnan(x.value))))
    return found


def _saturated(x: Real, by_single: Array | float) -> Real:
    name, limit = "fp8e4nv", 448.0
    size = np.abs(x.value)
    inside = np.where(np.isnan(x.value), x.value, np.clip(x.value, -limit, limit))
    found = settle(name, inside, np.where(np.isfinite(x.value), x.error, 0.0), rounds=True)
    error = np.where(found.error == 0, 0.0, np.where(np.isinf(x.error), np.inf, x.error + by_single
                                                          + 0.5 * spacing(np.minimum(size + x.error, limit), name)))
    if x.dtype == "fp64":
        twice = (error == 0) & np.isfinite(inside) & (found.value != nearest(inside, name))
        error = np.where(twice, spacing(inside, name), error)
    beyond = size - x.error >= limit
    saturated = Real(name, np.where(beyond, np.copysign(limit, x.value), found.value), np.where(beyond, 0.0, error))
    return saturated.open_where(np.isinf(x.error))


def broadcast(*values: Value) -> tuple[int, ...]:
    """The common shape of some values."""
    return np.broadcast_shapes(*(v.shape for v in values))


def expand(x: Value, shape: tuple[int, ...]) -> Value:
    """x broadcast to a shape."""
    return x if x.shape == shape else x.each(lambda array: np.broadcast_to(array, shape))


def reshape(x: Value, shape: tuple[int, ...]) -> Value:
    """x in another shape."""
    return x.each(lambda array: np.broadcast_to(array, x.shape).reshape(shape))


def take(x: Value, where: Array) -> Value:
    """The elements that a numpy index selects."""
    return x.each(lambda array: np.broadcast_to(array, x.shape)[where])


def select(condition: Whole, first: Value, second: Value) -> Value:
    """first where the condition holds, else second; open where the condition is, unless both agree."""
    holds = condition.value
    if isinstance(first, Whole):
        assert isinstance(second, Whole)
        unsure = condition.open & ((first.value != second.value) | first.open | second.open)
        return Whole(first.dtype, np.where(holds, first.value, second.value),
                     np.where(holds, first.open, second.open) | unsure)
    assert isinstance(second, Real)
    value = np.where(holds, first.value, second.value)
    error = np.where(holds, first.error, second.error)
    most = np.maximum(first.error, second.error)
    with np.errstate(all="ignore"):
        apart = (first.value != second.value) | (np.signbit(first.value) != np.signbit(second.value))
        # Either of the two: numbers that far apart, or anything where one of them is infinite or NaN.
        distance = np.abs(first.value - second.value) * (1.0 + 2.0**-50) + most
    distance = np.where(np.isfinite(first.value) & np.isfinite(second.value), np.maximum(distance, TINY), np.inf)
    unsure = np.where(apart, distance, most)
    # Compilers move a sum with a choice into its arms, where it meets the product again.
    fused = None
    if first.fused is not None or second.fused is not None:
        one, other = (0.0 if x.fused is None else x.fused for x in (first, second))
        fused = np.where(condition.open, np.maximum(one, other), np.where(holds, one, other))
    return Real(first.dtype, value, np.where(condition.open, unsure, error), fused)


def product_of_unknown(x: Real) -> Real:
    """x as the result of a computation that may end in a product: a sum may take that unrounded, which lies within
    half a unit in the last place of the rounded one. Certain values need no rounding."""
    half = 0.5 * spacing(np.where(np.isfinite(x.value), x.value, 0.0), x.dtype)
    return Real(x.dtype, x.value, x.error, np.where(x.exact | ~np.isfinite(x.value), 0.0, half))
