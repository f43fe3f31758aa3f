"""Integer arithmetic in torch, on any device: the second source for helpers.md §4.

Everything is computed on int64, unsigned 64-bit values through their two's complement bits, because torch
lacks most kernels for uint16/32/64. The signed floor is derived from the truncating quotient by a correction
(numpy's own floor division is the other source). Conventions as in `tridiff.oracles.by_numpy.integer`: undefined
lanes yield 0.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import INT64_MAX, INT64_MIN, SIGNED, from_bits, to_bits
from tridiff.oracles.dtypes import DType, dtype, name_of_tensor
from tridiff.oracles.errors import OracleError


def _kind(a: Tensor, b: Tensor) -> DType:
    if a.dtype != b.dtype or not dtype(name_of_tensor(a)).is_integer:
        raise OracleError(f"expected two tensors of one integer type, got {a.dtype} and {b.dtype}; cast them first")
    return dtype(name_of_tensor(a))


def widen(x: Tensor) -> Tensor:
    """Integer values (i1 included) as int64; u64 keeps its bits, so values from 2^63 on read as negative."""
    kind = dtype(name_of_tensor(x))
    wide = to_bits(x).to(torch.int64)
    return wide & ((1 << kind.bits) - 1) if kind.kind == "uint" and kind.bits < 64 else wide


def narrow(wide: Tensor, kind: DType) -> Tensor:
    """int64 reduced modulo 2^bits to the type `kind`."""
    return from_bits(wide.to(SIGNED[kind.bits]), kind.name)


def _below_unsigned(a: Tensor, b: Tensor) -> Tensor:
    return (a ^ INT64_MIN) < (b ^ INT64_MIN)


def _divmod_signed(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    # Division by -1 is a negation: INT64_MIN / -1 would trap on x86.
    minus_one = b == -1
    safe = torch.where(minus_one | (b == 0), 1, b)
    quotient = torch.div(a, safe, rounding_mode="trunc")
    quotient = torch.where(minus_one, -a, quotient)
    return quotient, a - quotient * b


def _divmod_u64(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    # A divisor with the top bit set goes in at most once. Otherwise halve the numerator, divide as signed,
    # double, and correct the lost bit once.
    large = b < 0
    safe = torch.where(large | (b == 0), 1, b)
    quotient = torch.div((a >> 1) & INT64_MAX, safe, rounding_mode="trunc") << 1
    rest = a - quotient * safe
    quotient = quotient + (~_below_unsigned(rest, safe)).to(torch.int64)
    quotient = torch.where(large, (~_below_unsigned(a, b)).to(torch.int64), quotient)
    return quotient, a - quotient * b


def _divmod(a: Tensor, b: Tensor) -> tuple[DType, Tensor, Tensor, Tensor]:
    kind = _kind(a, b)
    divide = _divmod_u64 if kind.name == "u64" else _divmod_signed
    divisor = widen(b)
    quotient, rest = divide(widen(a), divisor)
    return kind, quotient, rest, divisor


def division_defined(a: Tensor, b: Tensor) -> Tensor:
    """False where the contract leaves the result open: a zero divisor (helpers.md §4)."""
    defined = to_bits(b) != 0
    return defined | torch.zeros_like(to_bits(a), dtype=torch.bool)


def add(a: Tensor, b: Tensor) -> Tensor:
    """a + b modulo 2^bits."""
    return narrow(widen(a) + widen(b), _kind(a, b))


def div_trunc(a: Tensor, b: Tensor) -> Tensor:
    """Triton's `//`: the quotient rounded toward zero; INT_MIN // -1 wraps to INT_MIN; plain for unsigned."""
    kind, quotient, _, divisor = _divmod(a, b)
    return narrow(torch.where(divisor == 0, 0, quotient), kind)


def rem_trunc(a: Tensor, b: Tensor) -> Tensor:
    """Triton's `%`: zero or of the sign of a; plain for unsigned."""
    kind, _, rest, divisor = _divmod(a, b)
    return narrow(torch.where(divisor == 0, 0, rest), kind)


def _floor_gap(kind: DType, rest: Tensor, divisor: Tensor) -> Tensor:
    """True where the truncated quotient lies above the floor."""
    if kind.kind == "uint":
        return torch.zeros_like(rest, dtype=torch.bool)
    return (rest != 0) & ((rest ^ divisor) < 0)


def div_floor_integer(a: Tensor, b: Tensor) -> Tensor:
    """floor(a / b) wrapped to the type; INT_MIN // -1 wraps to INT_MIN (contract: helpers.md §4)."""
    kind, quotient, rest, divisor = _divmod(a, b)
    floor = quotient - _floor_gap(kind, rest, divisor).to(torch.int64)
    return narrow(torch.where(divisor == 0, 0, floor), kind)


def remainder_integer(a: Tensor, b: Tensor) -> Tensor:
    """a - b * floor(a / b): zero or of the sign of b (contract: helpers.md §4)."""
    kind, _, rest, divisor = _divmod(a, b)
    modulus = torch.where(_floor_gap(kind, rest, divisor), rest + divisor, rest)
    return narrow(torch.where(divisor == 0, 0, modulus), kind)
