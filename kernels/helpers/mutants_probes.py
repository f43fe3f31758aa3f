"""Deliberately broken variants of the type probes; see `mutants_integer.py` for what the table is for."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table, variants
from tridiff.kernels.helpers.probes import as_tensor
from tridiff.kernels.helpers.probes import is_floating as correct_is_floating
from tridiff.kernels.helpers.probes import promote_to_tensor as correct_promote_to_tensor


@triton.jit
def promote_bf16_widened(x):
    """Adds a Boolean zero: bf16 comes back as fp32. Otherwise right."""
    return x + tl.zeros((1,), tl.int1)


@triton.jit
def promote_bool_widened(x):
    """i1 comes back as int32."""
    tensor = correct_promote_to_tensor(x)
    if tensor.dtype == tl.int1:
        return tensor.to(tl.int32)
    else:
        return tensor


@triton.jit
def promote_rank_kept(x):
    """Scalars stay scalars."""
    return as_tensor(x)


@triton.jit
def promote_minus_zero_lost(x):
    """-0.0 becomes 0.0."""
    tensor = correct_promote_to_tensor(x)
    if tensor.dtype.is_floating():
        return tl.where(tensor == 0, 0.0, tensor).to(tensor.dtype)
    else:
        return tensor


@triton.jit
def promote_narrow_integers_widened(x):
    """8- and 16-bit integers come back as int32."""
    tensor = correct_promote_to_tensor(x)
    if tensor.dtype.is_int() and (tensor.dtype.primitive_bitwidth == 8 or tensor.dtype.primitive_bitwidth == 16):
        return tensor.to(tl.int32)
    else:
        return tensor


@triton.jit
def is_floating_fp8_forgotten(x):
    """False for the 8-bit floats."""
    return correct_is_floating(x) and as_tensor(x).dtype.primitive_bitwidth > 8


@triton.jit
def is_floating_bf16_forgotten(x):
    """False for bf16."""
    return correct_is_floating(x) and as_tensor(x).dtype != tl.bfloat16


@triton.jit
def is_floating_fp64_forgotten(x):
    """False for fp64."""
    return correct_is_floating(x) and as_tensor(x).dtype.primitive_bitwidth < 64


@triton.jit
def is_floating_bool_counted(x):
    """True for i1."""
    return correct_is_floating(x) or as_tensor(x).dtype == tl.int1


@triton.jit
def is_floating_inverted(x):
    """True for integers."""
    return as_tensor(x).dtype.is_int()


MUTANTS = mutant_table({
    "promote_to_tensor": variants(promote_bf16_widened, promote_bool_widened, promote_rank_kept,
        promote_minus_zero_lost, promote_narrow_integers_widened, prefix="promote_"),
    "is_floating": variants(is_floating_fp8_forgotten, is_floating_bf16_forgotten, is_floating_fp64_forgotten,
        is_floating_bool_counted, is_floating_inverted, prefix="is_floating_")})
