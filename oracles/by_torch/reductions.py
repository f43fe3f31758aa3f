"""Sum, product and bitwise-or folds in torch by halving trees: the second source beside
`tridiff.oracles.by_numpy.reductions`.

Conventions as there: integers wrap in their own type, floats return unrounded float64.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, to_bits, to_float64
from tridiff.oracles.by_torch.integer import narrow, widen
from tridiff.oracles.dtypes import dtype, name_of_tensor
from tridiff.oracles.errors import OracleError

_Combine = Callable[[Tensor, Tensor], Tensor]


def tree(x: Tensor, dim: int, combine: _Combine) -> Tensor:
    """Fold along `dim` (removed) by combining halves; the odd element waits. The axis must not be empty."""
    x = x.movedim(dim, -1)
    while (length := x.shape[-1]) > 1:
        half = length // 2
        folded = combine(x[..., :half], x[..., half : 2 * half])
        x = torch.cat([folded, x[..., 2 * half :]], dim=-1) if length % 2 else folded
    return x.squeeze(-1)


def _fold(x: Tensor, dim: int, identity: int, combine: _Combine) -> Tensor:
    kind = dtype(name_of_tensor(x))
    if kind.kind == "bool":
        raise OracleError("i1 has no arithmetic fold; use any or convert to an integer type")
    wide = to_float64(x) if kind.is_float else widen(x)
    if x.shape[dim] == 0:
        shape = list(x.shape)
        del shape[dim]
        folded = torch.full(shape, identity, dtype=wide.dtype, device=x.device)
    else:
        folded = tree(wide, dim, combine)
    return folded if kind.is_float else narrow(folded, kind)


def sum(x: Tensor, dim: int = -1) -> Tensor:
    """Sum along `dim` (removed)."""
    return _fold(x, dim, 0, torch.add)


def prod(x: Tensor, dim: int = -1) -> Tensor:
    """Product along `dim` (removed) in the input type."""
    return _fold(x, dim, 1, torch.mul)


def any(x: Tensor, dim: int = -1) -> Tensor:
    """Bitwise or along `dim` (removed); i1 or integers. The truth value only for i1 and 0/1 integers."""
    name = name_of_tensor(x)
    if dtype(name).is_float:
        raise OracleError("any has no meaning for floats; compare with zero first")
    bits = to_bits(x)
    if x.shape[dim] == 0:
        return from_bits(bits.sum(dim, dtype=bits.dtype), name)
    return from_bits(tree(bits, dim, torch.bitwise_or), name)


def cumsum(x: Tensor, dim: int = -1) -> Tensor:
    """Inclusive prefix sums along `dim`; integers wrap in their own type, floats as float64."""
    kind = dtype(name_of_tensor(x))
    if kind.is_float:
        return prefix_sums(to_float64(x), dim)
    return narrow(widen(x).cumsum(dim), kind)


def prefix_sums(x: Tensor, dim: int) -> Tensor:
    """Prefix sums along `dim` that begin with the first element. torch's own begin with +0.0, which shows where all
    elements so far are -0.0."""
    negative = (x == 0) & x.signbit()
    return torch.where(negative.to(torch.int8).cummin(dim).values.bool(), x, x.cumsum(dim))
