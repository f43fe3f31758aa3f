"""Sorting with indices and selection in numpy (contract: helpers.md §13). The last axis is sorted.

Order: ascending with NaN last, descending with NaN first, ±0 equal, equal keys by ascending index; padded
elements (index >= rnumel) behind all others. Bits are moved, never altered. Positions from the count of valid
elements on hold unspecified values: `sort_defined`.
"""


import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import FP8, Array, bits_dtype, dtype, name_of_array, numpy_dtype
from tridiff.oracles.errors import OracleError

Pair = tuple[Array, Array]
Mask = npt.NDArray[np.bool_]


def _rank(x: Array, descending: bool) -> npt.NDArray[np.int64]:
    """Dense rank of every key within the whole array: equal keys share one, NaN beyond all numbers."""
    name = name_of_array(x)
    if name in FP8:
        raise OracleError("fp8 keys cannot be sorted; convert to fp32 first")
    with np.errstate(invalid="ignore"):
        wide = x.astype(np.float64) if dtype(name).is_float else x
    _, rank = np.unique(wide, return_inverse=True, equal_nan=True)
    rank = np.asarray(rank, dtype=np.int64).reshape(x.shape)
    return -rank if descending else rank


def _padded(index: Array, rnumel: int | None) -> Mask:
    return np.zeros(index.shape, dtype=bool) if rnumel is None else np.asarray(index >= rnumel)


def _take(x: Array, order: Array) -> Array:
    name = name_of_array(x)
    return np.take_along_axis(x.view(bits_dtype(name)), order, axis=-1).view(x.dtype)


def sort_with_index(x: Array, index: Array, *, rnumel: int | None = None, descending: bool = False) -> Pair:
    """(sorted values, their indices), stable; the only right answer for stable=True, one of several
    otherwise.
    """
    order = np.lexsort((index, _rank(x, descending), _padded(index, rnumel)), axis=-1)
    return _take(x, order), np.take_along_axis(index, order, axis=-1)


def sort_defined(index: Array, *, rnumel: int | None = None) -> Mask:
    """True for output positions that a valid element fills; shape of index."""
    valid = (~_padded(index, rnumel)).sum(axis=-1, keepdims=True)
    return np.asarray(np.arange(index.shape[-1]) < valid)


def canonical_ties(values: Array, indices: Array, *, rnumel: int | None = None, descending: bool = False) -> Pair:
    """The same pairs with each run of equal neighbouring keys put into ascending index order.

    An unstable result is right exactly when this equals the stable answer bit for bit: a wrong order of
    different keys, a torn pair or an altered bit all survive. `descending` is accepted for symmetry; runs do
    not depend on it.
    """
    rank, padded = _rank(values, descending), _padded(indices, rnumel)
    step = (np.diff(rank, axis=-1) != 0) | (np.diff(padded.astype(np.int8), axis=-1) != 0)
    runs = np.concatenate([np.zeros_like(rank[..., :1]), np.cumsum(step, axis=-1)], axis=-1)
    order = np.lexsort((indices, runs), axis=-1)
    return _take(values, order), np.take_along_axis(indices, order, axis=-1)


def select_one(x: Array, mask: Array, axis: int = -1, *, keep_dims: bool = False) -> Array:
    """The element whose mask is True along `axis`; zero bits where no mask is; bit exact, every type."""
    raw = x.view(bits_dtype(name_of_array(x)))
    picked = np.where(mask, raw, raw.dtype.type(0)).max(axis=axis, keepdims=keep_dims)
    return np.asarray(picked).view(x.dtype)


def select_one_defined(mask: Array, axis: int = -1, *, keep_dims: bool = False) -> Mask:
    """False where several masks are True in one slice (a violated precondition)."""
    return np.asarray(mask.sum(axis=axis, keepdims=keep_dims) <= 1)


def sort_rows(x: Array, *, padding: int = 0, descending: bool = False, index_dtype: str = "i32") -> Pair:
    """`sort_with_index` of rows with the indices 0, 1, 2, ..., of which the last `padding` count as padding
    (the first one never does)."""
    index = np.broadcast_to(np.arange(x.shape[-1], dtype=numpy_dtype(index_dtype)), x.shape)
    return sort_with_index(x, index, rnumel=max(x.shape[-1] - padding, 1), descending=descending)


def types_kept(x: Array) -> Array:
    """Both facts of the driver `sort_types`: keys and indices keep their types."""
    return np.ones(2, dtype=np.int32)
