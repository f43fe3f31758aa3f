"""Deliberately broken variants of the extremum helpers, to measure whether a test would notice.

MUTANTS maps a helper's name to its faults; each has the helper's signature. The faults are written once, for both
directions (LARGER is True for a maximum), with the operands on which they differ in the docstring, smaller case first.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.extrema import (
    comparable,
    is_nan,
    is_number,
    maximum,
    maximum_with_index,
    minimum,
    minimum_with_index,
)
from tridiff.kernels.helpers.mutant_table import mutant_table, variants


@triton.jit
def precedes(x, y, LARGER: tl.constexpr):
    """True where x goes before y: x < y, or x > y for a maximum."""
    if LARGER:
        return x > y
    else:
        return x < y


@triton.jit
def bit_pattern(x):
    """The bits of x as an unsigned integer; a Boolean as it is."""
    if x.dtype == tl.int1:
        return x
    else:
        return x.to(tl.core.get_int_dtype(x.dtype.primitive_bitwidth, signed=False), bitcast=True)


@triton.jit
def nan_in_a_dropped(a, b, LARGER: tl.constexpr):
    """No rule for NaN: (NaN, 1.0) gives 1.0."""
    return tl.where(precedes(comparable(a), comparable(b), LARGER), a, b)


@triton.jit
def nan_in_b_dropped(a, b, LARGER: tl.constexpr):
    """Keeps a unless b is strictly better: (1.0, NaN) gives 1.0."""
    return tl.where(precedes(comparable(b), comparable(a), LARGER), b, a)


@triton.jit
def unsigned_compare(a, b, LARGER: tl.constexpr):
    """Compares bit patterns: the minimum of (-1, 1) gives 1, the maximum -1."""
    x = comparable(a)
    y = comparable(b)
    return tl.where(precedes(bit_pattern(x), bit_pattern(y), LARGER) | is_nan(x), a, b)


@triton.jit
def compared_in_fp32(a, b, LARGER: tl.constexpr):
    """Rounds before it compares: the minimum of (2**24, 2**24 + 1) and the maximum of (2**24 + 1, 2**24) give b."""
    x = comparable(a).to(tl.float32)
    y = comparable(b).to(tl.float32)
    return tl.where(precedes(x, y, LARGER) | is_nan(x), a, b)


@triton.jit
def direction_reversed(a, b, LARGER: tl.constexpr):
    """The other extremum: the minimum of (0, 1) gives 1, the maximum 0."""
    if LARGER:
        return minimum(a, b)
    else:
        return maximum(a, b)


@triton.jit
def minimum_nan_in_a_dropped(a, b):
    return nan_in_a_dropped(a, b, False)


@triton.jit
def maximum_nan_in_a_dropped(a, b):
    return nan_in_a_dropped(a, b, True)


@triton.jit
def minimum_nan_in_b_dropped(a, b):
    return nan_in_b_dropped(a, b, False)


@triton.jit
def maximum_nan_in_b_dropped(a, b):
    return nan_in_b_dropped(a, b, True)


@triton.jit
def minimum_unsigned_compare(a, b):
    return unsigned_compare(a, b, False)


@triton.jit
def maximum_unsigned_compare(a, b):
    return unsigned_compare(a, b, True)


@triton.jit
def minimum_compared_in_fp32(a, b):
    return compared_in_fp32(a, b, False)


@triton.jit
def maximum_compared_in_fp32(a, b):
    return compared_in_fp32(a, b, True)


@triton.jit
def minimum_direction_reversed(a, b):
    return direction_reversed(a, b, False)


@triton.jit
def maximum_direction_reversed(a, b):
    return direction_reversed(a, b, True)


@triton.jit
def min2_nan_in_a_dropped(a, dim):
    return tl.reduce(a, dim, minimum_nan_in_a_dropped)


@triton.jit
def max2_nan_in_a_dropped(a, dim):
    return tl.reduce(a, dim, maximum_nan_in_a_dropped)


@triton.jit
def min2_nan_in_b_dropped(a, dim):
    return tl.reduce(a, dim, minimum_nan_in_b_dropped)


@triton.jit
def max2_nan_in_b_dropped(a, dim):
    return tl.reduce(a, dim, maximum_nan_in_b_dropped)


@triton.jit
def min2_unsigned_compare(a, dim):
    return tl.reduce(a, dim, minimum_unsigned_compare)


@triton.jit
def max2_unsigned_compare(a, dim):
    return tl.reduce(a, dim, maximum_unsigned_compare)


@triton.jit
def min2_compared_in_fp32(a, dim):
    return tl.reduce(a, dim, minimum_compared_in_fp32)


@triton.jit
def max2_compared_in_fp32(a, dim):
    return tl.reduce(a, dim, maximum_compared_in_fp32)


@triton.jit
def min2_direction_reversed(a, dim):
    return tl.reduce(a, dim, maximum)


@triton.jit
def max2_direction_reversed(a, dim):
    return tl.reduce(a, dim, minimum)


@triton.jit
def pick(a_wins, a_value, a_index, b_value, b_index):
    """The pair a where a_wins, else the pair b."""
    return tl.where(a_wins, a_value, b_value), tl.where(a_wins, a_index, b_index)


@triton.jit
def tie_to_larger_index(a_value, a_index, b_value, b_index, LARGER: tl.constexpr):
    """Among equals the larger index: (1, index 0), (1, index 1) gives index 1."""
    x = comparable(a_value)
    y = comparable(b_value)
    equal = (x == y) | (is_nan(x) & is_nan(y))
    a_wins = precedes(x, y, LARGER) | (is_nan(x) & is_number(y)) | (equal & (a_index > b_index))
    return pick(a_wins, a_value, a_index, b_value, b_index)


@triton.jit
def tie_to_first(a_value, a_index, b_value, b_index, LARGER: tl.constexpr):
    """Among equals the first argument, whatever its index: (1, index 1), (1, index 0) gives index 1."""
    x = comparable(a_value)
    y = comparable(b_value)
    a_wins = precedes(x, y, LARGER) | is_nan(x) | (x == y)
    return pick(a_wins, a_value, a_index, b_value, b_index)


@triton.jit
def nans_not_equal(a_value, a_index, b_value, b_index, LARGER: tl.constexpr):
    """No tie between NaNs: (NaN, index 0), (NaN, index 1) gives index 1."""
    x = comparable(a_value)
    y = comparable(b_value)
    a_wins = precedes(x, y, LARGER) | (is_nan(x) & is_number(y)) | ((x == y) & (a_index < b_index))
    return pick(a_wins, a_value, a_index, b_value, b_index)


@triton.jit
def nan_in_first_lost(a_value, a_index, b_value, b_index, LARGER: tl.constexpr):
    """A NaN in the first argument loses to a number: (NaN, index 0), (1.0, index 1) gives (1.0, 1)."""
    x = comparable(a_value)
    y = comparable(b_value)
    equal = (x == y) | (is_nan(x) & is_nan(y))
    a_wins = precedes(x, y, LARGER) | (equal & (a_index < b_index))
    return pick(a_wins, a_value, a_index, b_value, b_index)


@triton.jit
def index_of_loser(a_value, a_index, b_value, b_index, LARGER: tl.constexpr):
    """The right value with the other's index: (0, index 0), (1, index 1) gives the index that does not belong."""
    if LARGER:
        value, index = maximum_with_index(a_value, a_index, b_value, b_index)
    else:
        value, index = minimum_with_index(a_value, a_index, b_value, b_index)
    return value, tl.where(index == a_index, b_index, a_index)


@triton.jit
def minimum_tie_to_larger_index(a_value, a_index, b_value, b_index):
    return tie_to_larger_index(a_value, a_index, b_value, b_index, False)


@triton.jit
def maximum_tie_to_larger_index(a_value, a_index, b_value, b_index):
    return tie_to_larger_index(a_value, a_index, b_value, b_index, True)


@triton.jit
def minimum_tie_to_first(a_value, a_index, b_value, b_index):
    return tie_to_first(a_value, a_index, b_value, b_index, False)


@triton.jit
def maximum_tie_to_first(a_value, a_index, b_value, b_index):
    return tie_to_first(a_value, a_index, b_value, b_index, True)


@triton.jit
def minimum_nans_not_equal(a_value, a_index, b_value, b_index):
    return nans_not_equal(a_value, a_index, b_value, b_index, False)


@triton.jit
def maximum_nans_not_equal(a_value, a_index, b_value, b_index):
    return nans_not_equal(a_value, a_index, b_value, b_index, True)


@triton.jit
def minimum_nan_in_first_lost(a_value, a_index, b_value, b_index):
    return nan_in_first_lost(a_value, a_index, b_value, b_index, False)


@triton.jit
def maximum_nan_in_first_lost(a_value, a_index, b_value, b_index):
    return nan_in_first_lost(a_value, a_index, b_value, b_index, True)


@triton.jit
def minimum_index_of_loser(a_value, a_index, b_value, b_index):
    return index_of_loser(a_value, a_index, b_value, b_index, False)


@triton.jit
def maximum_index_of_loser(a_value, a_index, b_value, b_index):
    return index_of_loser(a_value, a_index, b_value, b_index, True)


@triton.jit
def min_with_index_tie_to_larger_index(value, index, dim):
    return tl.reduce((value, index), dim, minimum_tie_to_larger_index)


@triton.jit
def max_with_index_tie_to_larger_index(value, index, dim):
    return tl.reduce((value, index), dim, maximum_tie_to_larger_index)


@triton.jit
def min_with_index_tie_to_first(value, index, dim):
    return tl.reduce((value, index), dim, minimum_tie_to_first)


@triton.jit
def max_with_index_tie_to_first(value, index, dim):
    return tl.reduce((value, index), dim, maximum_tie_to_first)


@triton.jit
def min_with_index_nans_not_equal(value, index, dim):
    return tl.reduce((value, index), dim, minimum_nans_not_equal)


@triton.jit
def max_with_index_nans_not_equal(value, index, dim):
    return tl.reduce((value, index), dim, maximum_nans_not_equal)


@triton.jit
def min_with_index_nan_in_first_lost(value, index, dim):
    return tl.reduce((value, index), dim, minimum_nan_in_first_lost)


@triton.jit
def max_with_index_nan_in_first_lost(value, index, dim):
    return tl.reduce((value, index), dim, maximum_nan_in_first_lost)


@triton.jit
def min_with_index_index_of_loser(value, index, dim):
    return tl.reduce((value, index), dim, minimum_index_of_loser)


@triton.jit
def max_with_index_index_of_loser(value, index, dim):
    return tl.reduce((value, index), dim, maximum_index_of_loser)


MUTANTS = mutant_table({
    "minimum": variants(minimum_nan_in_a_dropped, minimum_nan_in_b_dropped, minimum_unsigned_compare,
        minimum_compared_in_fp32, minimum_direction_reversed, prefix="minimum_"),
    "maximum": variants(maximum_nan_in_a_dropped, maximum_nan_in_b_dropped, maximum_unsigned_compare,
        maximum_compared_in_fp32, maximum_direction_reversed, prefix="maximum_"),
    "min2": variants(min2_nan_in_a_dropped, min2_nan_in_b_dropped, min2_unsigned_compare, min2_compared_in_fp32,
        min2_direction_reversed, prefix="min2_"),
    "max2": variants(max2_nan_in_a_dropped, max2_nan_in_b_dropped, max2_unsigned_compare, max2_compared_in_fp32,
        max2_direction_reversed, prefix="max2_"),
    "minimum_with_index": variants(minimum_tie_to_larger_index, minimum_tie_to_first, minimum_nans_not_equal,
        minimum_nan_in_first_lost, minimum_index_of_loser, prefix="minimum_"),
    "maximum_with_index": variants(maximum_tie_to_larger_index, maximum_tie_to_first, maximum_nans_not_equal,
        maximum_nan_in_first_lost, maximum_index_of_loser, prefix="maximum_"),
    "min_with_index": variants(min_with_index_tie_to_larger_index, min_with_index_tie_to_first,
        min_with_index_nans_not_equal, min_with_index_nan_in_first_lost, min_with_index_index_of_loser,
        prefix="min_with_index_"),
    "max_with_index": variants(max_with_index_tie_to_larger_index, max_with_index_tie_to_first,
        max_with_index_nans_not_equal, max_with_index_nan_in_first_lost, max_with_index_index_of_loser,
        prefix="max_with_index_")})
