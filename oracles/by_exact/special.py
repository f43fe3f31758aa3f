"""Special functions in mpmath, each in two ways that share no formula: the references of rows of libdevice.

Values are rounded once to float64. Where mpmath has no answer (poles, outside of the domain, infinities), those of
`_limit` hold; what is not listed there is NaN.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np

from tridiff.oracles.dtypes import Array
from tridiff.oracles.errors import OracleError

Function = Callable[..., Any]

_mp = mpmath.mp.clone()
_mp.prec = 120
_INF, _NAN = math.inf, math.nan
BESSEL_FROM, BESSEL_TO = 2.0**-12, 2.0**9
"""Sizes for which Bessel functions of any order are asked: mpmath takes long beyond."""


def _gamma_by_logarithm(x: Any) -> Any:
    """exp of loggamma; below 1/2 by reflection."""
    if x < 0.5:
        return _mp.pi / (_mp.sin(_mp.pi * x) * _gamma_by_logarithm(1 - x))
    return _mp.exp(_mp.loggamma(x))


def _quantile_by_newton(target: Function, slope: Function, start: Any) -> Any:
    x = start
    for _ in range(60):
        step = target(x) / slope(x)
        x = x - step
        if abs(step) <= abs(x) * _mp.mpf(2) ** -100:
            break
    return x


def _density(x: Any) -> Any:
    return _mp.exp(-x * x / 2) / _mp.sqrt(2 * _mp.pi)


def _erfcinv(y: Any) -> Any:
    """From the tail whose size is given, which keeps all digits of a small y."""
    if y > 1:
        return -_erfcinv(2 - y)
    if y > 0.125:
        return _mp.erfinv(1 - y)
    start = _mp.sqrt(-_mp.log(y))
    return _quantile_by_newton(lambda x: _mp.log(_mp.erfc(x) / y),
                               lambda x: -2 * _mp.exp(-x * x) / (_mp.sqrt(_mp.pi) * _mp.erfc(x)), start)


def _normcdfinv_by_newton(p: Any) -> Any:
    if p > 0.5:
        return -_normcdfinv_by_newton(1 - p)
    start = -_mp.sqrt(-2 * _mp.log(p)) if p < 0.1 else (p - 0.5) * _mp.sqrt(2 * _mp.pi)
    return _quantile_by_newton(lambda x: _mp.log(_mp.ncdf(x) / p), lambda x: _density(x) / _mp.ncdf(x), start)


def _erfcinv_by_normal(y: Any) -> Any:
    return -_normcdfinv_by_newton(y / 2) / _mp.sqrt(2)


def _j_by_series(n: int, x: Any) -> Any:
    """The power series, with bits to spare for what its alternating terms lose."""
    with _mp.workprec(160 + 4 * int(abs(x))):
        square, term, total, order = -x * x / 4, (x / 2) ** n / _mp.factorial(n), _mp.mpf(0), 0
        while abs(term) > abs(total) * _mp.mpf(2) ** -130 or order < abs(x):
            total, order = total + term, order + 1
            term = term * square / (order * (order + n))
        return +total


def _y_by_recurrence(n: int, x: Any) -> Any:
    """From the orders 0 and 1 upwards, the direction in which Y loses nothing."""
    below, here = _mp.bessely(0, x), _mp.bessely(1, x)
    if n == 0:
        return below
    for order in range(1, n):
        below, here = here, 2 * order / x * here - below
    return here


def _root_of_squares(*x: Any) -> Any:
    return _mp.sqrt(sum((one * one for one in x), _mp.mpf(0)))


def _length_by_scaling(*x: Any) -> Any:
    """The largest part times the root of the squares of the ratios to it."""
    top = max(abs(one) for one in x)
    return top * _mp.sqrt(_mp.fsum((one / top) ** 2 for one in x)) if top else top


def _logarithm_by_atanh(x: Any) -> Any:
    mantissa, exponent = _mp.frexp(x)
    return exponent * _mp.ln2 + 2 * _mp.atanh((mantissa - 1) / (mantissa + 1))


FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "sinpi": (lambda x: _mp.sinpi(x), lambda x: _mp.sign(x) * _mp.sin(_mp.pi * _mp.fmod(abs(x), 2))),
    "cospi": (lambda x: _mp.cospi(x), lambda x: _mp.sinpi(_mp.fmod(x, 2) + 0.5)),
    "exp10": (lambda x: _mp.power(10, x), lambda x: _mp.exp(x * _mp.ln10)),
    "rcbrt": (lambda x: _mp.sign(x) / _mp.cbrt(abs(x)), lambda x: _mp.sign(x) * _mp.exp(-_mp.log(abs(x)) / 3)),
    "normcdf": (lambda x: _mp.erfc(-x / _mp.sqrt(2)) / 2, lambda x: _mp.ncdf(x)),
    "normcdfinv": (lambda p: -_mp.sqrt(2) * _erfcinv(2 * p), _normcdfinv_by_newton),
    "erfcinv": (_erfcinv, _erfcinv_by_normal),
    "tgamma": (lambda x: _mp.gamma(x), _gamma_by_logarithm),
    "hypot": (_root_of_squares, _length_by_scaling), "norm3d": (_root_of_squares, _length_by_scaling),
    "norm4d": (_root_of_squares, _length_by_scaling),
    "rhypot": (lambda *x: 1 / _root_of_squares(*x), lambda *x: 1 / _length_by_scaling(*x)),
    "rnorm3d": (lambda *x: 1 / _root_of_squares(*x), lambda *x: 1 / _length_by_scaling(*x)),
    "rnorm4d": (lambda *x: 1 / _root_of_squares(*x), lambda *x: 1 / _length_by_scaling(*x)),
    "jn": (lambda n, x: _mp.besselj(int(n), x), lambda n, x: _j_by_series(int(n), x)),
    "yn": (lambda n, x: _mp.bessely(int(n), x), lambda n, x: _y_by_recurrence(int(n), x)),
    "sin": (lambda x: _mp.sin(x), lambda x: 2 * _mp.sin(x / 2) * _mp.cos(x / 2)),
    "cos": (lambda x: _mp.cos(x), lambda x: _mp.sin(x + _mp.pi / 2)),
    "tan": (lambda x: _mp.tan(x), lambda x: _mp.sin(x) / _mp.cos(x)),
    "exp": (lambda x: _mp.exp(x), lambda x: _mp.power(2, x / _mp.ln2)),
    "log": (lambda x: _mp.log(x), _logarithm_by_atanh),
    "log2": (lambda x: _mp.log(x) / _mp.ln2, lambda x: _mp.log(x, 2)),
    "log10": (lambda x: _mp.log10(x), lambda x: _mp.log(x) / _mp.ln10),
    "pow": (lambda x, y: _mp.power(x, y), lambda x, y: _mp.exp(y * _mp.log(x))),
}
"""Name: the function in two ways, of mpmath numbers."""

_RECIPROCAL = ("rcbrt", "rhypot", "rnorm3d", "rnorm4d")
_BEYOND = 64.0
"""From here on the normal distribution is 0 or 1 in fp64; mpmath overflows at numbers of e308."""
_LENGTHS = ("hypot", "norm3d", "norm4d", "rhypot", "rnorm3d", "rnorm4d")


def _limit(op: str, x: tuple[float, ...]) -> float | None:
    """What C99 and the CUDA Math API give where an operand is zero, infinite or at a pole; None elsewhere."""
    if op in _LENGTHS:
        if any(math.isinf(one) for one in x):
            return 0.0 if op in _RECIPROCAL else _INF
        if not any(x):
            return _INF if op in _RECIPROCAL else 0.0
    if any(math.isnan(one) for one in x):
        return _NAN
    one = x[-1] if op in ("jn", "yn") else x[0]
    if op == "rcbrt" and (one == 0 or math.isinf(one)):
        return math.copysign(_INF if one == 0 else 0.0, one)
    if op == "tgamma" and (one == 0 or (one < 0 and (math.isinf(one) or one == math.floor(one)))):
        return math.copysign(_INF, one) if one == 0 else _NAN
    if op == "yn" and one <= 0:
        return -_INF if one == 0 else _NAN
    if op in ("jn", "yn") and not BESSEL_FROM <= abs(one) <= BESSEL_TO and one != 0:
        return _NAN
    if op == "jn" and one == 0:
        return float(int(x[0]) == 0)
    if op == "normcdfinv" and not 0 < one < 1:
        return -_INF if one == 0 else _INF if one == 1 else _NAN
    if op == "erfcinv" and not 0 < one < 2:
        return _INF if one == 0 else -_INF if one == 2 else _NAN
    if op in ("log", "log2", "log10") and one <= 0:
        return -_INF if one == 0 else _NAN
    if op == "sinpi" and (math.isinf(one) or one == math.floor(one)):
        return math.copysign(0.0, one) if math.isfinite(one) else _NAN
    if op in ("sin", "tan") and one == 0:
        return one
    if op == "normcdf" and abs(one) > _BEYOND:
        return float(one > 0)
    if all(math.isfinite(part) for part in x):
        return None
    if op in ("exp", "exp10", "tgamma"):
        return _INF if one > 0 else 0.0
    if op in ("log", "log2", "log10"):
        return _INF
    return {"normcdf": float(one > 0)}.get(op, _NAN)


def _one(function: Function, op: str, x: tuple[float, ...]) -> float:
    limit = _limit(op, x)
    if limit is not None:
        return limit
    try:
        value = function(*(_mp.mpf(one) for one in x))
        return float(value) if value != 0 else 0.0
    except OverflowError:
        return _INF
    except (ValueError, ZeroDivisionError, TypeError):
        return _NAN


def evaluate(op: str, columns: Iterable[list[float]], *, second: bool = False) -> list[float]:
    """`op` of each tuple of operands. second: by its other formula."""
    if op not in FUNCTIONS:
        raise OracleError(f"mpmath has no {op!r} in two ways here; add it to FUNCTIONS")
    function = FUNCTIONS[op][second]
    return [_one(function, op, one) for one in zip(*columns, strict=True)]


def special(op: str, *operands: Array) -> Array:
    """float64: `op` of arrays of one shape, by the first formula."""
    with np.errstate(invalid="ignore"):
        found = evaluate(op, [one.astype(np.float64).reshape(-1).tolist() for one in operands])
    return np.array(found, dtype=np.float64).reshape(operands[0].shape)
