"""Triton's bare operators as helpers, so that they run through the same drivers (contract: helpers.md §4).

Those on integers truncate toward zero. Their result is undefined for a zero divisor.
"""

import triton
import triton.language as tl  # noqa: F401  (kernels resolve `tl` through this module)


@triton.jit
def operator_floordiv(a, b):
    """a // b of Triton: the quotient truncated toward zero."""
    return a // b


@triton.jit
def operator_mod(a, b):
    """a % b of Triton: zero, or of the sign of a."""
    return a % b


@triton.jit
def operator_negate(x):
    """-x of Triton."""
    return -x
