"""Element-wise operations of `tridiff.oracles.exact` on small numpy arrays: integer division, addition, extrema,
frexp.
"""

from collections.abc import Callable

import numpy as np

from tridiff.oracles import exact
from tridiff.oracles.dtypes import Array, bits_dtype, name_of_array


def patterns(array: Array) -> list[int]:
    """Flat unsigned bit patterns of an array."""
    return [int(p) for p in np.ascontiguousarray(array).view(bits_dtype(name_of_array(array))).reshape(-1)]


def from_patterns(bits: list[int], like: Array, shape: tuple[int, ...]) -> Array:
    """An array of like's type from flat unsigned patterns."""
    return np.array(bits, dtype=bits_dtype(name_of_array(like))).reshape(shape).view(like.dtype)


def _map(function: Callable[[str, int, int], int | None], a: Array, b: Array) -> Array:
    a, b = np.broadcast_arrays(a, b)
    name = name_of_array(a)
    results = (function(name, x, y) for x, y in zip(patterns(a), patterns(b), strict=True))
    return from_patterns([0 if r is None else r for r in results], a, a.shape)


def vector_add(a: Array, b: Array) -> Array:
    """a + b: integers wrap, i1 modulo 2, floats correctly rounded."""
    return _map(exact.add, a, b)


def div_trunc(a: Array, b: Array) -> Array:
    """Quotient toward zero, wrapped; 0 where undefined."""
    return _map(exact.div_trunc, a, b)


def rem_trunc(a: Array, b: Array) -> Array:
    """Remainder of the quotient toward zero; 0 where undefined."""
    return _map(exact.rem_trunc, a, b)


def div_floor_integer(a: Array, b: Array) -> Array:
    """Floor quotient, wrapped; 0 where undefined."""
    return _map(exact.div_floor_integer, a, b)


def remainder_integer(a: Array, b: Array) -> Array:
    """a - b * floor(a / b); 0 where undefined."""
    return _map(exact.remainder_integer, a, b)


def minimum(a: Array, b: Array) -> Array:
    """The smaller value, NaN if either is NaN."""
    return _map(exact.minimum, a, b)


def maximum(a: Array, b: Array) -> Array:
    """The larger value, NaN if either is NaN."""
    return _map(exact.maximum, a, b)


def frexp(x: Array) -> tuple[Array, Array]:
    """(m, e) of x = m * 2^e with 0.5 <= |m| < 1; ±0, ±inf and NaN give (x, 0)."""
    pairs = [exact.frexp(name_of_array(x), bits) for bits in patterns(x)]
    exponents = np.array([e for _, e in pairs], dtype=np.int32).reshape(x.shape)
    return from_patterns([m for m, _ in pairs], x, x.shape), exponents
