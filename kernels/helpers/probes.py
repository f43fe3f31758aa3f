"""Type probes: make a tensor of anything, ask whether it is floating point (contract: helpers.md §3)."""

import triton
import triton.language as tl


@triton.jit
def as_tensor(x):
    """x as a tensor of its own type and shape; a literal becomes a 0-d tensor.

    Triton 3.6.0 has no public conversion. A selection between x and x converts, and unlike `x + 0` promotes nothing and
    moves the bits of NaNs and -0.0 unchanged; the compiler folds it away.
    """
    return tl.where(True, x, x)


@triton.jit
def promote_to_tensor(x):
    """x as a block of rank >= 1, of the same values and dtype (contract: helpers.md §3).

    x: a literal, scalar or block of any dtype; scalars become blocks of shape [1].
    """
    # The condition is a block, so the selection has at least its shape.
    return tl.where(tl.full((1,), True, tl.int1), x, x)


@triton.jit
def is_floating(x):
    """Compile-time bool: True for fp64, fp32, fp16, bf16 and every fp8, False for integers and i1."""
    return as_tensor(x).dtype.is_floating()
