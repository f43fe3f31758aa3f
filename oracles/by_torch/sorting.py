"""Sorting with indices and selection in torch: stable sorts by index, then key, then padding (helpers.md
§13).

Conventions as in `tridiff.oracles.by_numpy.sorting`.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import INT64_MAX, from_bits, is_nan, ordered, to_bits
from tridiff.oracles.dtypes import FP8, name_of_tensor, torch_dtype
from tridiff.oracles.errors import OracleError

Pair = tuple[Tensor, Tensor]


def _key(x: Tensor, descending: bool) -> Tensor:
    if name_of_tensor(x) in FP8:
        raise OracleError("fp8 keys cannot be sorted; convert to fp32 first")
    key = torch.where(is_nan(x), INT64_MAX, ordered(x))
    return ~key if descending else key


def _padded(index: Tensor, rnumel: int | None) -> Tensor:
    return torch.zeros_like(index, dtype=torch.bool) if rnumel is None else index.to(torch.int64) >= rnumel


def _take(x: Tensor, order: Tensor) -> Tensor:
    return from_bits(to_bits(x).gather(-1, order), name_of_tensor(x))


def _order(*keys: Tensor) -> Tensor:
    """Positions sorted by the last key first, earlier keys breaking ties."""
    order = torch.argsort(keys[0], dim=-1, stable=True)
    for key in keys[1:]:
        order = order.gather(-1, torch.argsort(key.gather(-1, order), dim=-1, stable=True))
    return order


def sort_with_index(
    x: Tensor, index: Tensor, *, rnumel: int | None = None, descending: bool = False
) -> Pair:
    """(sorted values, their indices), stable; the only right answer for stable=True, one of several
    otherwise.
    """
    order = _order(ordered(index), _key(x, descending), _padded(index, rnumel).to(torch.int8))
    return _take(x, order), _take(index, order)


def sort_defined(index: Tensor, *, rnumel: int | None = None) -> Tensor:
    """True for output positions that a valid element fills; shape of index."""
    valid = (~_padded(index, rnumel)).sum(-1, keepdim=True)
    return torch.arange(index.shape[-1], device=index.device) < valid


def canonical_ties(
    values: Tensor, indices: Tensor, *, rnumel: int | None = None, descending: bool = False
) -> Pair:
    """The same pairs with each run of equal neighbouring keys put into ascending index order.

    An unstable result is right exactly when this equals the stable answer bit for bit.
    """
    key, padded = _key(values, descending), _padded(indices, rnumel)
    step = (key[..., 1:] != key[..., :-1]) | (padded[..., 1:] != padded[..., :-1])
    runs = torch.nn.functional.pad(step.to(torch.int64).cumsum(-1), (1, 0))
    order = _order(ordered(indices), runs)
    return _take(values, order), _take(indices, order)


def select_one(x: Tensor, mask: Tensor, dim: int = -1, *, keep_dims: bool = False) -> Tensor:
    """The element whose mask is True along `dim`; zero bits where no mask is; bit exact, every type."""
    hit = mask.to(torch.int8)
    place = hit.argmax(dim, keepdim=True)
    bits = to_bits(x).gather(dim, place).masked_fill(hit.sum(dim, keepdim=True) == 0, 0)
    return from_bits(bits if keep_dims else bits.squeeze(dim), name_of_tensor(x))


def select_one_defined(mask: Tensor, dim: int = -1, *, keep_dims: bool = False) -> Tensor:
    """False where several masks are True in one slice (a violated precondition)."""
    return mask.to(torch.int64).sum(dim, keepdim=keep_dims) <= 1


def _positions(x: Tensor, index_dtype: str) -> Tensor:
    place = torch.arange(x.shape[-1], device=x.device, dtype=torch_dtype(index_dtype))
    return place.expand(x.shape).contiguous()


def sort_rows(x: Tensor, *, padding: int = 0, descending: bool = False, index_dtype: str = "i32") -> Pair:
    """`sort_with_index` of rows with the indices 0, 1, 2, ..., of which the last `padding` count as padding
    (the first one never does)."""
    return sort_with_index(x, _positions(x, index_dtype), rnumel=max(x.shape[-1] - padding, 1), descending=descending)


def sort_rows_defined(x: Tensor, *, padding: int = 0, index_dtype: str = "i32") -> Tensor:
    """`sort_defined` of the rows that `sort_rows` sorts."""
    return sort_defined(_positions(x, index_dtype), rnumel=max(x.shape[-1] - padding, 1))


def canonical_rows(
    values: Tensor, indices: Tensor, x: Tensor, *, padding: int = 0, descending: bool = False
) -> Pair:
    """`canonical_ties` of what `sort_rows` may return for the rows x."""
    return canonical_ties(values, indices, rnumel=max(x.shape[-1] - padding, 1), descending=descending)


def types_kept(x: Tensor) -> Tensor:
    """Both facts of the driver `sort_types`: keys and indices keep their types."""
    return torch.ones(2, dtype=torch.int32, device=x.device)
