"""Picking one element of every slice (contract: helpers.md §13)."""

import triton
import triton.language as tl


@triton.jit
def _or_bits(a, b):
    return a | b


@triton.jit
def select_one(x, mask, dim, keep_dims=False):
    """The element of x at the only True of mask in each slice along the constexpr axis dim, bit for bit.

    x: a block of any dtype, i1 and fp8 among them. mask: a block of i1, or of integers that are 0 where False.
    No True in a slice gives all-zero bits; several give a meaningless pattern. keep_dims keeps the axis with length 1.
    """
    # OR instead of a sum: it keeps 8- and 16-bit patterns in their width, where a sum widens to 32 bits, and it
    # moves NaN payloads, -0.0 and subnormals untouched.
    if x.dtype == tl.int1:
        return tl.reduce((mask != 0) & x, dim, _or_bits, keep_dims=keep_dims)
    else:
        bits_type: tl.constexpr = tl.core.get_int_dtype(x.dtype.primitive_bitwidth, signed=False)
        bits = tl.where(mask != 0, x.to(bits_type, bitcast=True), 0).to(bits_type)
        return tl.reduce(bits, dim, _or_bits, keep_dims=keep_dims).to(x.dtype, bitcast=True)
