"""Philox4x32-10 in torch on int64, on any device: the second source beside `tridiff.oracles.philox`."""

import math

import torch
from torch import Tensor

from tridiff.oracles.bits import to_bits
from tridiff.oracles.by_torch.integer import rem_trunc
from tridiff.oracles.dtypes import torch_dtype
from tridiff.oracles.philox import KEY_STEPS, MULTIPLIERS, ROUNDS, UNIFORM_SCALE

_LOW = 0xFFFFFFFF
Quad = tuple[Tensor, Tensor, Tensor, Tensor]


def _product(word: Tensor, multiplier: int) -> tuple[Tensor, Tensor]:
    """High and low 32 bits of a 32x32-bit product. The int64 product may wrap negative; its bits are
    right.
    """
    product = word * multiplier
    return (product >> 32) & _LOW, product & _LOW


def philox4x32(seed: int | Tensor, offset: Tensor, *, rounds: int = ROUNDS) -> Quad:
    """Four words per offset as int64 in [0, 2^32). offset: any integer type, modulo 2^32. seed: key modulo
    2^64.
    """
    x0 = offset.to(torch.int64) & _LOW
    x1, x2, x3 = torch.zeros_like(x0), torch.zeros_like(x0), torch.zeros_like(x0)
    k0, k1 = seed & _LOW, (seed >> 32) & _LOW
    for _ in range(rounds):
        high0, low0 = _product(x0, MULTIPLIERS[0])
        high1, low1 = _product(x2, MULTIPLIERS[1])
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, low1, high0 ^ x3 ^ k1, low0
        k0, k1 = (k0 + KEY_STEPS[0]) & _LOW, (k1 + KEY_STEPS[1]) & _LOW
    return x0, x1, x2, x3


def randint64(
    seed: int | Tensor, offset: Tensor, low: Tensor | int, high: Tensor | int
) -> Tensor:
    """int64 in [low, high) per offset, as `tridiff.oracles.philox.randint64`."""
    r0, r1, _, _ = philox4x32(seed, offset)
    drawn = r0 | (r1 << 32)
    start = torch.as_tensor(low, dtype=torch.int64, device=offset.device)
    span = torch.as_tensor(high, dtype=torch.int64, device=offset.device) - start
    drawn, span = drawn + torch.zeros_like(span), span + torch.zeros_like(drawn)
    unsigned = torch_dtype("u64")
    rest = rem_trunc(drawn.contiguous().view(unsigned), span.contiguous().view(unsigned))
    return start + to_bits(rest)


def randint64_defined(low: Tensor | int, high: Tensor | int) -> Tensor:
    """False where the range is empty or inverted."""
    return torch.as_tensor(low, dtype=torch.int64) < torch.as_tensor(high, dtype=torch.int64)


def rand(seed: int | Tensor, offset: Tensor) -> Tensor:
    """Uniform float32 in [0, 1) per offset, as `tridiff.oracles.philox.rand`."""
    return _uniform(philox4x32(seed, offset)[0])


def _uniform(word: Tensor) -> Tensor:
    folded = torch.where(word >= 1 << 31, _LOW - word, word)
    return folded.to(torch.float32) * float(UNIFORM_SCALE)


def randn(seed: int | Tensor, offset: Tensor) -> Tensor:
    """Standard normal per offset, unrounded float64, as `tridiff.oracles.philox.randn`."""
    first, second, _, _ = philox4x32(seed, offset)
    radius = torch.sqrt(-2.0 * torch.log(_uniform(first).clamp_min(1e-7).to(torch.float64)))
    return radius * torch.cos(2.0 * math.pi * _uniform(second).to(torch.float64))


def randint64_rows(seed: Tensor, offset: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """`randint64` of offsets (rows, n) with one seed and one range per row."""
    return randint64(seed[:, None], offset, low[:, None], high[:, None])


def rand_rows(seed: Tensor, offset: Tensor) -> Tensor:
    """`rand` of offsets (rows, n) with one seed per row."""
    return rand(seed[:, None], offset)


def randn_rows(seed: Tensor, offset: Tensor) -> Tensor:
    """`randn` of offsets (rows, n) with one seed per row."""
    return randn(seed[:, None], offset)
