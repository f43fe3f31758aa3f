"""Deliberately broken variants of the simple reductions; see `mutants_integer.py` for what the table is for."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table, variants
from tridiff.kernels.helpers.reductions import any as correct_any
from tridiff.kernels.helpers.reductions import prod as correct_prod


@triton.jit
def without_last_lane(x, dim: tl.constexpr, NEUTRAL: tl.constexpr):
    """The 2-D block x with NEUTRAL in the last lane along dim."""
    lane = tl.arange(0, x.shape[dim])
    if dim == 1:
        last = (lane == x.shape[dim] - 1)[None, :]
    else:
        last = (lane == x.shape[dim] - 1)[:, None]
    return tl.where(last, NEUTRAL, x).to(x.dtype)


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def _product_ignoring_zero(a, b):
    return tl.where(b == 0, a, tl.where(a == 0, b, a * b)).to(a.dtype)


@triton.jit
def _product_of_magnitudes(a, b):
    product = a * b
    return tl.where(product < 0, -product, product).to(a.dtype)


@triton.jit
def _product_in_fp32(a, b):
    return (a.to(tl.float32) * b.to(tl.float32)).to(a.dtype)


@triton.jit
def prod_sum_for_product(input, axis):
    """Adds: [2, 3] gives 5."""
    return tl.reduce(input, axis, _add)


@triton.jit
def prod_zero_ignored(input, axis):
    """Skips zeros: [0, 3] gives 3."""
    return tl.reduce(input, axis, _product_ignoring_zero)


@triton.jit
def prod_sign_lost(input, axis):
    """Multiplies magnitudes: [-2, 3] gives 6. Right for unsigned numbers."""
    return tl.reduce(input, axis, _product_of_magnitudes)


@triton.jit
def prod_in_fp32(input, axis):
    """Rounds every product to 24 bits: [4097, 4097] gives 16785408 instead of 16785409. Right for short types."""
    return tl.reduce(input, axis, _product_in_fp32)


@triton.jit
def prod_last_lane_ignored(input, axis):
    """Leaves the last lane of the block out: a full block [2, 3] gives 2."""
    return correct_prod(without_last_lane(input, axis, 1), axis)


@triton.jit
def _and_combine(a, b):
    return a & b


@triton.jit
def _xor_combine(a, b):
    return a ^ b


@triton.jit
def _truth_combine(a, b):
    return ((a != 0) | (b != 0)).to(a.dtype)


@triton.jit
def any_all_for_any(a, dim):
    """AND: [True, False] gives False."""
    return tl.reduce(a, dim, _and_combine)


@triton.jit
def any_parity_for_any(a, dim):
    """XOR: [True, True] gives False."""
    return tl.reduce(a, dim, _xor_combine)


@triton.jit
def any_truth_value(a, dim):
    """A truth value where the contract has an OR of bits: [2, 4] gives 1 instead of 6. Right for Booleans."""
    return tl.reduce(a, dim, _truth_combine)


@triton.jit
def any_last_lane_ignored(a, dim):
    """Leaves the last lane of the block out: a full block [False, True] gives False."""
    return correct_any(without_last_lane(a, dim, 0), dim)


@triton.jit
def any_inverted(a, dim):
    """NOR: [False, False] gives True."""
    if a.dtype == tl.int1:
        return correct_any(a, dim) ^ True
    else:
        return ~correct_any(a, dim)


MUTANTS = mutant_table({
    "prod": variants(prod_sum_for_product, prod_zero_ignored, prod_sign_lost, prod_in_fp32, prod_last_lane_ignored,
        prefix="prod_"),
    "any": variants(any_all_for_any, any_parity_for_any, any_truth_value, any_last_lane_ignored, any_inverted,
        prefix="any_")})
