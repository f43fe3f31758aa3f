"""Special functions by the second formulas of `tridiff.oracles.by_exact.special`, on tensors."""

import torch
from torch import Tensor

from tridiff.oracles.bits import to_float64
from tridiff.oracles.by_exact.special import evaluate
from tridiff.oracles.by_torch.integer import widen
from tridiff.oracles.dtypes import dtype, name_of_tensor


def _column(x: Tensor) -> list[float]:
    wide = to_float64(x) if dtype(name_of_tensor(x)).is_float else widen(x)
    found: list[float] = wide.cpu().reshape(-1).tolist()
    return found


def special(op: str, *operands: Tensor) -> Tensor:
    """float64: `op` of tensors of one shape."""
    found = torch.tensor(evaluate(op, [_column(one) for one in operands], second=True), dtype=torch.float64)
    return found.reshape(operands[0].shape).to(operands[0].device)
