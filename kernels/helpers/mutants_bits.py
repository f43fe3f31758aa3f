"""Deliberately broken variants of frexp; see `mutants_integer.py` for what the table is for."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.bits import frexp as correct_frexp
from tridiff.kernels.helpers.mutant_table import mutant_table, variants


@triton.jit
def frexp_minus_zero_lost(x):
    """-0.0 gives (0.0, 0) instead of (-0.0, 0)."""
    mantissa, exponent = correct_frexp(x)
    return tl.where(x == 0, 0.0, mantissa), exponent


@triton.jit
def frexp_subnormal_flushed(x):
    """Subnormals give (x, 0) as if they were 0: 2**-149 gives e = 0 instead of -148."""
    mantissa, exponent = correct_frexp(x)
    least_normal: tl.constexpr = -1021 if x.dtype == tl.float64 else -125
    subnormal = exponent < least_normal
    return tl.where(subnormal, x, mantissa), tl.where(subnormal, 0, exponent)


@triton.jit
def frexp_mantissa_from_one(x):
    """1 <= |m| < 2: 1.0 gives (1.0, 0) instead of (0.5, 1)."""
    mantissa, exponent = correct_frexp(x)
    changed = (x != 0) & (mantissa - mantissa == 0)
    return tl.where(changed, mantissa * 2, mantissa), tl.where(changed, exponent - 1, exponent)


@triton.jit
def frexp_powers_of_two_up(x):
    """0.5 < |m| <= 1: 1.0 gives (1.0, 0) instead of (0.5, 1). Right for all but powers of two."""
    mantissa, exponent = correct_frexp(x)
    power = tl.abs(mantissa) == 0.5
    return tl.where(power, mantissa * 2, mantissa), tl.where(power, exponent - 1, exponent)


@triton.jit
def frexp_exponent_of_infinity(x):
    """Infinities get the exponent that their bits spell: inf gives e = 129 instead of 0 in fp32."""
    mantissa, exponent = correct_frexp(x)
    top: tl.constexpr = 1025 if x.dtype == tl.float64 else 129
    return mantissa, tl.where(tl.abs(x) == float("inf"), top, exponent)


@triton.jit
def frexp_sign_lost(x):
    """The mantissa of |x|: -1.0 gives (0.5, 1) instead of (-0.5, 1)."""
    mantissa, exponent = correct_frexp(x)
    return tl.abs(mantissa), exponent


MUTANTS = mutant_table({
    "frexp": variants(frexp_minus_zero_lost, frexp_subnormal_flushed, frexp_mantissa_from_one, frexp_powers_of_two_up,
        frexp_exponent_of_infinity, frexp_sign_lost, prefix="frexp_")})
