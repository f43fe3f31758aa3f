"""What libdevice gives of subnormal fp32 numbers, and `%` of floats by way of a rounded quotient.

Triton has libdevice's intrinsics flush (`nvvm-reflect-ftz`) and compiles its plain comparisons and sums without: a
subnormal number is a zero to some instructions of one function and not to others (PTX of 3.6.0 to 3.9.0).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from tridiff.fuzz.known.issue import Masks, Wrong, predicting
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.fuzz.known.predictions.operands import operands
from tridiff.fuzz.language.promotion import promoted
from tridiff.kernels.language.call import Call
from tridiff.oracles.by_torch import language as lib
from tridiff.oracles.by_torch.flushing import tiny

Reals = npt.NDArray[Any]
_OFF = 2.0**-16
"""How far a power may be off: 8 ulps, and what contraction of libdevice's pow adds (pytorch#175594)."""
_STEP = 2.0**-149


def _of_tiny(seen: Wrong, alike: Callable[[torch.Tensor, tuple[torch.Tensor, ...]], torch.Tensor]) -> Masks:
    """Where the operand that counts (the first) is subnormal, and the result is what it must be. alike: of results and
    operands, as blocks of one shape."""
    call = seen.case.program
    if "out0" not in seen.wrong or not isinstance(call, Call):
        return {}
    given = lib.align(operands(seen))
    actual = seen.actual["out0"].reshape(given[0].shape)
    would = tiny(given[0])
    return {"out0": where_it_shows(would & alike(actual, given), would).reshape(seen.wrong["out0"].shape)}


def nan_of_a_root(seen: Wrong) -> Masks:
    """cbrt and rcbrt: the estimate is that of zero, infinity times zero is NaN."""
    return _of_tiny(seen, lambda actual, operands: actual.isnan())


def twice_the_number(seen: Wrong) -> Masks:
    """ldexp and scalbn: x + x, which keeps zeros and infinities what they are."""
    return _of_tiny(seen, lambda actual, operands: actual == operands[0] + operands[0])


def exponent_of_nothing(seen: Wrong) -> Masks:
    """logb: of a zero that is none, scaled by 2^23."""
    return _of_tiny(seen, lambda actual, operands: actual == -150)


def power_of_half_the_smallest(seen: Wrong) -> Masks:
    """pow: the mantissa is that of zero, 1, and the exponent -127: the power of 2^-127 with the sign of x."""

    def alike(actual: torch.Tensor, operands: tuple[torch.Tensor, ...]) -> torch.Tensor:
        x, y = (one.to(torch.float64) for one in operands)
        power = torch.copysign(torch.full_like(x, 2.0**-127), x).pow(y)
        found = actual.to(torch.float64)
        least, most = power.abs() * (1 - _OFF), power.abs() * (1 + _OFF) + 4 * _STEP
        within = (found.abs() >= torch.where(least < 2.0**-126, 0.0, least.clamp_max(torch.finfo(torch.float32).max)))
        within &= (found.abs() <= most) | (found.isinf() & (most >= torch.finfo(torch.float32).max))
        return (within & (torch.signbit(found) == torch.signbit(power))) | (found.isnan() & power.isnan())

    return _of_tiny(seen, alike)


@predicting("out0")
def rest_of_a_rounded_quotient(seen: Wrong) -> torch.Tensor | None:
    """`%` of floats in calls of the language; halves in fp32."""
    call = seen.case.program
    if not isinstance(call, Call):
        return None
    computed = promoted(*call.operands, division=True)
    wide = "fp64" if computed == "fp64" else "fp32"
    a, b = (lib.cast(one, to=wide).cpu().contiguous().numpy() for one in lib.align(tuple(
        lib.cast(one, to=computed) for one in operands(seen))))
    predicted = lib.cast(torch.from_numpy(np.ascontiguousarray(_rest(a, b))), to=call.stored[0])
    return _alike(predicted, seen.actual["out0"])


@predicting("out")
def compiled_remainder(seen: Wrong) -> torch.Tensor:
    """torch.remainder as Inductor has it: `%`, and the divisor added where its sign is another one."""
    a, b = (seen.inputs[name].cpu().contiguous().numpy() for name in ("a", "b"))
    rest = _rest(a, b)
    with np.errstate(all="ignore"):
        # It asks for the sign bit of an fp32 number, and whether an fp64 number is less than zero.
        below, opposite = (np.signbit(one) if a.dtype == np.float32 else one < 0 for one in (rest, b))
        found = np.where((rest != 0) & (below != opposite), rest + b, rest)
    return _alike(torch.from_numpy(found), seen.actual["out"])


def _alike(predicted: torch.Tensor, actual: torch.Tensor) -> torch.Tensor:
    given = actual.cpu()
    predicted = predicted.reshape(given.shape)
    return ((predicted == given) | (predicted.isnan() & given.isnan())).to(actual.device)


def _rest(a: Reals, b: Reals) -> Reals:
    """a - b * trunc(a / b) with one rounding behind the quotient's (`fma`), and a where b is infinite.

    While whole numbers are exact, trunc(a / b) is the exact quotient or one more, of which the difference is exact: the
    remainder, or that less b. Beyond, the rounded quotient is multiplied out; an infinite one gives an infinity.
    """
    with np.errstate(all="ignore"):
        rest, quotient = np.fmod(a, b), np.trunc(a / b)
        exact = np.rint((a.astype(np.float64) - rest) / b)
        over = np.abs(quotient) > np.abs(exact)
        found = np.where(over, rest - np.copysign(b, a), rest)
        found = np.where(np.isinf(quotient) & np.isfinite(a) & (b != 0), -np.copysign(np.inf, a), found)
    far = np.isfinite(quotient) & (np.abs(quotient) >= 2.0**np.finfo(a.dtype).nmant)
    found[far] = [float(Fraction(x) - Fraction(n) * Fraction(y)) for x, n, y in zip(
        a[far].tolist(), quotient[far].tolist(), b[far].tolist(), strict=True)]
    return np.asarray(np.where(np.isinf(b), a, found).astype(a.dtype))
