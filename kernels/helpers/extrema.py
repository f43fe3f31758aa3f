"""Minimum and maximum, element-wise and along an axis, with and without an index (contract: helpers.md §5).

A NaN wins against every number, as in torch and numpy; `tl.minimum` and the hardware instruction would drop it.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.probes import as_tensor


@triton.jit
def comparable(x):
    """x as a tensor in a type whose `<` and `==` are exact and run everywhere.

    bf16 becomes fp32, of which it is the upper half. The interpreter would compare the 16-bit patterns as integers, and
    its own conversion loses subnormals.
    """
    tensor = as_tensor(x)
    if tensor.dtype == tl.bfloat16:
        return (tensor.to(tl.uint16, bitcast=True).to(tl.uint32) << 16).to(tl.float32, bitcast=True)
    else:
        return tensor


@triton.jit
def is_nan(x):
    """True where x is NaN; all False, at no cost, for integers and Booleans."""
    return x != x  # only a NaN differs from itself


@triton.jit
def is_number(x):
    """True where x is not NaN. Spelt without `not`, which on blocks is one truth value in the interpreter."""
    return x == x


@triton.jit
def minimum(a, b):
    """The smaller of a and b, NaN if either is NaN (contract: helpers.md §5).

    a, b: scalars or blocks of one type: integers, i1, bf16, fp16, fp32, fp64. A tie, +0.0 and -0.0 among them, gives b.
    """
    x = comparable(a)
    y = comparable(b)
    # A NaN in b needs no mention: both comparisons are then False, unless a is NaN too, and b is taken.
    return tl.where((x < y) | is_nan(x), a, b)


@triton.jit
def maximum(a, b):
    """The larger of a and b, NaN if either is NaN (contract: helpers.md §5). Arguments and ties as for `minimum`."""
    x = comparable(a)
    y = comparable(b)
    return tl.where((x > y) | is_nan(x), a, b)


@triton.jit
def min2(a, dim):
    """`minimum` folded along the constexpr axis dim, which is removed (contract: helpers.md §5)."""
    return tl.reduce(a, dim, minimum)


@triton.jit
def max2(a, dim):
    """`maximum` folded along the constexpr axis dim, which is removed (contract: helpers.md §5)."""
    return tl.reduce(a, dim, maximum)


@triton.jit
def ties_break_to_a(a_value, a_index, b_value, b_index):
    """True where the values are equal (two NaNs are) and a has the smaller index."""
    equal = (a_value == b_value) | (is_nan(a_value) & is_nan(b_value))
    return equal & (a_index < b_index)


@triton.jit
def minimum_with_index(a_value, a_index, b_value, b_index):
    """The pair with the smaller value; among equal values, the smaller index (contract: helpers.md §5).

    NaN is smaller than every number here and equal to NaN; +0.0 equals -0.0. The order is total on pairs with distinct
    indices, so the operation is associative and commutative and a reduction does not depend on the tree's shape.
    Returns (value, index), moved unchanged.
    """
    x = comparable(a_value)
    y = comparable(b_value)
    a_wins = (x < y) | (is_nan(x) & is_number(y)) | ties_break_to_a(x, a_index, y, b_index)
    return tl.where(a_wins, a_value, b_value), tl.where(a_wins, a_index, b_index)


@triton.jit
def maximum_with_index(a_value, a_index, b_value, b_index):
    """The pair with the larger value; among equal values, the smaller index (contract: helpers.md §5).

    NaN is larger than every number here; otherwise as `minimum_with_index`.
    """
    x = comparable(a_value)
    y = comparable(b_value)
    a_wins = (x > y) | (is_nan(x) & is_number(y)) | ties_break_to_a(x, a_index, y, b_index)
    return tl.where(a_wins, a_value, b_value), tl.where(a_wins, a_index, b_index)


@triton.jit
def min_with_index(value, index, dim):
    """`minimum_with_index` folded along the constexpr axis dim; returns (value, index) without that axis."""
    return tl.reduce((value, index), dim, minimum_with_index)


@triton.jit
def max_with_index(value, index, dim):
    """`maximum_with_index` folded along the constexpr axis dim; returns (value, index) without that axis."""
    return tl.reduce((value, index), dim, maximum_with_index)
