"""Bit views, ordering and classification of tensors of every element type, on any device, without
synchronising.

torch has few kernels for uint16/32/64 and fp8, so everything here goes through views as signed integers.
"""

import torch
from torch import Tensor

from tridiff.oracles.dtypes import dtype, name_of_tensor, torch_dtype

INT64_MAX = (1 << 63) - 1
INT64_MIN = -(1 << 63)

SIGNED = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}


def to_bits(x: Tensor) -> Tensor:
    """`x` reinterpreted as signed integers of its storage width (no copy, same shape)."""
    return x.view(SIGNED[dtype(name_of_tensor(x)).storage_bits])


def from_bits(bits: Tensor, name: str) -> Tensor:
    """Integers of the storage width of `name` reinterpreted as `name` (no copy, same shape)."""
    return bits.view(torch_dtype(name))


def unsigned_bits(x: Tensor) -> Tensor:
    """Bit patterns as non-negative int64; 64-bit types keep their sign bit as int64's sign."""
    width = dtype(name_of_tensor(x)).storage_bits
    bits = to_bits(x).to(torch.int64)
    return bits if width == 64 else bits & ((1 << width) - 1)


def magnitude_bits(x: Tensor) -> Tensor:
    """Bits of a float tensor without the sign, in the signed integer type of its width (never negative)."""
    width = dtype(name_of_tensor(x)).bits
    return to_bits(x) & ((1 << (width - 1)) - 1)


def _nowhere(x: Tensor) -> Tensor:
    """False for every element."""
    return torch.zeros((), dtype=torch.bool, device=x.device).expand(x.shape)


def is_nan(x: Tensor) -> Tensor:
    """True where a float is NaN; all False for other kinds."""
    kind = dtype(name_of_tensor(x))
    if not kind.is_float:
        return _nowhere(x)
    return magnitude_bits(x) > kind.infinity_bits


def is_inf(x: Tensor) -> Tensor:
    """True where a float is infinite; all False for other kinds and for fp8e4nv, which has no infinity."""
    kind = dtype(name_of_tensor(x))
    if not kind.has_inf:
        return _nowhere(x)
    return magnitude_bits(x) == kind.infinity_bits


def is_zero(x: Tensor) -> Tensor:
    """True where the value is zero of either sign."""
    return (magnitude_bits(x) if dtype(name_of_tensor(x)).is_float else to_bits(x)) == 0


def is_subnormal(x: Tensor) -> Tensor:
    """True where a float is subnormal (zero excluded); all False for other kinds."""
    kind = dtype(name_of_tensor(x))
    if not kind.is_float:
        return _nowhere(x)
    magnitude = magnitude_bits(x)
    return (magnitude > 0) & (magnitude < (1 << kind.mantissa_bits))


def sign_bit(x: Tensor) -> Tensor:
    """True where the sign bit of a float or signed integer is set; all False for unsigned and i1."""
    if dtype(name_of_tensor(x)).kind in ("bool", "uint"):
        return _nowhere(x)
    return to_bits(x) < 0


def ordered(x: Tensor) -> Tensor:
    """int64 keys that grow with the value; neighbouring floats differ by one, ±0 share key 0.

    NaNs get keys beyond infinity (negative ones below -infinity), so callers that care must mask them. u64
    keys are the value minus 2^63.
    """
    kind = dtype(name_of_tensor(x))
    if kind.is_float:
        magnitude = magnitude_bits(x).to(torch.int64)
        return torch.where(to_bits(x) < 0, -magnitude, magnitude)
    bits = to_bits(x).to(torch.int64)
    if kind.kind != "uint":
        return bits
    return bits ^ INT64_MIN if kind.bits == 64 else bits & ((1 << kind.bits) - 1)


def ulp_distance(a: Tensor, b: Tensor) -> Tensor:
    """Number of representable steps between two tensors of one type, int64, saturating at 2^63-1.

    ±0 are 0 apart. Two NaNs are 0 apart, a NaN and a number 2^63-1. For integers this is |a - b|.
    """
    key_a, key_b = ordered(a), ordered(b)
    high, low = torch.maximum(key_a, key_b), torch.minimum(key_a, key_b)
    # high >= low, so a negative wrapped difference can only mean overflow.
    steps = high - low
    steps = torch.where(steps < 0, INT64_MAX, steps)
    if not dtype(name_of_tensor(a)).is_float:
        return steps
    nan_a, nan_b = is_nan(a), is_nan(b)
    return torch.where(nan_a | nan_b, torch.where(nan_a & nan_b, 0, INT64_MAX), steps)


def to_float64(x: Tensor) -> Tensor:
    """Values as float64: exact for floats and for integers up to 53 bits, rounded to nearest for wider
    ones.
    """
    name = name_of_tensor(x)
    if name == "u64":
        bits = to_bits(x)
        # Halve with a sticky bit so that the one conversion rounds correctly, then double back.
        halved = ((bits >> 1) & INT64_MAX) | (bits & 1)
        return torch.where(bits < 0, halved.to(torch.float64) * 2.0, bits.to(torch.float64))
    if dtype(name).kind == "uint":
        return unsigned_bits(x).to(torch.float64)
    return x.to(torch.float64)
