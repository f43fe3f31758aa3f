"""Integer operations with a defined result for every operand (contract: codegen.md §3, oracles.md §5)."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.integer import magnitude


@triton.jit
def div_trunc_integer(a, b):
    """a / b rounded toward zero, wrapped: INT_MIN / -1 is INT_MIN. A zero divisor gives 0 in its own lane.

    a, b: blocks of one integer type. Magnitudes are divided, never signed numbers (see kernels/helpers/integer.py).
    """
    zero_divisor = b == 0
    safe_b = tl.where(zero_divisor, 1, b).to(b.dtype)
    if a.dtype.is_int_signed():
        quotient = (magnitude(a) // magnitude(safe_b)).to(a.dtype, bitcast=True)
        result = tl.where((a < 0) ^ (b < 0), -quotient, quotient)
    else:
        result = a // safe_b
    return tl.where(zero_divisor, 0, result).to(a.dtype)


@triton.jit
def rem_trunc_integer(a, b):
    """a - b * div_trunc_integer(a, b): zero, or of the sign of a. A zero divisor gives 0 in its own lane."""
    zero_divisor = b == 0
    safe_b = tl.where(zero_divisor, 1, b).to(b.dtype)
    if a.dtype.is_int_signed():
        rest = (magnitude(a) % magnitude(safe_b)).to(a.dtype, bitcast=True)
        result = tl.where(a < 0, -rest, rest)
    else:
        result = a % safe_b
    return tl.where(zero_divisor, 0, result).to(a.dtype)


@triton.jit
def left_shift(x, amount):
    """x << amount; 0 for amounts that are negative or not below the width, which `<<` leaves undefined."""
    width: tl.constexpr = x.dtype.primitive_bitwidth
    inside = (amount >= 0) & (amount < width)
    shifted = x << tl.where(inside, amount, 0).to(x.dtype)
    return tl.where(inside, shifted, 0).to(x.dtype)


@triton.jit
def right_shift(x, amount):
    """x >> amount, sign-filling for signed types; for amounts that are negative or not below the width all fill."""
    width: tl.constexpr = x.dtype.primitive_bitwidth
    inside = (amount >= 0) & (amount < width)
    if x.dtype.is_int_signed():
        return x >> tl.where(inside, amount, width - 1).to(x.dtype)
    else:
        shifted = x >> tl.where(inside, amount, 0).to(x.dtype)
        return tl.where(inside, shifted, 0).to(x.dtype)


@triton.jit
def absolute_integer(x):
    """|x|, wrapped: INT_MIN stays. `tl.abs` lowers to an operation that is undefined for it."""
    return tl.where(x < 0, -x, x)


@triton.jit
def complement(x):
    """~x of an unsigned block. The interpreter of Triton 3.6.0 cannot build the -1 that `~x` asks for there."""
    signed: tl.constexpr = tl.core.get_int_dtype(x.dtype.primitive_bitwidth, signed=True)
    return (~x.to(signed, bitcast=True)).to(x.dtype, bitcast=True)


@triton.jit
def integer_power(base, exponent):
    """base ** exponent modulo 2**width, exact. Negative exponents truncate: 0 unless base is 1 or -1; 0 ** -n is 0.

    base, exponent: blocks of one integer type.
    """
    width: tl.constexpr = base.dtype.primitive_bitwidth
    one = tl.full(base.shape, 1, base.dtype)
    result = one
    factor = base
    remaining = exponent
    for _ in range(width):
        result = tl.where((remaining & 1) != 0, result * factor, result)
        factor = factor * factor
        remaining = remaining >> 1
    if base.dtype.is_int_signed():
        odd = (exponent & 1) != 0
        of_minus_one = tl.where(odd, -one, one)
        inverse = tl.where(base == 1, one, tl.where(base == -1, of_minus_one, one - one))
        return tl.where(exponent < 0, inverse, result)
    else:
        return result
