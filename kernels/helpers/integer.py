"""Floor division and floor remainder of integers (contract: helpers.md §4).

Triton's `//` and `%` on integers truncate toward zero, like C. The helpers here round toward minus infinity, like
Python and torch. They never divide signed numbers. The axis analysis of Triton 3.6.0 to 3.9.0 reasons about a signed
quotient of a contiguous run as if division rounded down: it declares the quotient constant per aligned group of
lanes and computes it once, which is wrong left of zero, where truncation changes value inside the group (Triton issue
7749: `(arange(0, 512) - 256) // 16` stores one quotient, -16, for -256..-253; truncation gives -16, -15, -15, -15).
A helper that corrects a signed quotient afterwards inherits the wrong lanes. Dividing magnitudes avoids it: the
quotient of unsigned numbers really is constant per aligned group, so whatever the analysis concludes is true.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.probes import as_tensor


@triton.jit
def promote_integers(a, b):
    """Both arguments as blocks of their promoted integer type and broadcast shape.

    Literals take the type of the other side. Mixed signedness is a compile-time error, as it is for Triton's own `//`.
    """
    if isinstance(a, tl.tensor) and isinstance(b, tl.tensor):
        tl.static_assert(
            a.dtype.is_int_signed() == b.dtype.is_int_signed(), "a and b differ in signedness: cast one of them first",
        )
    # OR promotes like `+`, but cannot overflow, so the overflow sanitizer has nothing to say. Its value is unused.
    promoted: tl.constexpr = as_tensor(a | b).dtype
    x, y = tl.broadcast(as_tensor(a), as_tensor(b))
    return x.to(promoted), y.to(promoted)


@triton.jit
def magnitude(x):
    """|x| as an unsigned block of the same width, right for the most negative value too.

    `tl.abs` will not do: it lowers to an `llvm.abs` whose result is poison for the most negative value.
    """
    unsigned: tl.constexpr = tl.core.get_int_dtype(x.dtype.primitive_bitwidth, signed=False)
    negative = x < 0
    # -x == ~x + 1; the complement cannot overflow, and the + 1 is done where 2**(width-1) is representable.
    return tl.where(negative, ~x, x).to(unsigned, bitcast=True) + negative.to(unsigned)


@triton.jit
def div_floor_integer(a, b):
    """floor(a / b), element-wise, wrapped to the promoted type (contract: helpers.md §4).

    a, b: integer scalars or blocks of one signedness, any of i8 i16 i32 i64 u8 u16 u32 u64.
    INT_MIN // -1 wraps to INT_MIN. A zero divisor gives 0 in its own lane and disturbs no other.
    """
    a, b = promote_integers(a, b)
    # A zero divisor is undefined behaviour for the whole program, not only for its lane: never let it reach `//`.
    zero_divisor = b == 0
    safe_b = tl.where(zero_divisor, 1, b).to(b.dtype)
    if a.dtype.is_int_signed():
        # For a quotient below zero, floor(a/b) = -ceil(|a|/|b|) = ~((|a| - 1) // |b|). Neither step can overflow,
        # because `below_zero` implies |a| >= 1.
        below_zero = (a != 0) & ((a < 0) ^ (safe_b < 0))
        dividend = magnitude(a)
        quotient = (dividend - below_zero.to(dividend.dtype)) // magnitude(safe_b)
        signed_quotient = quotient.to(a.dtype, bitcast=True)
        result = tl.where(below_zero, ~signed_quotient, signed_quotient)
    else:
        result = a // safe_b
    return tl.where(zero_divisor, 0, result).to(a.dtype)


@triton.jit
def remainder_integer(a, b):
    """a - b * floor(a / b), element-wise: zero, or of the sign of b (contract: helpers.md §4).

    Arguments as for `div_floor_integer`, with which it satisfies `a == q * b + r` modulo 2**width for every b != 0.
    b = -1 gives 0 for every a. A zero divisor gives 0 in its own lane and disturbs no other.
    """
    a, b = promote_integers(a, b)
    zero_divisor = b == 0
    safe_b = tl.where(zero_divisor, 1, b).to(b.dtype)
    if a.dtype.is_int_signed():
        # With opposite signs the remainder counts down from |b|: |b| - 1 - ((|a| - 1) mod |b|), which is 0 for exact
        # multiples without asking for them separately.
        opposite = (a != 0) & ((a < 0) ^ (safe_b < 0))
        dividend = magnitude(a)
        divisor = magnitude(safe_b)
        remaining = (dividend - opposite.to(dividend.dtype)) % divisor
        size = tl.where(opposite, divisor - 1 - remaining, remaining).to(a.dtype, bitcast=True)
        result = tl.where(safe_b < 0, -size, size)
    else:
        result = a % safe_b
    return tl.where(zero_divisor, 0, result).to(a.dtype)
