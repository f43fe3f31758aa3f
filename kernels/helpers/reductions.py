"""Product and Boolean OR along an axis (contract: helpers.md §6)."""

import triton
import triton.language as tl


@triton.jit
def _prod_accumulate(a, b):
    """The product in the operands' own type."""
    if a.dtype == tl.bfloat16:
        # The product of two bf16 numbers is exact in fp32, so this rounds once, like a bf16 multiplication; the
        # interpreter would multiply the bit patterns.
        return (a.to(tl.float32) * b.to(tl.float32)).to(tl.bfloat16)
    else:
        return a * b


@triton.jit
def _any_combine(a, b):
    """Bitwise OR, which for Booleans is the logical one."""
    return a | b


# The folds above are module-level functions so that the compiler can hash them into the kernel's cache key.


@triton.jit
def prod(input, axis):
    """The product along the constexpr axis, which is removed, in the input's dtype (contract: helpers.md §6).

    input: a block of integers (the product wraps) or floats (any association).
    """
    return tl.reduce(input, axis, _prod_accumulate)


@triton.jit
def any(a, dim):
    """The bitwise OR along the constexpr axis dim, which is removed (contract: helpers.md §6).

    a: a block of i1, or of integers 0 and 1. On other integers this is an OR of bits ([2, 4] gives 6), no truth value.
    """
    return tl.reduce(a, dim, _any_combine)
