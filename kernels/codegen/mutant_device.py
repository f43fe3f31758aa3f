"""Device functions of planted faults (kernels/codegen/mutants.py)."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutants_extrema import MUTANTS

# The helpers that prefer the last of equal values.
minimum_to_larger_index, maximum_to_larger_index, min_to_larger_index, max_to_larger_index = (
    MUTANTS[helper]["tie_to_larger_index"]
    for helper in ("minimum_with_index", "maximum_with_index", "min_with_index", "max_with_index"))


@triton.jit
def as_unsigned(x):
    """The bits of a signed integer block as an unsigned one; anything else as it is."""
    if x.dtype.is_int_signed():
        return x.to(tl.core.get_int_dtype(x.dtype.primitive_bitwidth, signed=False), bitcast=True)
    else:
        return x
