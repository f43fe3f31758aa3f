"""Minimum and maximum in torch through ordered integer keys (contract: helpers.md §5); torch.minimum is not
used.

Selected values keep their bits, so a NaN keeps its payload and a zero its sign.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import INT64_MIN, from_bits, is_nan, ordered, to_bits
from tridiff.oracles.dtypes import FP8, name_of_tensor
from tridiff.oracles.errors import OracleError

Pair = tuple[Tensor, Tensor]


def _rank(x: Tensor, *, largest: bool) -> Tensor:
    """int64 that is smaller for what wins: NaN below everything (integers have none), ±0 equal."""
    if name_of_tensor(x) in FP8:
        raise OracleError("fp8 has no minimum or maximum; convert to fp32 first")
    key = ordered(x)
    return torch.where(is_nan(x), INT64_MIN, ~key if largest else key)


def _select(first: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return from_bits(torch.where(first, to_bits(a), to_bits(b)), name_of_tensor(a))


def _one_type(a: Tensor, b: Tensor) -> None:
    if a.dtype != b.dtype:
        raise OracleError(f"expected tensors of one type, got {a.dtype} and {b.dtype}; cast them first")


def _pick(a: Tensor, b: Tensor, *, largest: bool) -> Tensor:
    _one_type(a, b)
    return _select(_rank(a, largest=largest) < _rank(b, largest=largest), a, b)


def minimum(a: Tensor, b: Tensor) -> Tensor:
    """Element-wise smaller value, NaN if either is NaN; compare with NUM0."""
    return _pick(a, b, largest=False)


def maximum(a: Tensor, b: Tensor) -> Tensor:
    """Element-wise larger value, NaN if either is NaN; compare with NUM0."""
    return _pick(a, b, largest=True)


def _along(x: Tensor, position: Tensor, dim: int) -> Tensor:
    picked = to_bits(x).gather(dim, position.unsqueeze(dim)).squeeze(dim)
    return from_bits(picked, name_of_tensor(x))


def _reduced(x: Tensor, dim: int, *, largest: bool) -> Tensor:
    if x.shape[dim] == 0:
        raise OracleError("minimum and maximum have no identity; give the axis at least one element")
    return _along(x, _rank(x, largest=largest).argmin(dim), dim)


def min2(x: Tensor, dim: int = -1) -> Tensor:
    """Smallest value along `dim` (removed), NaN if the slice holds one; compare with NUM0."""
    return _reduced(x, dim, largest=False)


def max2(x: Tensor, dim: int = -1) -> Tensor:
    """Largest value along `dim` (removed), NaN if the slice holds one; compare with NUM0."""
    return _reduced(x, dim, largest=True)


def _first_wins(rank_a: Tensor, ai: Tensor, rank_b: Tensor, bi: Tensor) -> Tensor:
    return (rank_a < rank_b) | ((rank_a == rank_b) & (ai < bi))


def _pairwise(av: Tensor, ai: Tensor, bv: Tensor, bi: Tensor, *, largest: bool) -> Pair:
    _one_type(av, bv)
    _one_type(ai, bi)
    first = _first_wins(_rank(av, largest=largest), ordered(ai), _rank(bv, largest=largest), ordered(bi))
    return _select(first, av, bv), _select(first, ai, bi)


def minimum_with_index(av: Tensor, ai: Tensor, bv: Tensor, bi: Tensor) -> Pair:
    """The pair with the smaller value: NaN first, equal values (±0 too) by the smaller index, bits
    unchanged.
    """
    return _pairwise(av, ai, bv, bi, largest=False)


def maximum_with_index(av: Tensor, ai: Tensor, bv: Tensor, bi: Tensor) -> Pair:
    """The pair with the larger value: NaN first, equal values (±0 too) by the smaller index, bits
    unchanged.
    """
    return _pairwise(av, ai, bv, bi, largest=True)


def _reduce_pairs(value: Tensor, index: Tensor, dim: int, *, largest: bool) -> Pair:
    """A tree of halves over (rank, index, position)."""
    if value.shape[dim] == 0:
        raise OracleError("minimum and maximum have no identity; give the axis at least one element")
    rank, keys = _rank(value, largest=largest).movedim(dim, -1), ordered(index).movedim(dim, -1)
    position = torch.arange(value.shape[dim], device=value.device).expand(rank.shape)
    while (length := rank.shape[-1]) > 1:
        half = length // 2
        a, b, odd = slice(0, half), slice(half, 2 * half), slice(2 * half, length)
        first = _first_wins(rank[..., a], keys[..., a], rank[..., b], keys[..., b])
        rank, keys, position = (
            torch.cat([torch.where(first, t[..., a], t[..., b]), t[..., odd]], dim=-1)
            for t in (rank, keys, position)
        )
    position = position.squeeze(-1)
    return _along(value, position, dim), _along(index, position, dim)


def min_with_index(value: Tensor, index: Tensor, dim: int = -1) -> Pair:
    """(value, index) of the minimum along `dim` (removed): first NaN by index, ties by the smallest index."""
    return _reduce_pairs(value, index, dim, largest=False)


def max_with_index(value: Tensor, index: Tensor, dim: int = -1) -> Pair:
    """(value, index) of the maximum along `dim` (removed): first NaN by index, ties by the smallest index."""
    return _reduce_pairs(value, index, dim, largest=True)
