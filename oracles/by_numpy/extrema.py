"""Minimum and maximum in numpy, plain and with index (contract: helpers.md §5). NaN wins; ±0 tie."""


import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import FP8, Array, name_of_array
from tridiff.oracles.errors import OracleError

Pair = tuple[Array, Array]


# ml_dtypes raises the invalid flag when it compares or selects NaNs; the result is what counts here.
def _quiet() -> np.errstate:
    return np.errstate(invalid="ignore")


def _checked(*arrays: Array) -> None:
    names = {name_of_array(array) for array in arrays}
    if len(names) != 1 or names & set(FP8):
        raise OracleError(f"expected arrays of one type other than fp8, got {sorted(names)}; cast them first")


def _nan(x: Array) -> npt.NDArray[np.bool_]:
    with _quiet():
        return np.asarray(x != x)


def minimum(a: Array, b: Array) -> Array:
    """Element-wise smaller value, NaN if either is NaN; compare with NUM0."""
    _checked(a, b)
    with _quiet():
        return np.asarray(np.minimum(a, b))


def maximum(a: Array, b: Array) -> Array:
    """Element-wise larger value, NaN if either is NaN; compare with NUM0."""
    _checked(a, b)
    with _quiet():
        return np.asarray(np.maximum(a, b))


def _reduced(x: Array, axis: int, ufunc: np.ufunc) -> Array:
    _checked(x)
    if x.shape[axis] == 0:
        raise OracleError("minimum and maximum have no identity; give the axis at least one element")
    with _quiet():
        return np.asarray(ufunc.reduce(x, axis=axis))


def min2(x: Array, axis: int = -1) -> Array:
    """Smallest value along `axis` (removed), NaN if the slice holds one; compare with NUM0."""
    return _reduced(x, axis, np.minimum)


def max2(x: Array, axis: int = -1) -> Array:
    """Largest value along `axis` (removed), NaN if the slice holds one; compare with NUM0."""
    return _reduced(x, axis, np.maximum)


def _pairwise(av: Array, ai: Array, bv: Array, bi: Array, *, largest: bool) -> Pair:
    _checked(av, bv)
    nan_a, nan_b = _nan(av), _nan(bv)
    with _quiet():
        better = np.greater(av, bv) if largest else np.less(av, bv)
        tie = (nan_a & nan_b) | np.equal(av, bv)
    first = np.where(nan_a | nan_b, nan_a & ~nan_b, better) | (tie & (ai < bi))
    return np.where(first, av, bv), np.where(first, ai, bi)


def minimum_with_index(av: Array, ai: Array, bv: Array, bi: Array) -> Pair:
    """The pair with the smaller value: NaN first, equal values (±0 too) by the smaller index, bits
    unchanged.
    """
    return _pairwise(av, ai, bv, bi, largest=False)


def maximum_with_index(av: Array, ai: Array, bv: Array, bi: Array) -> Pair:
    """The pair with the larger value: NaN first, equal values (±0 too) by the smaller index, bits
    unchanged.
    """
    return _pairwise(av, ai, bv, bi, largest=True)


def _reduce_pairs(value: Array, index: Array, axis: int, ufunc: np.ufunc) -> Pair:
    best = np.expand_dims(_reduced(value, axis, ufunc), axis)
    with _quiet():
        candidate = np.where(_nan(best), _nan(value), value == best)
    lowest = np.where(candidate, index, np.iinfo(index.dtype).max).min(axis=axis, keepdims=True)
    position = np.argmax(candidate & (index == lowest), axis=axis, keepdims=True)
    return (
        np.take_along_axis(value, position, axis).squeeze(axis),
        np.take_along_axis(index, position, axis).squeeze(axis),
    )


def min_with_index(value: Array, index: Array, axis: int = -1) -> Pair:
    """(value, index) of the minimum along `axis` (removed): first NaN by index, ties by the smallest
    index.
    """
    return _reduce_pairs(value, index, axis, np.minimum)


def max_with_index(value: Array, index: Array, axis: int = -1) -> Pair:
    """(value, index) of the maximum along `axis` (removed): first NaN by index, ties by the smallest
    index.
    """
    return _reduce_pairs(value, index, axis, np.maximum)
