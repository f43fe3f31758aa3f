"""Second source for promote_to_tensor and device_assert_then (contract: helpers.md §3, §8)."""

from __future__ import annotations

import torch

from oracles.bits import from_bits, to_bits
from oracles.dtypes import name_of_tensor


def promote_to_tensor(x: torch.Tensor) -> torch.Tensor:
    """Same values, same type, rank at least 1; rule BIT."""
    return x.clone() if x.dim() else x.clone().reshape(1)


def device_assert_then(condition: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """`result` bit for bit, whatever the condition; rule BIT."""
    bits = to_bits(result)
    return from_bits(bits + torch.zeros_like(to_bits(condition)).to(bits.dtype), name_of_tensor(result))


def assertion_fails(condition: torch.Tensor, active: torch.Tensor | None = None) -> bool:
    """True if an enabled assertion must stop the launch: some active lane of the condition is False."""
    broken = ~condition if active is None else active & ~condition
    return bool(broken.any())
