"""Deliberately broken variants of select_one; see `mutants_integer.py` for what the table is for.

They take a mask with one True per slice, like the helper.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table, variants
from tridiff.kernels.helpers.select import select_one as correct_select_one


@triton.jit
def lane_numbers(x, dim: tl.constexpr):
    """The position along dim of every lane of the 2-D block x, as a block that broadcasts against it."""
    if dim == 1:
        return tl.arange(0, x.shape[dim])[None, :]
    else:
        return tl.arange(0, x.shape[dim])[:, None]


@triton.jit
def select_one_first_lane(x, mask, dim, keep_dims=False):
    """Always the first lane: [1, 2] with [False, True] gives 1."""
    return correct_select_one(x, (lane_numbers(x, dim) == 0) & (mask == mask), dim, keep_dims)


@triton.jit
def select_one_mask_inverted(x, mask, dim, keep_dims=False):
    """Takes the lanes that are not meant: [1, 2] with [False, True] gives 1."""
    return correct_select_one(x, mask == 0, dim, keep_dims)


@triton.jit
def select_one_last_lane_ignored(x, mask, dim, keep_dims=False):
    """Never the last lane: [1, 2] with [False, True] gives 0."""
    return correct_select_one(x, (mask != 0) & (lane_numbers(x, dim) != x.shape[dim] - 1), dim, keep_dims)


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def select_one_sum_of_floats(x, mask, dim, keep_dims=False):
    """Adds values instead of joining bits: [-0.0, 1.0] with [True, False] gives 0.0. Right for integers."""
    if x.dtype.is_floating():
        return tl.reduce(tl.where(mask != 0, x, 0.0).to(x.dtype), dim, _add, keep_dims=keep_dims)
    else:
        return correct_select_one(x, mask, dim, keep_dims)


@triton.jit
def select_one_top_bit_lost(x, mask, dim, keep_dims=False):
    """Drops the highest bit: -1.0 gives 1.0, and a Boolean True gives False."""
    selected = correct_select_one(x, mask, dim, keep_dims)
    if x.dtype == tl.int1:
        return selected & False
    else:
        width: tl.constexpr = x.dtype.primitive_bitwidth
        bits_type: tl.constexpr = tl.core.get_int_dtype(width, signed=False)
        bits = selected.to(bits_type, bitcast=True)
        # Shifting out and back avoids a mask literal that 64-bit signed arithmetic could not hold.
        return ((bits << 1).to(bits_type) >> 1).to(x.dtype, bitcast=True)


@triton.jit
def select_one_low_half_only(x, mask, dim, keep_dims=False):
    """Moves only the lower half of the bits: 1.0 gives 0.0. Right for Booleans."""
    selected = correct_select_one(x, mask, dim, keep_dims)
    if x.dtype == tl.int1:
        return selected
    else:
        width: tl.constexpr = x.dtype.primitive_bitwidth
        bits_type: tl.constexpr = tl.core.get_int_dtype(width, signed=False)
        low_half: tl.constexpr = (1 << (width // 2)) - 1
        return (selected.to(bits_type, bitcast=True) & low_half).to(bits_type).to(x.dtype, bitcast=True)


MUTANTS = mutant_table({
    "select_one": variants(select_one_first_lane, select_one_mask_inverted, select_one_last_lane_ignored,
        select_one_sum_of_floats, select_one_top_bit_lost, select_one_low_half_only, prefix="select_one_")})
