"""Bucketize in numpy by probing (contract: helpers.md §10).

values (rows, n) or (n,), boundaries (rows, size) or (size,), of one type. The result counts the boundaries of
the row that are below each value; NaN values are above everything. NaN boundaries (at the end of a row) count
as below every value, which makes the answer depend on the order of the probes unless all boundaries before
them are below too: `bucketize_defined` is False for those lanes and for unsorted rows; there only the range
0..size is promised.
"""


import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import FP8, Array, name_of_array, numpy_dtype
from tridiff.oracles.errors import OracleError


def _rows(values: Array, boundaries: Array, sorter: Array | None) -> tuple[Array, Array]:
    """Both as 2-D with one row count, the sorter applied."""
    names = {name_of_array(values), name_of_array(boundaries)}
    if len(names) != 1 or names & set(FP8):
        raise OracleError(f"values and boundaries need one type other than fp8, got {sorted(names)}; promote first")
    if sorter is not None:
        whole, order = np.broadcast_arrays(boundaries, sorter.astype(np.int64))
        boundaries = np.take_along_axis(whole, order, axis=-1)
    found, edges = np.atleast_2d(values), np.atleast_2d(boundaries)
    if edges.shape[0] != found.shape[0]:
        edges = np.broadcast_to(edges, (found.shape[0], edges.shape[-1]))
    return found, edges


def _below(edge: Array, value: Array, right: bool) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.logical_not(np.greater(edge, value) if right else np.greater_equal(edge, value))


def bucketize(
    values: Array, boundaries: Array, sorter: Array | None = None, *, right: bool = False, index_dtype: str = "i64",
) -> Array:
    """Number of boundaries b < v (right=False) or b <= v (right=True) per value; i32 or i64, shape of
    values.
    """
    found, edges = _rows(values, boundaries, sorter)
    low = np.zeros(found.shape, dtype=np.int64)
    high = np.full(found.shape, edges.shape[-1], dtype=np.int64)
    while (active := low < high).any():
        middle = (low + high) // 2
        edge = np.take_along_axis(edges, np.where(active, middle, 0), axis=-1)
        below = _below(edge, found, right)
        low = np.where(active & below, middle + 1, low)
        high = np.where(active & ~below, middle, high)
    return low.reshape(values.shape).astype(numpy_dtype(index_dtype))


def bucketize_defined(
    values: Array, boundaries: Array, sorter: Array | None = None, *, right: bool = False
) -> npt.NDArray[np.bool_]:
    """True where the contract fixes the count; shape of values."""
    found, edges = _rows(values, boundaries, sorter)
    with np.errstate(invalid="ignore"):
        nan_edges, nan_values = edges != edges, found != found
        falling = np.less(edges[:, 1:], edges[:, :-1]) | (nan_edges[:, :-1] & ~nan_edges[:, 1:])
    ordered = ~falling.any(axis=-1, keepdims=True)
    count = (~nan_edges).sum(axis=-1, keepdims=True)
    clean = count == edges.shape[-1]
    if edges.shape[-1] == 0:
        return np.ones(values.shape, dtype=bool)
    last = np.take_along_axis(edges, np.maximum(count - 1, 0), axis=-1)
    all_below = (count == 0) | _below(last, found, right)
    return np.asarray(nan_values | (ordered & (clean | all_below))).reshape(values.shape)


def bucketize_copies(
    values: Array, boundary: Array, *, copies: int, right: bool = False, index_dtype: str = "i64"
) -> Array:
    """`bucketize` among `copies` equal boundaries per row, of which boundary (rows, 1) holds one."""
    found, edge = _rows(values, boundary, None)
    return np.where(_below(edge, found, right), copies, 0).reshape(values.shape).astype(numpy_dtype(index_dtype))


def any_bucket(values: Array, *, index_dtype: str = "i64") -> Array:
    """What `tridiff.oracles.by_torch.search.bucketize_in_range` makes of every right answer for an unsorted row."""
    return np.zeros(values.shape, dtype=numpy_dtype(index_dtype))
