"""High-precision values of pointwise functions in numpy: float64 for fp32 and narrower, longdouble for fp64.

The result is always float64 and unrounded with respect to narrower types; compare with
`tridiff.oracles.pointwise.rule_for`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tridiff.oracles.dtypes import FLOATS, Array, name_of_array
from tridiff.oracles.errors import OracleError


def _by_element(function: Callable[[float], float]) -> Callable[[Array], Array]:
    return np.vectorize(function, otypes=[np.float64])


def _lgamma(x: float) -> float:
    # Python makes an error of poles and of overflow; the contract is +inf.
    if math.isnan(x):
        return x
    try:
        return math.inf if math.isinf(x) or (x <= 0 and x == math.floor(x)) else math.lgamma(x)
    except OverflowError:
        return math.inf


def _remainder(a: Array, b: Array) -> Array:
    return np.asarray(np.fmod(a, b))


def _floor_divide(a: Array, b: Array) -> Array:
    return np.asarray(np.floor_divide(a, b))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "div_rn": np.divide,
    "reciprocal": np.reciprocal, "sqrt": np.sqrt, "sqrt_rn": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt, "exp": np.exp, "exp_fast": np.exp, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "exp2": np.exp2,
    "exp10": lambda x: np.power(x.dtype.type(10), x), "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": _by_element(math.erf),
    "erfc": _by_element(math.erfc), "lgamma": _by_element(_lgamma), "hypot": np.hypot, "pow": np.power, "fmod": np.fmod,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "nearbyint": np.rint, "abs": np.abs, "copysign": np.copysign,
    "minimum": np.minimum, "maximum": np.maximum, "remainder_operator": _remainder, "floor_divide": _floor_divide,
}

# Evaluated in float64 by the C library whatever the input: no source for fp64.
_FLOAT64_ONLY = frozenset({"erf", "erfc", "lgamma"})


def evaluate(op: str, *inputs: Array) -> Array:
    """float64 value of `op` at inputs of one float type; OracleError where numpy has no source precise
    enough.
    """
    if op not in FUNCTIONS:
        raise OracleError(f"numpy has no {op!r}; use tridiff.oracles.by_exact.functions")
    names = {name_of_array(x) for x in inputs}
    if len(names) != 1 or not names <= set(FLOATS):
        raise OracleError(f"expected inputs of one type of {' '.join(FLOATS)}, got {sorted(names)}")
    wide: type = np.float64
    if names == {"fp64"}:
        if op in _FLOAT64_ONLY:
            raise OracleError(f"numpy's {op} is no better than fp64 itself; use tridiff.oracles.by_exact.functions")
        wide = np.longdouble
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[op](*(x.astype(wide) for x in inputs))).astype(np.float64)
