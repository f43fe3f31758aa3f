"""Deliberately broken variants of the integer helpers, to measure whether a test would notice.

MUTANTS maps a helper's name to its faults; each has the helper's signature and differs from it on the operands given in
its docstring.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.integer import magnitude, promote_integers
from tridiff.kernels.helpers.mutant_table import mutant_table, variants


@triton.jit
def guard_zero(b):
    """b, with 1 in place of 0: the mutants are wrong elsewhere, not undefined."""
    return tl.where(b == 0, 1, b).to(b.dtype)


@triton.jit
def div_trunc_for_floor(a, b):
    """Rounds toward zero: -7 // 2 gives -3 instead of -4."""
    a, b = promote_integers(a, b)
    return a // guard_zero(b)


@triton.jit
def div_ceil_for_floor(a, b):
    """Rounds up: 7 // 2 gives 4 instead of 3."""
    a, b = promote_integers(a, b)
    b = guard_zero(b)
    quotient = a // b
    inexact_above = (a % b != 0) & ((a < 0) == (b < 0))
    return tl.where(inexact_above, quotient + 1, quotient).to(a.dtype)


@triton.jit
def div_exact_multiple_decremented(a, b):
    """Subtracts 1 whenever the signs differ, exact or not: -6 // 2 gives -4 instead of -3."""
    a, b = promote_integers(a, b)
    b = guard_zero(b)
    quotient = a // b
    return tl.where((a != 0) & ((a < 0) ^ (b < 0)), quotient - 1, quotient).to(a.dtype)


@triton.jit
def div_divisor_sign_ignored(a, b):
    """Looks at the dividend's sign only: 7 // -2 gives -3 instead of -4."""
    a, b = promote_integers(a, b)
    b = guard_zero(b)
    quotient = a // b
    return tl.where((a % b != 0) & (a < 0), quotient - 1, quotient).to(a.dtype)


@triton.jit
def div_unsigned_operands(a, b):
    """Divides the bit patterns: -4 // 2 gives 2**(width-1) - 2 instead of -2."""
    a, b = promote_integers(a, b)
    unsigned: tl.constexpr = tl.core.get_int_dtype(a.dtype.primitive_bitwidth, signed=False)
    return (a.to(unsigned, bitcast=True) // guard_zero(b).to(unsigned, bitcast=True)).to(a.dtype, bitcast=True)


@triton.jit
def div_int_min_saturated(a, b):
    """Takes |INT_MIN| for INT_MAX: INT_MIN // 1 gives INT_MIN + 1."""
    a, b = promote_integers(a, b)
    b = guard_zero(b)
    if a.dtype.is_int_signed():
        size = magnitude(a)
        # Only |INT_MIN| has its top bit set: take 1 off it.
        size = size - (size >> (a.dtype.primitive_bitwidth - 1))
        below_zero = (size != 0) & ((a < 0) ^ (b < 0))
        quotient = ((size - below_zero.to(size.dtype)) // magnitude(b)).to(a.dtype, bitcast=True)
        return tl.where(below_zero, ~quotient, quotient)
    else:
        return a // b


@triton.jit
def div_in_32_bits(a, b):
    """Divides the low 32 bits of 64-bit operands: 2**32 // 1 gives 0."""
    a, b = promote_integers(a, b)
    if a.dtype.primitive_bitwidth == 64:
        narrow: tl.constexpr = tl.core.get_int_dtype(32, signed=a.dtype.is_int_signed())
        quotient = div_correct(a.to(narrow), guard_zero(b.to(narrow)))
        return quotient.to(a.dtype)
    else:
        return div_correct(a, guard_zero(b))


@triton.jit
def div_correct(a, b):
    """The floor quotient for b != 0, computed another way, for mutants that are wrong around it."""
    quotient = a // b
    if a.dtype.is_int_signed():
        return tl.where((a % b != 0) & ((a < 0) ^ (b < 0)), quotient - 1, quotient).to(a.dtype)
    else:
        return quotient


@triton.jit
def remainder_trunc_for_floor(a, b):
    """Takes the dividend's sign: -7 rem 2 gives -1 instead of 1."""
    a, b = promote_integers(a, b)
    return a % guard_zero(b)


@triton.jit
def remainder_exact_multiple_gives_divisor(a, b):
    """Adds the divisor whenever the signs differ: 6 rem -3 gives -3 instead of 0."""
    a, b = promote_integers(a, b)
    b = guard_zero(b)
    remaining = a % b
    return tl.where((a < 0) ^ (b < 0), remaining + b, remaining).to(a.dtype)


@triton.jit
def remainder_never_negative(a, b):
    """The Euclidean remainder: 7 rem -4 gives 3 instead of -1."""
    a, b = promote_integers(a, b)
    b = guard_zero(b)
    remaining = a % b
    if a.dtype.is_int_signed():
        return tl.where(remaining < 0, remaining + tl.where(b < 0, -b, b), remaining).to(a.dtype)
    else:
        return remaining


@triton.jit
def remainder_of_magnitudes(a, b):
    """|a| mod |b| with b's sign: -7 rem 4 gives 3 instead of 1."""
    a, b = promote_integers(a, b)
    b = guard_zero(b)
    if a.dtype.is_int_signed():
        remaining = (magnitude(a) % magnitude(b)).to(a.dtype, bitcast=True)
        return tl.where(b < 0, -remaining, remaining).to(a.dtype)
    else:
        return a % b


@triton.jit
def remainder_through_fp32(a, b):
    """a - b * floor(a / b) with an fp32 quotient: 2**31 - 1 rem 2 gives -1 instead of 1."""
    a, b = promote_integers(a, b)
    b = guard_zero(b)
    quotient = tl.floor(a.to(tl.float32) / b.to(tl.float32)).to(a.dtype)
    return (a - b * quotient).to(a.dtype)


@triton.jit
def remainder_in_32_bits(a, b):
    """The remainder of the low 32 bits of 64-bit operands: 2**32 rem 3 gives 0 instead of 1."""
    a, b = promote_integers(a, b)
    if a.dtype.primitive_bitwidth == 64:
        narrow: tl.constexpr = tl.core.get_int_dtype(32, signed=a.dtype.is_int_signed())
        return remainder_correct(a.to(narrow), guard_zero(b.to(narrow))).to(a.dtype)
    else:
        return remainder_correct(a, guard_zero(b))


@triton.jit
def remainder_correct(a, b):
    """The floor remainder for b != 0, computed another way, for mutants that are wrong around it."""
    remaining = a % b
    if a.dtype.is_int_signed():
        return tl.where((remaining != 0) & ((a < 0) ^ (b < 0)), remaining + b, remaining).to(a.dtype)
    else:
        return remaining


MUTANTS = mutant_table({
    "div_floor_integer": variants(div_trunc_for_floor, div_ceil_for_floor, div_exact_multiple_decremented,
        div_divisor_sign_ignored, div_unsigned_operands, div_int_min_saturated, div_in_32_bits, prefix="div_"),
    "remainder_integer": variants(remainder_trunc_for_floor, remainder_exact_multiple_gives_divisor,
        remainder_never_negative, remainder_of_magnitudes, remainder_through_fp32, remainder_in_32_bits,
        prefix="remainder_")})
