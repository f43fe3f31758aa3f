"""Error bounds of whole rows, straight from the inputs of a kernel (contract: oracles.md §4).

Each function takes a kernel's input arrays and returns a float64 tensor with one bound per output element,
for `compare(..., SUM(...), bound=...)`; see `tridiff.oracles.tolerances` for the formulas.
"""

import torch
from torch import Tensor

from tridiff.oracles import tolerances
from tridiff.oracles.by_torch import reductions, welford
from tridiff.oracles.dtypes import name_of_tensor, torch_dtype


def prod(x: Tensor) -> Tensor:
    """Of the product of each row, accumulated in the type of x."""
    return tolerances.prod_bound(x, reductions.prod(x), acc=name_of_tensor(x))


Bounds = tuple[Tensor, Tensor, Tensor]


def welford_states(mean: Tensor, m2: Tensor, weight: Tensor) -> Bounds:
    """Of (mean, m2, weight) of each row of states, merged in any order."""
    return _welford(mean, m2, weight, dim=-1, depth=mean.shape[-1])


def welford_rows(a: Tensor, *, accumulator: str, lanes: int) -> Bounds:
    """Of (mean, m2, weight) of each row of elements: `lanes` accumulators, merged as a tree."""
    wide = a.to(torch_dtype(accumulator))
    depth = tolerances.chain_depth(a.shape[-1], lanes)
    return _welford(wide, torch.zeros_like(wide), torch.ones_like(wide), dim=-1, depth=depth)


def welford_pairs(
    mean_1: Tensor, m2_1: Tensor, weight_1: Tensor,
    mean_2: Tensor, m2_2: Tensor, weight_2: Tensor,
) -> Bounds:  # fmt: skip
    """Of (mean, m2, weight) of two states each, merged element-wise."""
    state = (torch.stack(pair) for pair in ((mean_1, mean_2), (m2_1, m2_2), (weight_1, weight_2)))
    return _welford(*state, dim=0, depth=1)


def welford_step(
    value: Tensor, mean: Tensor, m2: Tensor, weight: Tensor, *, first: bool
) -> Bounds:
    """Of (mean, m2, weight) after one more element; a first one is exact."""
    if first:
        exact = torch.zeros(value.shape, dtype=torch.float64, device=value.device)
        return exact, exact, exact
    return welford_pairs(mean, m2, weight, value, torch.zeros_like(m2), torch.ones_like(weight))


def _welford(mean: Tensor, m2: Tensor, weight: Tensor, *, dim: int, depth: int) -> Bounds:
    acc = name_of_tensor(mean)
    _, spread, _ = welford.welford(mean, m2, weight, dim)
    return (tolerances.welford_mean_bound(mean, weight, dim, depth=depth, acc=acc),
            tolerances.welford_m2_bound(mean, m2, weight, spread, dim, depth=depth, acc=acc),
            tolerances.sum_bound(weight, dim, acc=acc))
