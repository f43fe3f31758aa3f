"""Limiting values to a range."""

import triton
import triton.language as tl  # noqa: F401  (the interpreter looks for it)

from tridiff.kernels.helpers.extrema import maximum, minimum


@triton.jit
def clamp(x, low, high):
    """x within [low, high], NaN if any of the three is NaN; high where low > high."""
    return minimum(maximum(x, low), high)
