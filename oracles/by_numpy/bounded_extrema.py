"""Extrema of values with error bounds (contract: codegen.md §3): which operand it is, NaN, zeros of either sign, and
whether it still is a product."""


import numpy as np

from tridiff.oracles.by_numpy.bounded import TINY, Real
from tridiff.oracles.dtypes import Array


def _fused_of(a: Real, b: Real, first: Array, second: Array) -> Array | None:
    """How far the unrounded product may be of a choice between two values: LLVM moves a sum with a constant into the
    arms of a choice of which one is constant, where it meets the product again (PTX of 3.6.0 and 3.9.0)."""
    if a.fused is None and b.fused is None:
        return None
    one, other = (0.0 if x.fused is None else x.fused for x in (a, b))
    return np.where(first, one, np.where(second, other, np.maximum(one, other)))


def extremum(a: Real, b: Real, *, largest: bool, keeps_nan: bool | None) -> Real:
    """min or max, written as a choice. keeps_nan: one NaN operand gives NaN (True), the number (False), or is open
    (None). Of a value and itself it is that value, and still a product if that is one: compilers know."""
    if a is b:
        return a
    with np.errstate(invalid="ignore"):
        value = (np.maximum if largest else np.minimum)(a.value, b.value)
        one_nan = np.isnan(a.value) ^ np.isnan(b.value)
        number = np.where(np.isnan(a.value), b.value, a.value)
        number_error = np.where(np.isnan(a.value), b.error, a.error)
        first = (a.value - a.error > b.value + b.error) if largest else (a.value + a.error < b.value - b.error)
        second = (b.value - b.error > a.value + a.error) if largest else (b.value + b.error < a.value - a.error)
        error = np.where(first, a.error, np.where(second, b.error, np.maximum(a.error, b.error)))
        both_zero = (a.value == 0) & (b.value == 0) & (np.signbit(a.value) != np.signbit(b.value))
        error = np.where(both_zero, np.maximum(error, TINY), error)
    unknown = np.isinf(a.error) | np.isinf(b.error)
    if keeps_nan is False:
        value, error = np.where(one_nan, number, value), np.where(one_nan, number_error, error)
    elif keeps_nan is None:
        error = np.where(one_nan, np.inf, error)
    else:
        error = np.where(one_nan, 0.0, error)
        unknown &= ~(a.nan | b.nan)  # of which NaN wins, whatever the other one is
        value = np.where(a.nan | b.nan, np.nan, value)
    return Real(a.dtype, value, np.where(unknown & ~(first | second), np.inf, error), _fused_of(a, b, first, second))


def in_one_instruction(a: Real, b: Real, *, largest: bool, keeps_nan: bool | None) -> Real:
    """min or max as Triton has it, which is no choice."""
    found = extremum(a, b, largest=largest, keeps_nan=keeps_nan)
    return found if a is b else Real(found.dtype, found.value, found.error)


def clamp(x: Real, low: Real, high: Real) -> Real:
    return extremum(extremum(x, low, largest=True, keeps_nan=True), high, largest=False, keeps_nan=True)


def relu(x: Real) -> Real:
    with np.errstate(invalid="ignore"):
        value = np.where(x.value <= 0, 0.0, x.value)
    minus_zero = (x.value == 0) & np.signbit(x.value)
    error = np.where(minus_zero, np.maximum(x.error, TINY), x.error)
    below = x.value + x.error < 0
    return Real(x.dtype, value, np.where(below, 0.0, error), None if x.fused is None else np.where(below, 0.0, x.fused))
