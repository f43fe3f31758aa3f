"""Second source for promote_to_tensor and device_assert_then (contract: helpers.md §3, §8)."""

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, to_bits
from tridiff.oracles.dtypes import dtype, name_of_tensor


def promote_to_tensor(x: Tensor) -> Tensor:
    """Same values, same type, rank at least 1; rule BIT."""
    return x.clone() if x.dim() else x.clone().reshape(1)


def device_assert_then(condition: Tensor, result: Tensor) -> Tensor:
    """`result` bit for bit, whatever the condition; rule BIT."""
    bits = to_bits(result)
    return from_bits(bits + torch.zeros_like(to_bits(condition)).to(bits.dtype), name_of_tensor(result))


def assertion_fails(condition: Tensor, active: Tensor | None = None) -> bool:
    """True if an enabled assertion must stop the launch: some active lane of the condition is False."""
    broken = ~condition if active is None else active & ~condition
    return bool(broken.any())


def promote_facts(x: Tensor, *, scalar: bool) -> Tensor:
    """Facts of the driver `promote`: the type is kept, the rank (scalars get 1, blocks keep 2), the bit width."""
    rank = 1 if scalar else 2
    facts = (1, rank, dtype(name_of_tensor(x)).bits)
    return torch.tensor(facts, dtype=torch.int32, device=x.device)


def is_floating(x: Tensor) -> Tensor:
    """1 for a float type, else 0, as one i8; whatever the values."""
    return torch.full((1,), int(x.is_floating_point()), dtype=torch.int8, device=x.device)
