"""frexp in torch by bit surgery, on any device (contract: helpers.md §12)."""

import torch

from tridiff.oracles.bits import from_bits, is_inf, is_nan, is_subnormal, is_zero, to_bits
from tridiff.oracles.dtypes import dtype, name_of_tensor
from tridiff.oracles.errors import OracleError


def frexp(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(m, e) with x = m * 2^e and 0.5 <= |m| < 1, e i32; ±0, ±inf and NaN give (x, 0). fp32 and fp64; NUM
    and BIT.
    """
    name = name_of_tensor(x)
    if name not in ("fp32", "fp64"):
        raise OracleError("frexp takes fp32 or fp64; upcast half types first")
    kind = dtype(name)
    # A subnormal's fraction is an integer: converted exactly, it is a normal number times 2^-(mantissa + bias
    # - 1).
    sign_mask = 1 << (kind.bits - 1)
    fraction = to_bits(x) & ((1 << kind.mantissa_bits) - 1)
    lifted = to_bits(fraction.to(x.dtype))
    small = is_subnormal(x)
    bits = torch.where(small, lifted, to_bits(x) & (sign_mask - 1))
    offset = torch.where(small, kind.mantissa_bits + kind.bias - 1, 0)
    exponent = (bits >> kind.mantissa_bits) - (kind.bias - 1) - offset
    half = (kind.bias - 1) << kind.mantissa_bits
    sign = to_bits(x) & -sign_mask
    mantissa = (bits & ((1 << kind.mantissa_bits) - 1)) | half | sign
    same = is_zero(x) | is_inf(x) | is_nan(x)
    return (
        from_bits(torch.where(same, to_bits(x), mantissa.to(bits.dtype)), name),
        torch.where(same, 0, exponent).to(torch.int32),
    )
