"""Float operations that an expression does not get right (contract: codegen.md §3, oracles.md §5).

What concerns signs, neighbours and classes is done on bit patterns: fp32 arithmetic may flush subnormals to zero on
the device, loses the sign of zero, and half types would be stepped in the wrong format.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.libdevice import libdevice


@triton.jit
def bits_of(x):
    """The bit pattern of a float block as a signed integer block."""
    integer: tl.constexpr = tl.core.get_int_dtype(x.dtype.primitive_bitwidth, signed=True)
    return x.to(integer, bitcast=True)


@triton.jit
def infinity_bits(x):
    """The bit pattern of +infinity in x's type, a block of x's shape. Patterns beyond it are NaNs."""
    width: tl.constexpr = x.dtype.primitive_bitwidth
    integer: tl.constexpr = tl.core.get_int_dtype(width, signed=True)
    if x.dtype == tl.bfloat16:
        return tl.full(x.shape, 0x7F80, integer)
    elif width == 16:
        return tl.full(x.shape, 0x7C00, integer)
    elif width == 32:
        return tl.full(x.shape, 0x7F800000, integer)
    else:
        return tl.full(x.shape, 0x7FF0000000000000, integer)


@triton.jit
def magnitude_bits(x):
    """The bit pattern of |x|: it grows with |x|."""
    largest: tl.constexpr = (1 << (x.dtype.primitive_bitwidth - 1)) - 1
    return bits_of(x) & largest


@triton.jit
def sign_bits(x):
    """The bit pattern of x without all but the sign."""
    sign: tl.constexpr = -(1 << (x.dtype.primitive_bitwidth - 1))
    return bits_of(x) & sign


@triton.jit
def negate(x):
    """-x with the sign of zero and NaN flipped; Triton's `-x` is 0 - x, which gives +0.0 for +0.0."""
    sign: tl.constexpr = -(1 << (x.dtype.primitive_bitwidth - 1))
    return (bits_of(x) ^ sign).to(x.dtype, bitcast=True)


@triton.jit
def absolute(x):
    """|x|, subnormals and NaN payloads kept."""
    return magnitude_bits(x).to(x.dtype, bitcast=True)


@triton.jit
def signbit(x):
    """True where the sign bit is set: -0.0 and NaNs of negative sign too."""
    return bits_of(x) < 0


@triton.jit
def copysign(x, y):
    """|x| with the sign bit of y."""
    return (magnitude_bits(x) | sign_bits(y)).to(x.dtype, bitcast=True)


@triton.jit
def isinf(x):
    """True for both infinities."""
    return magnitude_bits(x) == infinity_bits(x)


@triton.jit
def isfinite(x):
    """False for infinities and NaN."""
    return magnitude_bits(x) < infinity_bits(x)


@triton.jit
def nextafter(x, y):
    """The neighbour of x toward y in their own type, y if they are equal, NaN if either is NaN."""
    bits = bits_of(x)
    away_from_zero = (y > x) ^ (bits < 0)
    step = tl.where(away_from_zero, 1, -1).to(bits.dtype)
    # From zero the first step leads to the smallest subnormal of y's sign.
    stepped = tl.where(magnitude_bits(x) == 0, sign_bits(y) | 1, bits + step)
    stepped = tl.where(x == y, bits_of(y), stepped)
    stepped = tl.where(x != x, bits, tl.where(y != y, bits_of(y), stepped))
    return stepped.to(x.dtype, bitcast=True)


@triton.jit
def fmin(a, b):
    """The smaller of a and b; the number if one of them is NaN. A tie gives b."""
    return tl.where((a < b) | (b != b), a, b)


@triton.jit
def fmax(a, b):
    """The larger of a and b; the number if one of them is NaN. A tie gives b."""
    return tl.where((a > b) | (b != b), a, b)


@triton.jit
def relu(x):
    """x where it is positive or NaN, else 0. Integers too."""
    return tl.where(x <= 0, 0, x).to(x.dtype)


@triton.jit
def sign(x):
    """-1, 0 or 1 in x's type; 0 for NaN (as torch has it). Integers too."""
    if x.dtype.is_int_unsigned():
        return (x != 0).to(x.dtype)
    else:
        return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)


@triton.jit
def rounded_quotient(a, b):
    """a / b correctly rounded; fp32's `/` is an approximation."""
    if a.dtype == tl.float32:
        return tl.div_rn(a, b)
    else:
        return a / b


@triton.jit
def opposite_signs(rest, b):
    """True where a nonzero remainder and the divisor differ in sign: floor and truncated quotient differ by one."""
    return (rest != 0) & ((rest < 0) ^ (b < 0))


@triton.jit
def floor(x):
    """The largest whole number <= x, -0.0 kept, negative subnormals to -1. libdevice's flushes those to -0.0."""
    whole = libdevice.trunc(x)
    return tl.where((bits_of(x) < 0) & (whole != x), whole - 1.0, whole)


@triton.jit
def ceil(x):
    """The smallest whole number >= x; (-1, -0] gives -0.0, positive subnormals 1."""
    whole = libdevice.trunc(x)
    return tl.where((bits_of(x) >= 0) & (whole != x), whole + 1.0, whole)


@triton.jit
def remainder(a, b):
    """a - b * floor(a / b) from the exact remainder: zero, or of the sign of b. remainder(5, -inf) is -inf."""
    rest = libdevice.fmod(a, b)
    return tl.where(opposite_signs(rest, b), rest + b, rest)


@triton.jit
def floor_divide(a, b):
    """floor(a / b) as torch and Python define it: from the exact remainder, not by rounding the quotient first.

    1.0 // 0.1 is 9, although the rounded quotient is 10; infinity over a number is NaN; 5 // -inf is -1;
    a / 0 is what division gives.
    """
    rest = libdevice.fmod(a, b)
    # What is divided is a multiple of b up to rounding, so the quotient is whole up to rounding.
    quotient = rounded_quotient(a - rest, b)
    quotient = tl.where(opposite_signs(rest, b), quotient - 1.0, quotient)
    whole = floor(quotient)
    whole = tl.where(quotient - whole > 0.5, whole + 1.0, whole)
    zero = copysign(tl.zeros_like(a), rounded_quotient(a, b))
    return tl.where(b == 0, rounded_quotient(a, b), tl.where(whole == 0, zero, whole))


@triton.jit
def trunc_divide(a, b):
    """a / b rounded, then truncated toward zero, as torch.div(rounding_mode="trunc")."""
    return libdevice.trunc(rounded_quotient(a, b))
