"""Deliberately broken variants of Welford's algorithm; see `mutants_integer.py` for what the table is for.

States are written (mean, m2, weight).
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table, variants
from tridiff.kernels.helpers.welford import welford_combine as correct_combine
from tridiff.kernels.helpers.welford import welford_reduce as correct_reduce


@triton.jit
def reduce_weight_not_reset(value, mean, m2, weight, first_iteration):
    """The first iteration counts on: 5 onto (9, 9, 3) gives weight 4 instead of 1."""
    new_mean, new_m2, _ = correct_reduce(value, mean, m2, weight, first_iteration)
    return new_mean, new_m2, weight + 1


@triton.jit
def reduce_m2_not_reset(value, mean, m2, weight, first_iteration):
    """The first iteration keeps the old m2: 5 onto (9, 9, 3) gives m2 9 instead of 0."""
    new_mean, new_m2, new_weight = correct_reduce(value, mean, m2, weight, first_iteration)
    return new_mean, tl.where(first_iteration, m2, new_m2), new_weight


@triton.jit
def reduce_m2_with_old_mean(value, mean, m2, weight, first_iteration):
    """Squares the distance to the old mean: 3 onto (1, 0, 1) gives m2 4 instead of 2."""
    new_mean, new_m2, new_weight = correct_reduce(value, mean, m2, weight, first_iteration)
    delta = value - mean
    return new_mean, tl.where(first_iteration, new_m2, m2 + delta * delta), new_weight


@triton.jit
def reduce_m2_sign(value, mean, m2, weight, first_iteration):
    """Subtracts where it should add: 3 onto (1, 0, 1) gives m2 -2 instead of 2."""
    new_mean, new_m2, new_weight = correct_reduce(value, mean, m2, weight, first_iteration)
    return new_mean, tl.where(first_iteration, new_m2, m2 - (value - mean) * (value - new_mean)), new_weight


@triton.jit
def reduce_mean_over_old_weight(value, mean, m2, weight, first_iteration):
    """Divides by the weight before: 3 onto (1, 0, 1) gives mean 3 instead of 2."""
    new_mean, new_m2, new_weight = correct_reduce(value, mean, m2, weight, first_iteration)
    return tl.where(first_iteration, new_mean, mean + (value - mean) / weight), new_m2, new_weight


@triton.jit
def combine_zero_weight_unguarded(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """Guards the division only: (1, 0, 1) with (inf, 0, 0) gives NaN, NaN instead of 1, 0."""
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    ratio = tl.where(weight == 0, 0.0, weight_2 / weight)
    return mean_1 + delta * ratio, m2_1 + m2_2 + delta * delta * weight_1 * ratio, weight


@triton.jit
def combine_cross_term_missing(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """Forgets the distance between the means: (0, 0, 1) with (2, 0, 1) gives m2 0 instead of 2."""
    mean, _, weight = correct_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2)
    return mean, m2_1 + m2_2, weight


@triton.jit
def combine_cross_term_sign(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """Subtracts the cross term: (0, 0, 1) with (2, 0, 1) gives m2 -2 instead of 2."""
    mean, m2, weight = correct_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2)
    return mean, 2 * (m2_1 + m2_2) - m2, weight


@triton.jit
def combine_mean_unweighted(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """The mean of the means: (0, 0, 1) with (4, 0, 3) gives mean 2 instead of 3. Right for equal weights."""
    _, m2, weight = correct_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2)
    return mean_1 + (mean_2 - mean_1) * 0.5, m2, weight


@triton.jit
def combine_weights_swapped(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """Weighs each mean with the other's weight: (0, 0, 1) with (4, 0, 3) gives mean 1 instead of 3."""
    mean, _, _ = correct_combine(mean_1, m2_1, weight_2, mean_2, m2_2, weight_1)
    _, m2, weight = correct_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2)
    return mean, m2, weight


@triton.jit
def combine_weight_not_added(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """Keeps the first weight: (0, 0, 1) with (4, 0, 3) gives weight 1 instead of 4."""
    mean, m2, _ = correct_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2)
    return mean, m2, weight_1


@triton.jit
def combine_equal_infinities(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """Takes equal means to be no distance apart: (inf, 0, 1) twice gives m2 0 instead of NaN."""
    mean, m2, weight = correct_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2)
    equal = mean_1 == mean_2
    return tl.where(equal, mean_1, mean), tl.where(equal, m2_1 + m2_2, m2), weight


@triton.jit
def welford_zero_weight_unguarded(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, combine_zero_weight_unguarded)


@triton.jit
def welford_cross_term_missing(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, combine_cross_term_missing)


@triton.jit
def welford_cross_term_sign(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, combine_cross_term_sign)


@triton.jit
def welford_mean_unweighted(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, combine_mean_unweighted)


@triton.jit
def welford_weights_swapped(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, combine_weights_swapped)


@triton.jit
def welford_weight_not_added(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, combine_weight_not_added)


@triton.jit
def welford_equal_infinities(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, combine_equal_infinities)


MUTANTS = mutant_table({
    "welford_reduce": variants(reduce_weight_not_reset, reduce_m2_not_reset, reduce_m2_with_old_mean, reduce_m2_sign,
        reduce_mean_over_old_weight, prefix="reduce_"),
    "welford_combine": variants(combine_zero_weight_unguarded, combine_cross_term_missing, combine_cross_term_sign,
        combine_mean_unweighted, combine_weights_swapped, combine_weight_not_added, combine_equal_infinities,
        prefix="combine_"),
    "welford": variants(welford_zero_weight_unguarded, welford_cross_term_missing, welford_cross_term_sign,
        welford_mean_unweighted, welford_weights_swapped, welford_weight_not_added, welford_equal_infinities,
        prefix="welford_")})
