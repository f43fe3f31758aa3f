"""Pointwise functions by mpmath at 160 bits, rounded once to float64: the arbiter, and the reference for
fp64.

Only finite inputs inside the function's domain and away from its poles are answered; `answered` says which.
"""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import Array
from tridiff.oracles.errors import OracleError

_PRECISION = 160
_mp = mpmath.mp.clone() if hasattr(mpmath.mp, "clone") else mpmath.MPContext()
_mp.prec = _PRECISION

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "div_rn": lambda a, b: a / b,
    "fma": lambda a, b, c: _mp.fadd(_mp.fmul(a, b, exact=True), c),
    "reciprocal": lambda a: 1 / a,
    "sqrt": _mp.sqrt,
    "sqrt_rn": _mp.sqrt,
    "rsqrt": lambda a: 1 / _mp.sqrt(a),
    "cbrt": lambda a: _mp.sign(a) * _mp.cbrt(abs(a)),
    "exp": _mp.exp,
    "exp_fast": _mp.exp,
    "sigmoid": lambda a: 1 / (1 + _mp.exp(-a)),
    "exp2": lambda a: _mp.mpf(2) ** a,
    "exp10": lambda a: _mp.mpf(10) ** a,
    "expm1": _mp.expm1,
    "log": _mp.log,
    "log2": lambda a: _mp.log(a) / _mp.ln2,
    "log10": lambda a: _mp.log(a) / _mp.ln10,
    "log1p": _mp.log1p,
    "sin": _mp.sin,
    "cos": _mp.cos,
    "tan": _mp.tan,
    "asin": _mp.asin,
    "acos": _mp.acos,
    "atan": _mp.atan,
    "atan2": _mp.atan2,
    "sinh": _mp.sinh,
    "cosh": _mp.cosh,
    "tanh": _mp.tanh,
    "asinh": _mp.asinh,
    "acosh": _mp.acosh,
    "atanh": _mp.atanh,
    "erf": _mp.erf,
    "erfc": _mp.erfc,
    "erfinv": _mp.erfinv,
    "erfcx": lambda a: _mp.exp(a * a) * _mp.erfc(a),
    "lgamma": lambda a: _mp.log(abs(_mp.gamma(a))),
    "i0": lambda a: _mp.besseli(0, a),
    "i1": lambda a: _mp.besseli(1, a),
    "j0": lambda a: _mp.besselj(0, a),
    "j1": lambda a: _mp.besselj(1, a),
    "y0": lambda a: _mp.bessely(0, a),
    "y1": lambda a: _mp.bessely(1, a),
    "hypot": _mp.hypot,
    "pow": lambda a, b: a**b,
}


def evaluate(op: str, *inputs: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """(values, answered) of the broadcast inputs: float64 nearest to the true value, NaN where not answered.

    Not answered: NaN, infinite and -0.0 inputs (mpmath has no signed zero), poles, results that are not real
    numbers (log of a negative). Overflow gives the signed infinity, underflow a zero. Raises OracleError for
    an operation without a function here.
    """
    if op not in FUNCTIONS:
        raise OracleError(f"mpmath has no {op!r} here; it is exact in numpy, or add it to FUNCTIONS")
    columns = [a.astype(np.float64) for a in np.broadcast_arrays(*inputs)]
    shape = columns[0].shape
    values = [
        _one(FUNCTIONS[op], arguments)
        for arguments in zip(*(c.reshape(-1).tolist() for c in columns), strict=True)
    ]
    found = np.array([np.nan if v is None else v for v in values], dtype=np.float64).reshape(shape)
    return found, np.array([v is not None for v in values], dtype=bool).reshape(shape)


def _one(function: Callable[..., Any], arguments: tuple[float, ...]) -> float | None:
    if any(not math.isfinite(a) or (a == 0 and math.copysign(1.0, a) < 0) for a in arguments):
        return None
    try:
        value = function(*(_mp.mpf(a) for a in arguments))
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    if isinstance(value, _mp.mpc):
        if value.imag != 0:
            return None
        value = value.real
    if not _mp.isfinite(value):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
