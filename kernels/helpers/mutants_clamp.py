"""Deliberately broken variants of clamp; see `mutants_integer.py` for what the table is for."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.extrema import maximum, minimum
from tridiff.kernels.helpers.mutant_table import mutant_table


@triton.jit
def nan_dropped(x, low, high):
    """No rule for NaN: NaN in [0, 1] gives 0."""
    above = tl.where(x > low, x, low)
    return tl.where(above < high, above, high)


@triton.jit
def upper_first(x, low, high):
    """Limits from above first: 0 in [2, 1] gives 2 instead of 1."""
    return maximum(minimum(x, high), low)


MUTANTS = mutant_table({"clamp": {"nan_dropped": nan_dropped, "upper_first": upper_first}})
