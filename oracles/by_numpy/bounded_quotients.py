"""Remainders and rounded quotients of values with error bounds (contract: codegen.md §3, oracles.md §3)."""


import numpy as np

from tridiff.oracles.by_numpy import pointwise
from tridiff.oracles.by_numpy.bounded import TINY, Real, settle, spacing
from tridiff.oracles.by_numpy.bounded_functions import may_flush
from tridiff.oracles.dtypes import Array, dtype, numpy_dtype


def quotient_family(op: str, a: Real, b: Real) -> Real:
    """fmod, remainder, floor_divide, trunc_divide: exact operands give exact remainders. What blurred ones give lies
    within what the quotient can be, a step to either side, or within the divisor."""
    exact = a.exact & b.exact
    x, y = a.value, b.value
    rest = np.fmod(x, y)
    opposite = (rest != 0) & ((rest < 0) != (y < 0))
    if op == "fmod":
        value, error = rest, np.zeros(rest.shape)
    elif op == "remainder":
        moved = settle(a.dtype, rest + y, 0.0, rounds=True)
        value = np.where(opposite, moved.value, rest)
        error = np.where(value == 0, TINY, 0.0)
    else:
        # The candidates of the contract: computed in the type, or from the exact remainder.
        wide = a.dtype == "fp64"
        p, q = (x, y) if wide else (x.astype(np.float32), y.astype(np.float32))
        by_type = np.floor_divide(p, q) if op == "floor_divide" else np.trunc(p / q)
        whole_quotient = np.rint((x - rest) / y)
        floored = np.where(opposite, whole_quotient - 1, whole_quotient) if op == "floor_divide" else whole_quotient
        first = by_type.astype(np.float64)
        regular = np.isfinite(floored) & np.isfinite(first)
        value = first
        error = np.where(regular & (floored != first), np.abs(first - floored), 0.0)
        large = regular & (np.abs(first) >= 2.0 ** dtype(a.dtype).mantissa_bits)
        error = np.where(large, np.maximum(error, 2 * spacing(first, a.dtype)), error)
        error = np.where(value == 0, np.maximum(error, TINY), error)
    # fp32 library functions may flush subnormal operands and results.
    flushed = may_flush(x, a.dtype) | may_flush(y, a.dtype) | (may_flush(rest, a.dtype))
    nan = a.nan | b.nan
    certain = (exact & ~flushed) | nan
    return Real(a.dtype, value, np.where(certain, error, _blurred(op, a, b, value)))


def _blurred(op: str, a: Real, b: Real, value: Array) -> Array:
    """How far from `value` a member of the quotient family may lie for any operands within their errors, each flushed
    or not; infinite where the divisor may be zero or anything is not finite."""
    flush = dtype("fp32").smallest_normal if a.dtype == "fp32" else 0.0
    error_a = a.error + np.where(np.abs(a.value) - a.error < flush, flush, 0.0)
    most, least = np.abs(b.value) + b.error, np.abs(b.value) - b.error
    open_elements = ~(least > flush) | ~np.isfinite(a.value + error_a) | ~np.isfinite(most) | ~np.isfinite(value)
    with np.errstate(all="ignore"):
        if op in ("fmod", "remainder"):
            # Between -|b| and |b|, the ends included where a quotient near a whole number is rounded.
            return np.where(open_elements, np.inf, np.abs(value) + most * (1.0 + 2.0**-20))
        quotient = np.abs(a.value) / np.abs(b.value)
        moved = (error_a + quotient * b.error) / least
        found = moved + 2.0 + 4 * spacing(quotient + moved, a.dtype)
        too_large = quotient + found >= float(dtype(a.dtype).max)
    return np.where(open_elements | too_large, np.inf, found)


def mod_operator(a: Real, b: Real) -> Real:
    """`%` of Triton: div.rn, cvt.rzi and one fma, fusion or not, and a for an infinite b (PTX of both versions). numpy,
    for the interpreter, and a compiler that folds constants take the exact remainder: the bound spans both."""
    found = quotient_family("fmod", a, b)
    typed = numpy_dtype(a.dtype)
    x, y = a.value.astype(typed), b.value.astype(typed)
    lowered = np.where(np.isinf(y), x, pointwise.evaluate("fma", -np.trunc(x / y), y, x)).astype(np.float64)
    same = (lowered == found.value) | (np.isnan(lowered) & np.isnan(found.value))
    apart = np.abs(lowered - found.value) * (1 + 2.0**-50)
    error = np.where(same, found.error, np.maximum(found.error, np.where(np.isnan(apart), np.inf, apart)))
    # For blurred operands: a quotient that is rounded leaves as many divisors. An open operand may be held as NaN.
    rounded_away = 4 * spacing(np.abs(x / y).astype(np.float64), a.dtype) * (np.abs(b.value) + b.error)
    error = np.where(a.exact & b.exact | a.nan | b.nan, error, error + rounded_away)
    error = np.where(np.isnan(error), np.inf, error)
    return Real(a.dtype, found.value, np.where(found.value == 0, np.maximum(error, TINY), error))
