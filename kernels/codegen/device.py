"""Device functions that only generated kernels call: exact index arithmetic, and the combine of logcumsumexp."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.extrema import maximum, minimum
from tridiff.kernels.helpers.integer import magnitude
from tridiff.kernels.helpers.libdevice import libdevice
from tridiff.kernels.helpers.probes import as_tensor
from tridiff.kernels.pointwise.floats import copysign, negate


@triton.jit
def natural_power(base, exponent):
    """base ** exponent for 0 <= exponent < 64 in the type of base; the exact power fits (contract: codegen.md §1)."""
    factor = as_tensor(base)
    remaining = as_tensor(exponent)
    result = tl.full(factor.shape, 1, factor.dtype)
    for _ in tl.static_range(6):
        result = tl.where((remaining & 1) != 0, result * factor, result)
        factor = factor * factor
        remaining = remaining >> 1
    return result


@triton.jit
def true_divide(a, b):
    """The double nearest to the exact quotient a / b of i64 blocks, b never 0 (contract: codegen.md §1, IntTrueDiv).

    Converting first would round each operand: (2**53 + 1) / 1 would be 2**53.
    """
    a, b = tl.broadcast(a, b)
    divisor = magnitude(b)
    quotient = magnitude(a) // divisor
    rest = magnitude(a) - quotient * divisor
    # Long division until the quotient has 55 bits, two more than a double keeps; a nonzero rest then only says on which
    # side of a tie the exact quotient lies. At most 63 + 55 steps: the divisor may be 2**63 times the dividend.
    exponent = tl.zeros(a.shape, tl.int64)
    for _ in range(118):
        short = (quotient >> 54) == 0
        rest_doubled = rest << 1
        bit = rest_doubled >= divisor
        quotient = tl.where(short, (quotient << 1) | bit.to(tl.uint64), quotient)
        rest = tl.where(short, rest_doubled - tl.where(bit, divisor, tl.zeros_like(divisor)), rest)
        exponent = tl.where(short, exponent + 1, exponent)
    rounded = (quotient | (rest != 0).to(tl.uint64)).to(tl.float64)
    power = ((1023 - exponent) << 52).to(tl.float64, bitcast=True)
    size = rounded * power
    return tl.where((a < 0) ^ (b < 0), negate(size), size)  # 3.6.0: `-size` is 0 - size, never -0.0


@triton.jit
def _upper_half(x):
    """The leading 26 bits of a double: products of two such halves are exact."""
    return ((x.to(tl.int64, bitcast=True) >> 27) << 27).to(tl.float64, bitcast=True)


@triton.jit
def round_decimal(x, SCALE: tl.constexpr):
    """Python's round(x, n) of doubles, SCALE being 10**n, 0 <= n <= 22 (contract: codegen.md §1, RoundDecimal).

    The product x * SCALE is taken with its rounding error, because the tie that decides is one of the exact product:
    2.675 * 100 rounds to 267.5, but 2.675 is a little less. It is written as an fma with 0, which is not contracted
    again: `x * scale - nearest` in one step has no ties, and 1.05 to one decimal would be 1.0.
    """
    scale = tl.full(x.shape, SCALE, tl.float64)
    product = tl.fma(x, scale, tl.zeros(x.shape, tl.float64))
    x_high = _upper_half(x)
    scale_high = _upper_half(scale)
    x_low = x - x_high
    scale_low = scale - scale_high
    error = ((x_high * scale_high - product) + x_high * scale_low + x_low * scale_high) + x_low * scale_low
    nearest = libdevice.nearbyint(product)
    over = product - nearest
    # Ties of the rounded product are none of the exact one if it has an error; ties of the exact one can also come
    # from the error alone.
    up = ((over == 0.5) & (error > 0)) | ((over == 0) & (error > 0.5))
    down = ((over == -0.5) & (error < 0)) | ((over == 0) & (error < -0.5))
    odd = (nearest.to(tl.int64) & 1) != 0
    up = up | ((over == 0) & (error == 0.5) & odd)
    down = down | ((over == 0) & (error == -0.5) & odd)
    whole = tl.where(up, nearest + 1.0, tl.where(down, nearest - 1.0, nearest))
    # Where the grid of multiples is finer than that of doubles, x is its own rounding; so are infinities and NaN.
    fine = (tl.abs(product) < 9007199254740992.0) & (tl.abs(x) < 4503599627370496.0)
    return tl.where(fine, copysign(tl.where(fine, whole, 0.0) / scale, x), x)


@triton.jit
def log_add_exp(a, b):
    """log(exp(a) + exp(b)) without overflow; an infinite or NaN maximum is the result."""
    high = maximum(a, b)
    low = minimum(a, b)
    finite = tl.abs(high) < float("inf")
    return tl.where(finite, high + libdevice.log1p(tl.exp(tl.where(finite, low - high, 0.0))), high)
