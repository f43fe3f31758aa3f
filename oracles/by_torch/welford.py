"""Welford states in torch by a tree of pairwise combinations in float64; the second source of helpers.md §7.

Conventions as in `tridiff.oracles.by_numpy.welford`.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import to_float64

State = tuple[Tensor, Tensor, Tensor]


def _clean(mean: Tensor, m2: Tensor, weight: Tensor) -> State:
    """float64 states; whatever a weightless one holds is dropped, a special value makes mean or m2 NaN."""
    w = to_float64(weight)
    means = torch.where(w != 0, to_float64(mean), 0.0)
    inner = torch.where(w != 0, to_float64(m2), 0.0)
    special = ~torch.isfinite(means)
    return (means.masked_fill(special, torch.nan), inner.masked_fill(special | ~torch.isfinite(inner), torch.nan), w)


def _combine(first: State, second: State) -> State:
    count = first[2] + second[2]
    safe = torch.where(count == 0, 1.0, count)
    # Weighted towards the heavier side, so that a zero weight cannot let a huge mean cancel.
    share = torch.where(count == 0, 0.0, second[2] / safe)
    gap = second[0] - first[0]
    heavier = share > 0.5
    centre = torch.where(heavier, second[0] - gap * (first[2] / safe), first[0] + gap * share)
    return centre, first[1] + second[1] + gap * gap * (first[2] * share), count


def welford_combine(
    mean_1: Tensor, m2_1: Tensor, weight_1: Tensor, mean_2: Tensor, m2_2: Tensor,
    weight_2: Tensor,
) -> State:
    """The state of two states together, element-wise, as unrounded float64."""
    return _combine(_clean(mean_1, m2_1, weight_1), _clean(mean_2, m2_2, weight_2))


def welford(mean: Tensor, m2: Tensor, weight: Tensor, dim: int = -1) -> State:
    """The state of all elements along `dim` (removed), as unrounded float64. The axis must not be empty."""
    state = _clean(*(t.movedim(dim, -1) for t in (mean, m2, weight)))
    while (length := state[0].shape[-1]) > 1:
        half = length // 2
        a, b = (tuple(t[..., s] for t in state) for s in (slice(0, half), slice(half, 2 * half)))
        folded = _combine((a[0], a[1], a[2]), (b[0], b[1], b[2]))
        rest = [t[..., 2 * half :] for t in state]
        mean_, m2_, weight_ = (torch.cat([f, r], dim=-1) for f, r in zip(folded, rest, strict=True))
        state = mean_, m2_, weight_
    return state[0].squeeze(-1), state[1].squeeze(-1), state[2].squeeze(-1)


def welford_reduce(
    value: Tensor, mean: Tensor, m2: Tensor, weight: Tensor, *, first_iteration: bool
) -> State:
    """The state after one more element; the incoming state is ignored on the first iteration."""
    weights = torch.zeros_like(weight) if first_iteration else weight
    return welford_combine(mean, m2, weights, value, torch.zeros_like(m2), torch.ones_like(weight))


def mean_candidates(mean: Tensor, weight: Tensor, dim: int = -1) -> Tensor:
    """(2, ...) float64: the allowed means of a slice. They differ only where it holds infinities of one
    sign.
    """
    values = torch.where(weight != 0, to_float64(mean), 0.0)
    centre = welford(mean, torch.zeros_like(mean), weight, dim)[0]
    total = torch.where(torch.isfinite(values), 0.0, values).sum(dim)
    return torch.stack([centre, torch.where(torch.isinf(total), total, centre)])


def var_mean(x: Tensor, dim: int = -1, *, correction: int = 0) -> tuple[Tensor, Tensor]:
    """(variance, mean) of the elements along `dim` (removed); NaN where the count is at most the
    correction.
    """
    centre, spread, count = welford(x, torch.zeros_like(x), torch.ones_like(x), dim)
    left = count - correction
    return torch.where(left > 0, spread / left.clamp_min(1.0), torch.nan), centre
