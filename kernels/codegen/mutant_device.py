"""Device functions of planted faults (kernels/codegen/mutants.py)."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutants_extrema import maximum_tie_to_larger_index, minimum_tie_to_larger_index


@triton.jit
def as_unsigned(x):
    """The bits of a signed integer block as an unsigned one; anything else as it is."""
    if x.dtype.is_int_signed():
        return x.to(tl.core.get_int_dtype(x.dtype.primitive_bitwidth, signed=False), bitcast=True)
    else:
        return x


@triton.jit
def max_with_larger_index(value, index, dim):
    """`max_with_index` that prefers the last of equal values."""
    return tl.reduce((value, index), dim, maximum_tie_to_larger_index)


@triton.jit
def min_with_larger_index(value, index, dim):
    """`min_with_index` that prefers the last of equal values."""
    return tl.reduce((value, index), dim, minimum_tie_to_larger_index)
