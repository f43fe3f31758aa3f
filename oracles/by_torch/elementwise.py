"""Element-wise addition in torch, on any device; the second source beside `tridiff.oracles.by_numpy.elementwise`."""

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, is_nan, to_bits
from tridiff.oracles.by_torch import integer
from tridiff.oracles.dtypes import FLOATS, dtype, name_of_tensor
from tridiff.oracles.errors import OracleError


def round_to_bf16(x: Tensor) -> Tensor:
    """float32 to bf16, nearest even, by integer arithmetic on the bits (overflow to infinity, NaN stays
    NaN).
    """
    if x.dtype != torch.float32:
        raise OracleError(f"round_to_bf16 takes float32, got {x.dtype}; a wider type would round twice")
    bits = to_bits(x)
    # Adding just under half, plus the bit that would become odd, carries exactly when nearest-even rounds up.
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).to(torch.int16)
    quiet = ((bits >> 16) | 0x40).to(torch.int16)
    return from_bits(torch.where(is_nan(x), quiet, rounded), "bf16")


def vector_add(a: Tensor, b: Tensor) -> Tensor:
    """a + b for two tensors of one type: integers wrap, i1 adds modulo 2, floats round once to nearest even.

    fp32 is added in float64 and rounded again: with 53 >= 2*24 + 2 bits the second rounding cannot matter.
    """
    name = name_of_tensor(a)
    if a.dtype != b.dtype:
        raise OracleError(f"expected two tensors of one type, got {a.dtype} and {b.dtype}; cast them first")
    if name == "i1":
        return a ^ b
    if dtype(name).is_integer:
        return integer.add(a, b)
    if name not in FLOATS:
        raise OracleError(f"{name} has no addition; convert to fp32 first")
    if name == "fp64":
        return a + b
    if name == "fp32":
        return (a.to(torch.float64) + b.to(torch.float64)).to(torch.float32)
    total = a.to(torch.float32) + b.to(torch.float32)
    return round_to_bf16(total) if name == "bf16" else total.to(torch.float16)
