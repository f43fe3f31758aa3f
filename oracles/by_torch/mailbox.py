"""Rows whose elements change places by exclusive or, the second opinion: one turn per bit."""

import torch

from tridiff.oracles.bits import from_bits, to_bits
from tridiff.oracles.dtypes import name_of_tensor


def exchanged(rows: torch.Tensor, *, flip: int) -> torch.Tensor:
    """See the numpy function: every bit of `flip` exchanges neighbouring blocks of its weight."""
    bits = to_bits(rows)
    for weight in (1 << k for k in range(flip.bit_length()) if flip >> k & 1):
        bits = bits.reshape(rows.shape[0], -1, 2, weight).flip(2).reshape(rows.shape)
    return from_bits(bits.contiguous(), name_of_tensor(rows))
