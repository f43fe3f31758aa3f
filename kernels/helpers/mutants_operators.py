"""Deliberately broken variants of the bare operators; see `mutants_integer.py` for what the table is for."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table, variants


@triton.jit
def subtracted_from_zero(x):
    """0 - x: +0.0 gives +0.0 instead of -0.0."""
    return tl.zeros_like(x) - x


@triton.jit
def minus_magnitude(x):
    """-|x|: what is negative stays negative."""
    return tl.where(x < 0, x, -x)


@triton.jit
def lowest_decremented(x):
    """The lowest integer, which is its own negative, gives the largest one. Right for floats."""
    if x.dtype.is_int():
        return tl.where((x < 0) & (x == tl.zeros_like(x) - x), x - 1, -x)
    else:
        return -x


MUTANTS = mutant_table({"operator_negate": variants(subtracted_from_zero, minus_magnitude, lowest_decremented)})
