"""Sum, product and bitwise-or folds in numpy (contract: helpers.md §6, oracles.md §4).

Integers fold in their own type and wrap; compare with BIT. Floats return the unrounded float64 value of the
fold (computed in the widest type numpy has), to be compared with SUM and a bound of `tridiff.oracles.tolerances`.
"""


import numpy as np

from tridiff.oracles.dtypes import Array, dtype, name_of_array
from tridiff.oracles.errors import OracleError


def _fold(x: Array, axis: int, ufunc: np.ufunc) -> Array:
    kind = dtype(name_of_array(x))
    with np.errstate(all="ignore"):
        if kind.is_float:
            return np.asarray(ufunc.reduce(x.astype(np.longdouble), axis=axis)).astype(np.float64)
        if kind.kind == "bool":
            raise OracleError("i1 has no arithmetic fold; use any or convert to an integer type")
        return np.asarray(ufunc.reduce(x, axis=axis, dtype=x.dtype))


def sum(x: Array, axis: int = -1) -> Array:
    """Sum along `axis` (removed)."""
    return _fold(x, axis, np.add)


def prod(x: Array, axis: int = -1) -> Array:
    """Product along `axis` (removed) in the input type."""
    return _fold(x, axis, np.multiply)


def any(x: Array, axis: int = -1) -> Array:
    """Bitwise or along `axis` (removed); i1 or integers. The truth value only for i1 and 0/1 integers."""
    if dtype(name_of_array(x)).is_float:
        raise OracleError("any has no meaning for floats; compare with zero first")
    return np.asarray(np.bitwise_or.reduce(x, axis=axis))


def cumsum(x: Array, axis: int = -1) -> Array:
    """Inclusive prefix sums along `axis`; integers wrap in their own type, floats as float64."""
    with np.errstate(all="ignore"):
        if dtype(name_of_array(x)).is_float:
            return np.cumsum(x.astype(np.longdouble), axis=axis).astype(np.float64)
        return np.cumsum(x, axis=axis, dtype=x.dtype)
