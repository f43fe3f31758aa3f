"""Parts and neighbours of floats, in torch. Names and arguments as in `tridiff.oracles.by_numpy.pieces`."""

import math
from fractions import Fraction

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, is_inf, is_nan, sign_bit, to_bits
from tridiff.oracles.by_exact.rounding import nearby
from tridiff.oracles.by_torch.integer import widen
from tridiff.oracles.dtypes import dtype, name_of_tensor


def half_to_even(x: Tensor) -> Tensor:
    return x.round()


def half_away(x: Tensor) -> Tensor:
    """The nearest whole number, halves away from zero."""
    down = x.abs().floor()
    return torch.where(x.abs() - down >= 0.5, down + 1, torch.where(torch.isfinite(x), down, x.abs())).copysign(x)


def saturated(x: Tensor) -> Tensor:
    """x within [0, 1]; +0 for NaN and for what lies below."""
    return x.nan_to_num(nan=0.0, posinf=1.0, neginf=0.0).clamp(0.0, 1.0).abs()


def finite(x: Tensor) -> Tensor:
    """i1."""
    return ~(is_nan(x) | is_inf(x))


def nan(x: Tensor) -> Tensor:
    """i1."""
    return is_nan(x)


def infinite(x: Tensor) -> Tensor:
    """i1."""
    return is_inf(x)


def negative(x: Tensor) -> Tensor:
    """i1: the sign bit."""
    return sign_bit(x)


def distance(a: Tensor, b: Tensor) -> Tensor:
    """a - b where that is positive, else +0; NaN where an operand is."""
    found = torch.where(a > b, a - b, torch.zeros_like(a))
    return torch.where(a.isnan() | b.isnan(), torch.full_like(a, torch.nan), found)


def exponent(x: Tensor) -> Tensor:
    """The exponent of the first bit as a float: -inf of zero, inf of an infinity."""
    place = torch.frexp(x.to(torch.float64)).exponent.to(x.dtype) - 1
    found = torch.where(x == 0, torch.full_like(x, -torch.inf), place)
    return torch.where(torch.isfinite(x), found, x.abs())


def scaled(x: Tensor, power: Tensor) -> Tensor:
    """x * 2^power, rounded once, by exact ratios."""
    name = name_of_tensor(x)
    words = []
    pairs = zip(x.cpu().to(torch.float64).reshape(-1).tolist(), to_bits(x).cpu().reshape(-1).tolist(),
                widen(power).cpu().reshape(-1).tolist(), strict=True)
    for value, bits, shift in pairs:
        if value == 0 or not math.isfinite(value):
            words.append(bits)
            continue
        word = nearby(name, Fraction(value) * Fraction(2) ** min(max(shift, -5000), 5000), "rn")
        words.append(word - (1 << dtype(name).bits) if word >> (dtype(name).bits - 1) else word)
    flat = torch.tensor(words, dtype=torch.int64).to(to_bits(x).dtype)
    return from_bits(flat, name).reshape(x.shape).to(x.device)


def remainder_to_nearest(a: Tensor, b: Tensor) -> Tensor:
    """a - n b for the whole n nearest to a / b, halves to even, by exact ratios."""
    found = []
    for x, y in zip(a.cpu().to(torch.float64).reshape(-1).tolist(), b.cpu().to(torch.float64).reshape(-1).tolist(),
                    strict=True):
        if not math.isfinite(x) or math.isnan(y) or y == 0:
            found.append(math.nan)
        elif math.isinf(y):
            found.append(x)
        else:
            rest = Fraction(x) - Fraction(y) * round(Fraction(x) / Fraction(y))
            found.append(float(rest) if rest else math.copysign(0.0, x))
    return torch.tensor(found, dtype=torch.float64).to(a.dtype).reshape(a.shape).to(a.device)


def normal_pair(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """float64: two normal numbers of two uniform ones by Box and Muller, as a complex number in polar form."""
    least = torch.tensor(1e-7, dtype=torch.float32, device=first.device).to(torch.float64)
    size = (-2.0 * torch.maximum(first.to(torch.float64), least).log()).sqrt()
    found = torch.polar(size, second.to(torch.float64) * (2 * math.pi))
    return found.real.clone(), found.imag.clone()
