"""Conversions between element types in numpy by scaling to the target's grid (contract: oracles.md §5).

Float targets round once to nearest even. Overflow gives infinity, the maximum for fp8e4nv (which has none; so
do infinite inputs); fp8e5 accepts infinity or its maximum, see `candidates`. Integer targets truncate; out of
range and NaN the contract leaves the result open (`convert_defined`). i1 is True for anything but zero, NaN
included.
"""


import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import Array, DType, dtype, name_of_array, numpy_dtype


def _on_grid(x: Array, kind: DType) -> Array:
    """longdouble values rounded to the target's grid, exponent unbounded above."""
    _, exponent = np.frexp(x)
    quantum = np.maximum(exponent - 1, 1 - kind.bias) - kind.mantissa_bits
    return np.asarray(np.ldexp(np.rint(np.ldexp(x, -quantum)), quantum))


def _wide(x: Array) -> Array:
    # Through float64 for ml_dtypes types; longdouble holds all 64-bit integers exactly on x86.
    return (x.astype(np.float64).astype(np.longdouble) if dtype(name_of_array(x)).is_float else x.astype(np.longdouble))


def convert(x: Array, *, to: str) -> Array:
    """x converted to type `to`, same shape."""
    source, target = dtype(name_of_array(x)), dtype(to)
    if target.kind == "bool":
        with np.errstate(invalid="ignore"):
            return np.asarray(x != 0)
    with np.errstate(all="ignore"):
        if target.is_integer:
            if not source.is_float:
                return x.astype(numpy_dtype(to))
            wide = _wide(x)
            inside = np.where(convert_defined(x, to=to), np.trunc(wide), 0)
            # float64 would lose the low bits of 64-bit values; every fp64 in range is exact in the integer.
            return inside.astype(np.uint64 if target.kind == "uint" else np.int64).astype(numpy_dtype(to))
        wide = _wide(x)
        rounded = np.where(np.isfinite(wide), _on_grid(np.where(np.isfinite(wide), wide, 0), target), wide)
        rounded = np.where(rounded == 0, np.copysign(0, wide), rounded)
        top = np.longdouble(target.max)
        beyond = np.inf if target.has_inf else top
        rounded = np.where(np.abs(rounded) > top, np.copysign(np.longdouble(beyond), rounded), rounded)
        return rounded.astype(np.float64).astype(numpy_dtype(to))


def candidates(x: Array, *, to: str) -> Array:
    """(2, ...): accepted results; the second differs only for fp8e5, where overflow may saturate. Rule
    SET(NUM).
    """
    result = convert(x, to=to)
    if to != "fp8e5":
        return np.stack([result, result])
    limit = dtype(to).max
    with np.errstate(all="ignore"):
        wide = result.astype(np.float64)
        saturated = np.where(np.isinf(wide), np.copysign(limit, wide), wide)
    return np.stack([result, saturated.astype(numpy_dtype(to))])


def convert_defined(x: Array, *, to: str) -> npt.NDArray[np.bool_]:
    """False for float inputs that an integer target cannot hold: NaN, infinities, truncated values out of
    range.
    """
    source, target = dtype(name_of_array(x)), dtype(to)
    if not source.is_float or not target.is_integer:
        return np.ones(x.shape, dtype=bool)
    with np.errstate(all="ignore"):
        whole = np.trunc(_wide(x))
        return np.asarray((whole >= target.min) & (whole <= np.longdouble(target.max)))
