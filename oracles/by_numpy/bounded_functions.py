"""Elementary functions of values with error bounds (contract: oracles.md §3).

What an operand's error does to the result comes from evaluating monotone functions at both ends, from Lipschitz
constants, or from partial derivatives. The accuracy of each function is its rule in `tridiff.oracles.pointwise`.
"""


import numpy as np

from tridiff.kernels.pointwise.table import OPS
from tridiff.oracles.by_numpy import functions
from tridiff.oracles.by_numpy.bounded import TINY, Real, product_of_unknown, settle
from tridiff.oracles.by_numpy.special import SPECIAL
from tridiff.oracles.dtypes import Array, dtype
from tridiff.oracles.pointwise import accuracy, meaning, row_of

_FLUSHED = 2.0**-126
"""Magnitudes below this may be flushed to zero by fp32 library functions (oracles.md §3)."""


def may_flush(x: Array, name: str) -> Array:
    """Elements that fp32 library functions may flush to zero."""
    return np.asarray((np.abs(x) < _FLUSHED) & (x != 0) & (name == "fp32"))


_MONOTONE = frozenset(op.name for op in OPS.values() if op.course == "monotone")
_EVEN = frozenset(op.name for op in OPS.values() if op.course == "even")
_LIPSCHITZ = {op.name: op.slope for op in OPS.values() if op.slope is not None}
_POLES = frozenset(("reciprocal", "rsqrt"))
_NO_LIBRARY = frozenset(("reciprocal", "sqrt_rn", "div_rn"))
_ONE_INSTRUCTION = frozenset(("sqrt", "sqrt_rn", "rsqrt", "reciprocal"))
"""Not products of other numbers, whatever follows."""
_ONE_AT_ZERO = frozenset(("exp", "exp2", "cos", "cosh", "i0"))
"""f(0) = 1 by the documentation of the CUDA math library. It says nothing of j0, erfc and erfcx: j0f(0) is 1.0000001,
a polynomial in the distance to the first root, evaluated at that root."""


_ZERO_AT_ONE = frozenset(("log", "log2", "log10", "acos", "acosh"))
"""f(1) = 0 by the same documentation; of which sign is left open."""


def function(op: str, x: Array) -> Array:
    """The float64 value of a function of one variable; op as `tridiff.oracles.pointwise.meaning` gives it."""
    if op in SPECIAL:
        return SPECIAL[op](x)
    return np.asarray(functions.FUNCTIONS[{"sqrt_rn": "sqrt"}.get(op, op)](x))


def _accuracy(op: str, name: str, x: Array, value: Array) -> tuple[Array | float, Array | float]:
    """(ulps, absolute error) of a function in type `name` at x, the final rounding included."""
    row = accuracy(row_of(op, name))
    regions = row.fp64_regions if name == "fp64" else row.fp32_regions
    rule = row.fp64 if name == "fp64" else row.fp32
    ulps: Array | float = 0.5
    absolute: Array | float = 0.0
    for inside, one in [(None, rule), *(((r.low, r.high), r.rule) for r in regions)]:
        found: Array | float = 0.5
        add_on: Array | float = 0.0
        if one.kind == "ULP":
            found = one.k + one.plus_per_abs_x * np.where(np.isfinite(x), np.abs(x), 0.0) + 0.5
        elif one.kind == "ABS":
            add_on = one.k
        elif one.kind == "SUM":  # lgamma between its roots
            size = np.maximum(np.where(np.isfinite(value), np.abs(value), 1.0), 1.0)
            add_on = size * 2.0**-48 if name == "fp64" else 2.0**-18
        where = np.ones(x.shape, bool) if inside is None else (x > inside[0]) & (x < inside[1])
        ulps, absolute = np.where(where, found, ulps), np.where(where, add_on, absolute)
    # Beyond a region's figure the values on either side may be meant: x itself is blurred by less than that.
    return ulps, absolute


def smooth(op: str, x: Real) -> Real:
    """A function of one variable with an accuracy row: exp, sin, lgamma, ..."""
    meant = meaning(op)
    if meant == "exp2" and x.dtype == "fp64":
        # The library begins with x - rint(x), which takes a product unrounded.
        x = Real(x.dtype, x.value, x.loose())
    value = function(meant, x.value)
    low, high = x.low, x.high
    with np.errstate(invalid="ignore"):
        # Outside of the domain throughout, on one side of it.
        nowhere = np.isnan(value) & np.isnan(function(meant, low)) & np.isnan(function(meant, high)) & (
            np.abs(x.value) > x.error) & np.isfinite(x.error)
    if meant in _MONOTONE:
        if meant == "acos" or meant == "asin":
            low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)
        below, above = function(meant, low), function(meant, high)
        spread = np.maximum(np.abs(value - below), np.abs(above - value))
        spread = np.where((below == value) & (above == value), 0.0, spread)
        if meant in _POLES:
            spread = np.where(np.abs(x.value) > x.error, spread, np.inf)
        if meant in ("acos", "asin"):
            outside = (np.abs(x.value) + x.error > 1) & (np.abs(x.value) - x.error <= 1)
            spread = np.where(outside, np.inf, spread)
    elif meant in _EVEN:
        size = np.abs(x.value)
        above, below = function(meant, size + x.error), function(meant, np.maximum(size - x.error, 0.0))
        spread = np.maximum(np.abs(above - value), np.abs(value - below))
        spread = np.where((above == value) & (below == value), 0.0, spread)
    elif meant in _LIPSCHITZ:
        spread = np.where(np.isfinite(x.value), _LIPSCHITZ[meant] * x.error, np.where(x.error < np.inf, 0.0, np.inf))
    elif meant == "tan":
        # The derivative is 1 + tan^2, at most four times that within the quarter turn that a small error leaves.
        slope = 1.0 + value * value
        spread = np.where(x.error * np.sqrt(slope) < 0.25, 4.0 * slope * x.error, np.inf)
        spread = np.where(np.isfinite(x.value), spread, 0.0)
    elif meant in ("y0", "y1"):
        left = np.where(low > 0, low, 1.0)
        # y0' = -y1, y1' = y0 - y1 / x.
        near = np.abs(function("y1", left))
        slope = np.abs(function("y0", left)) + near / left if meant == "y1" else near
        spread = np.where(low > 0, (slope + 1.0) * x.error, np.inf)
        spread = np.where(x.value + x.error < 0, 0.0, spread)
    else:
        # No bound on the derivative is written down: only certain operands are judged.
        spread = np.full(value.shape, np.inf)
    spread = np.where(x.exact | x.nan | nowhere, 0.0, spread)
    spread = np.where(np.isinf(x.error), np.inf, spread)
    ulps, absolute = _accuracy(op, x.dtype, x.value, value)
    if x.dtype == "fp64":
        # numpy's and the C library's own functions are within four ulps of float64.
        ulps = ulps + (64.0 if meant in SPECIAL or meant in ("lgamma", "erf", "erfc") else 4.0)
        if meant in ("j0", "j1", "y0", "y1", "lgamma", "i0", "i1", "erfcx", "erfinv"):
            absolute = absolute + 1e-13
    if x.dtype == "fp32" and meant not in _NO_LIBRARY:
        flushed = function(meant, np.copysign(0.0, x.value))
        moved = np.where(np.isfinite(flushed) | (flushed == value), np.abs(flushed - value), np.inf)
        moved = np.where(flushed == value, 0.0, moved)
        spread = np.where(may_flush(x.value, "fp32") | ((np.abs(x.value) - x.error < _FLUSHED) & ~x.exact & ~x.nan),
                          spread + moved + (_FLUSHED if meant not in ("log", "log2", "log10", "rsqrt") else 0.0),
                          spread)
        absolute = absolute + np.where((np.abs(value) < 2 * _FLUSHED) & (value != 0), _FLUSHED, 0.0)
    if meant == "sigmoid":
        # 1 / (1 + exp(-x)) is 0 where exp(-x) overflows, which the result itself would hold as a subnormal number.
        normal = dtype(x.dtype).smallest_normal
        absolute = absolute + np.where(np.abs(value) < 2 * normal, normal, 0.0)
    found = settle(x.dtype, value, spread, ulps=ulps, absolute=absolute, rounds=meant == "sqrt_rn")
    # f(0) = 0 and the like are certain to every library; a sign or an infinity is not blurred by an ulp figure.
    fixed = x.exact & ((value == 0) | ~np.isfinite(value) | ((value == 1) & (x.value == 0) & (meant in _ONE_AT_ZERO)))
    settled = np.where(fixed & (value == 0), np.where(x.value == 0, 0.0, found.error), found.error)
    settled = np.where(fixed & (value == 1), 0.0, settled)
    if meant in _ZERO_AT_ONE:
        settled = np.where(x.exact & (x.value == 1), 0.0, settled)
    if meant in ("j1", "lgamma", "log", "log2", "log10", "log1p", "acosh", "acos", "erfinv", "y0", "y1", "i1"):
        settled = np.where(x.exact & (value == 0), np.maximum(settled, TINY), settled)
    settled_real = Real(x.dtype, found.value, settled)
    return settled_real if meant in _ONE_INSTRUCTION else product_of_unknown(settled_real)


def power(a: Real, b: Real) -> Real:
    value = np.power(a.value, b.value)
    exact = a.exact & b.exact
    with np.errstate(all="ignore"):
        near = np.abs(a.value) - a.error
        relative = np.expm1(np.abs(b.value) * a.error / near + b.error * np.maximum(
            np.abs(np.log(near)), np.abs(np.log(a.value + a.error))) + b.error * a.error / near)
        # What the reference flushed to 0 may be as large as the smallest normal double.
        size = np.maximum(np.abs(value), np.finfo(np.float64).tiny)
        spread = np.where((a.value > a.error) & np.isfinite(value), size * relative, np.inf)
    subnormal = may_flush(a.value, a.dtype) | may_flush(b.value, a.dtype)
    spread = np.where(exact, 0.0, spread)
    small = np.where((np.abs(value) < 2 * _FLUSHED) & (a.value != 0) & (a.dtype == "fp32"), _FLUSHED, 0.0)
    k = 8.5 if a.dtype == "fp32" else 2.5 + 4.0
    found = settle(a.dtype, value, spread, ulps=k, absolute=small)
    trivial = exact & ((b.value == 0) | (a.value == 1) | (a.value == 0) & np.isfinite(value))
    zero = exact & (value == 0) & (a.value != 0)
    error = np.where(trivial, 0.0, np.where(zero, np.maximum(found.error, TINY), found.error))
    # No number below zero has a power that is no whole number.
    never = (a.value + a.error < 0) & np.isfinite(a.value) & (np.ceil(b.low) > b.high) & np.isfinite(b.value)
    known = Real(a.dtype, np.where(never, np.nan, found.value), np.where(never, 0.0, error))
    return product_of_unknown(known.open_where(subnormal))


def atan2(a: Real, b: Real) -> Real:
    value = np.arctan2(a.value, b.value)
    radius = np.hypot(a.value, b.value)
    moved = np.hypot(a.error, b.error)
    exact = a.exact & b.exact
    with np.errstate(all="ignore"):
        # Away from the origin an error turns the angle by at most asin(error / radius); the cut is a jump.
        spread = np.where(radius > 2 * moved, 2.0 * moved / radius, np.inf)
        cut = (b.value - b.error < 0) & (np.abs(a.value) <= a.error) & ~a.exact
        spread = np.where(exact, 0.0, np.where(cut | ~np.isfinite(radius), np.inf, spread))
    subnormal = may_flush(a.value, a.dtype) | may_flush(b.value, a.dtype)
    tiny = np.where(np.abs(value) < 2 * _FLUSHED, _FLUSHED, 0.0) if a.dtype == "fp32" else 0.0
    found = settle(a.dtype, value, np.where(a.nan | b.nan, 0.0, spread), ulps=3.5 if a.dtype == "fp32" else 6.5,
                   absolute=np.where(value == 0, 0.0, tiny))
    return found.open_where(subnormal)


def hypot(a: Real, b: Real) -> Real:
    """A subnormal operand may count as zero, which a result just above the normal numbers shows."""
    value = np.hypot(a.value, b.value)
    infinite = np.isinf(a.value) & np.isfinite(a.error) | np.isinf(b.value) & np.isfinite(b.error)
    nan = (a.nan | b.nan) & ~infinite
    spread = np.where(infinite, 0.0, np.where(nan & np.isfinite(a.error + b.error), 0.0, a.error + b.error))
    tiny: Array | float = 0.0
    if a.dtype == "fp32":
        flushed = np.hypot(*(np.where(np.abs(x.value) - x.error < _FLUSHED, 0.0, x.value) for x in (a, b)))
        lost = np.where(np.isfinite(flushed), value - flushed, 0.0)
        tiny = np.where(np.abs(value) < 4 * _FLUSHED, 2 * _FLUSHED, lost)
    found = settle(a.dtype, value, spread, ulps=3.5 if a.dtype == "fp32" else 6.5, absolute=tiny)
    zero = a.exact & b.exact & (value == 0)
    return Real(a.dtype, found.value, np.where(zero, 0.0, found.error))
