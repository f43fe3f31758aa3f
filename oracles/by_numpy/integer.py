"""Integer arithmetic in numpy: wrapping add, Triton's truncating `//` and `%`, and the floor helpers
(helpers.md §4).

All functions take two arrays of one integer type that broadcast, and return that type. A zero divisor leaves
the lane undefined (`division_defined` is False there); the value returned for it is 0.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import Array, dtype, name_of_array
from tridiff.oracles.errors import OracleError

Mask = npt.NDArray[np.bool_]


def _operands(a: Array, b: Array) -> tuple[Array, Array]:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or not dtype(name_of_array(a)).is_integer:
        raise OracleError(f"expected two arrays of one integer type, got {a.dtype} and {b.dtype}; cast them first")
    return a, b


def division_defined(a: Array, b: Array) -> Mask:
    """False where the contract leaves the result open: a zero divisor (helpers.md §4)."""
    return np.broadcast_to(np.asarray(b) != 0, np.broadcast_shapes(np.shape(a), np.shape(b)))


def _divide(a: Array, b: Array, operation: Callable[[Array, Array], Array]) -> Array:
    a, b = _operands(a, b)
    defined = division_defined(a, b)
    with np.errstate(all="ignore"):
        result = operation(a, np.where(b == 0, b.dtype.type(1), b))
    return np.where(defined, result, b.dtype.type(0))


def _truncate(a: Array, b: Array) -> Array:
    floor, rest = np.floor_divide(a, b), np.remainder(a, b)
    # The floor lies one below the truncated quotient exactly when it is inexact and negative.
    adjust = ((rest != 0) & ((a < 0) != (b < 0))).astype(a.dtype)
    return np.asarray(np.add(floor, adjust))


def add(a: Array, b: Array) -> Array:
    """a + b modulo 2^bits."""
    a, b = _operands(a, b)
    with np.errstate(all="ignore"):
        return np.add(a, b)


def div_trunc(a: Array, b: Array) -> Array:
    """Triton's `//`: the quotient rounded toward zero; INT_MIN // -1 wraps to INT_MIN; plain for unsigned."""
    return _divide(a, b, _truncate)


def rem_trunc(a: Array, b: Array) -> Array:
    """Triton's `%`: a - b * div_trunc(a, b), zero or of the sign of a; plain for unsigned."""
    return _divide(a, b, np.fmod)


def div_floor_integer(a: Array, b: Array) -> Array:
    """floor(a / b) wrapped to the type; INT_MIN // -1 wraps to INT_MIN (contract: helpers.md §4)."""
    return _divide(a, b, np.floor_divide)


def remainder_integer(a: Array, b: Array) -> Array:
    """a - b * floor(a / b): zero or of the sign of b (contract: helpers.md §4)."""
    return _divide(a, b, np.remainder)
