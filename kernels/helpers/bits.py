"""Taking a floating-point number apart (contract: helpers.md §12)."""

import triton
import triton.language as tl


@triton.jit
def frexp(x):
    """(m, e) with x == m * 2**e and 0.5 <= |m| < 1, element-wise (contract: helpers.md §12).

    x: a block of fp32 or fp64 (upcast half types first). m has x's type, e is int32.
    Zeros (their sign included), infinities and NaNs come back as (x, 0). Subnormals are normalised.
    """
    tl.static_assert(
        (x.dtype == tl.float32) or (x.dtype == tl.float64), "frexp takes fp32 or fp64: convert other types first",
    )
    # Only integers are computed with: fp32 arithmetic may flush subnormals to zero on the device.
    width: tl.constexpr = x.dtype.primitive_bitwidth
    fraction_width: tl.constexpr = 52 if width == 64 else 23
    bits_type: tl.constexpr = tl.core.get_int_dtype(width, signed=True)
    exponent_mask: tl.constexpr = (1 << (width - 1 - fraction_width)) - 1
    fraction_mask: tl.constexpr = (1 << fraction_width) - 1
    # The biased exponent of the numbers in [0.5, 1), and how it stands in place.
    half_exponent: tl.constexpr = (exponent_mask >> 1) - 1
    half_bits: tl.constexpr = half_exponent << fraction_width

    bits = x.to(bits_type, bitcast=True)
    exponent = (bits >> fraction_width) & exponent_mask
    fraction = bits & fraction_mask
    # A subnormal is fraction * 2**least. As a float of its own the integer `fraction` is exact and normal, and its
    # exponent says where the leading one is.
    least: tl.constexpr = 1 - fraction_width - (half_exponent + 1)
    is_subnormal = exponent == 0
    fraction_bits = fraction.to(x.dtype).to(bits_type, bitcast=True)
    biased = tl.where(is_subnormal, (fraction_bits >> fraction_width) + least, exponent)
    digits = tl.where(is_subnormal, fraction_bits & fraction_mask, fraction)

    sign_mask: tl.constexpr = -(1 << (width - 1))
    sign = bits & sign_mask
    unchanged = (exponent == exponent_mask) | ((exponent == 0) & (fraction == 0))
    mantissa = (sign | half_bits | digits).to(x.dtype, bitcast=True)
    return tl.where(unchanged, x, mantissa), tl.where(unchanged, 0, biased - half_exponent).to(tl.int32)
