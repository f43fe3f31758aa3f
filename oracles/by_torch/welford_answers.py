"""All admissible Welford states of a kernel's inputs, in torch (contract: helpers.md §7; oracles.md §5).

Every function returns (means, m2s, weight): the first two with a leading axis of candidates, for SET rules,
unrounded float64. Means: NaN, or the infinity that the set holds. m2: NaN for a set with an infinity or a NaN;
the step and the merge of two may also hand on the m2 of the only state that counts.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import to_float64
from tridiff.oracles.by_torch.welford import mean_candidates, welford
from tridiff.oracles.dtypes import torch_dtype

State = tuple[Tensor, Tensor, Tensor]


def _either_zero(candidates: Tensor) -> Tensor:
    """The candidates, and once more with the sign of zeros changed: no rule fixes it."""
    return torch.cat([candidates, torch.where(candidates == 0, -candidates, candidates)])


def states(mean: Tensor, m2: Tensor, weight: Tensor) -> State:
    """Of each row of states merged."""
    _, spread, count = welford(mean, m2, weight)
    return _either_zero(mean_candidates(mean, weight)), _either_zero(torch.stack([spread, spread])), count


def rows(a: Tensor, *, accumulator: str) -> State:
    """Of each row of elements, converted to the accumulator type first."""
    wide = a.to(torch_dtype(accumulator))
    return states(wide, torch.zeros_like(wide), torch.ones_like(wide))


def pairs(
    mean_1: Tensor, m2_1: Tensor, weight_1: Tensor,
    mean_2: Tensor, m2_2: Tensor, weight_2: Tensor,
) -> State:  # fmt: skip
    """Of two states each, element-wise."""
    mean, m2, weight = torch.stack([mean_1, mean_2]), torch.stack([m2_1, m2_2]), torch.stack([weight_1, weight_2])
    _, spread, count = welford(mean, m2, weight, 0)
    alone = (weight != 0).sum(0) == 1
    handed_on = torch.where(weight[0] != 0, to_float64(m2_1), to_float64(m2_2))
    spreads = torch.stack([spread, torch.where(alone, handed_on, spread)])
    return _either_zero(mean_candidates(mean, weight, 0)), _either_zero(spreads), count


def step(value: Tensor, mean: Tensor, m2: Tensor, weight: Tensor, *, first: bool) -> State:
    """After one more element; the first one gives (value, 0, 1) whatever came before."""
    if first:
        kept = to_float64(value)
        zero = torch.zeros_like(kept)
        return torch.stack([kept, kept]), torch.stack([zero, zero]), zero + 1
    return pairs(mean, m2, weight, value, torch.zeros_like(m2), torch.ones_like(weight))


def step_defined(weight: Tensor, *, first: bool) -> Tensor:
    """A step that is not the first continues a state that counts; shape of weight."""
    return torch.ones_like(weight, dtype=torch.bool) if first else weight != 0
