"""Bucketize in torch: `torch.searchsorted` on values widened to int64 keys or float64 (contract: helpers.md
§10).

Conventions as in `tridiff.oracles.by_numpy.search`.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import is_nan, ordered, to_float64
from tridiff.oracles.dtypes import FP8, dtype, name_of_tensor, torch_dtype
from tridiff.oracles.errors import OracleError


def _keys(x: Tensor) -> Tensor:
    return to_float64(x) if dtype(name_of_tensor(x)).is_float else ordered(x)


def _two_dimensional(x: Tensor) -> Tensor:
    return x if x.dim() >= 2 else x.reshape(1, -1)


def _rows(
    values: Tensor, boundaries: Tensor, sorter: Tensor | None
) -> tuple[Tensor, Tensor]:
    if values.dtype != boundaries.dtype or name_of_tensor(values) in FP8:
        raise OracleError(
            f"values and boundaries need one type other than fp8, got {values.dtype} and "
            f"{boundaries.dtype}; promote first"
        )
    found, edges = _two_dimensional(_keys(values)), _two_dimensional(_keys(boundaries))
    rows = max(found.shape[0], edges.shape[0])
    if sorter is not None:
        order = _two_dimensional(sorter.to(torch.int64))
        rows = max(rows, order.shape[0])
        edges = edges.expand(rows, -1).gather(-1, order.expand(rows, -1))
    return found, edges.expand(found.shape[0], -1).contiguous()


def bucketize(
    values: Tensor, boundaries: Tensor, sorter: Tensor | None = None, *, right: bool = False,
    index_dtype: str = "i64",
) -> Tensor:
    """Number of boundaries b < v (right=False) or b <= v (right=True) per value; i32 or i64, shape of
    values.
    """
    found, edges = _rows(values, boundaries, sorter)
    counted = torch.searchsorted(edges, found.contiguous(), right=right)
    return counted.reshape(values.shape).to(torch_dtype(index_dtype))


def bucketize_defined(
    values: Tensor, boundaries: Tensor, sorter: Tensor | None = None, *, right: bool = False
) -> Tensor:
    """True where the contract fixes the count: the predicate `boundary is below` must not rise again along
    the row.
    """
    found, edges = _rows(values, boundaries, sorter)
    if edges.shape[-1] == 0:
        return torch.ones(values.shape, dtype=torch.bool, device=values.device)
    nan = torch.isnan(edges) if edges.dtype == torch.float64 else torch.zeros_like(edges, dtype=torch.bool)
    falls = (edges[:, 1:] < edges[:, :-1]) | (nan[:, :-1] & ~nan[:, 1:])
    numbers = (~nan).sum(-1, keepdim=True)
    last = edges.gather(-1, (numbers - 1).clamp_min(0))
    all_below = (numbers == 0) | ~((last > found) if right else (last >= found))
    in_order = ~falls.any(-1, keepdim=True)
    defined = in_order & ((numbers == edges.shape[-1]) | all_below)
    return defined.reshape(values.shape) | is_nan(values)


def bucketize_copies(
    values: Tensor, boundary: Tensor, *, copies: int, right: bool = False, index_dtype: str = "i64"
) -> Tensor:
    """`bucketize` among `copies` equal boundaries per row, of which boundary (rows, 1) holds one."""
    below = bucketize(values, boundary, right=right, index_dtype="i64")
    return (below * copies).to(torch_dtype(index_dtype))


def bucketize_in_range(found: Tensor, *, size: int) -> Tensor:
    """0 for every bucket that exists (0..size), others as they are: all that is promised of unsorted rows."""
    return torch.where((found >= 0) & (found <= size), torch.zeros_like(found), found)


def any_bucket(values: Tensor, *, index_dtype: str = "i64") -> Tensor:
    """What `bucketize_in_range` makes of every right answer; shape of values."""
    return torch.zeros(values.shape, dtype=torch_dtype(index_dtype), device=values.device)
