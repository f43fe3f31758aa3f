"""Arithmetic and conversions rounded once in a given direction, by mpmath; what is special by torch itself.

The functions and their arguments are those of `tridiff.oracles.by_exact.rounding`.
"""

from typing import Any

import torch
from mpmath import libmp
from torch import Tensor

from tridiff.oracles.bits import from_bits, is_nan, sign_bit, to_bits, to_float64
from tridiff.oracles.by_torch import conversions
from tridiff.oracles.by_torch.integer import narrow, widen
from tridiff.oracles.dtypes import dtype, name_of_tensor

_DIRECTIONS = {"rn": "n", "rz": "d", "rd": "f", "ru": "c"}
_WIDE = 300
"""Bits of a quotient or a root: more than any tie or exact result between two floats needs."""


def _exactly(op: str, values: list[Any]) -> Any:
    """mpmath's number: exact, or cut off far below the last bit that counts."""
    if op in ("add", "sub"):
        return (libmp.mpf_add if op == "add" else libmp.mpf_sub)(values[0], values[1])
    if op in ("mul", "fma"):
        product = libmp.mpf_mul(values[0], values[1])
        return libmp.mpf_add(product, values[2]) if op == "fma" else product
    if op in ("div", "rcp"):
        over, under = (values[0], values[1]) if op == "div" else (libmp.fone, values[0])
        return libmp.mpf_div(over, under, _WIDE, "d")
    if op == "sqrt":
        return libmp.mpf_sqrt(values[0], _WIDE, "d")
    if op == "rsqrt":
        return libmp.mpf_div(libmp.fone, libmp.mpf_sqrt(values[0], 2 * _WIDE, "d"), _WIDE, "d")
    return values[0]


def _rounded(value: Any, to: str, mode: str) -> float:
    """A number that is not zero as the nearest one of type `to` in a direction."""
    kind = dtype(to)
    sign, _, exponent, bits = value
    step = max(exponent + bits - 1, 1 - kind.bias) - kind.mantissa_bits
    steps = libmp.to_int(libmp.mpf_shift(value, -step), _DIRECTIONS[mode])
    if abs(steps) << max(step + kind.mantissa_bits + kind.bias, 0) >= (1 << (kind.mantissa_bits + 2 * kind.bias + 1)):
        outward = mode == "rn" or mode == ("rd" if sign else "ru")
        size = float("inf") if outward else float(kind.max)
        return -size if sign else size
    found: float = libmp.to_float(libmp.from_man_exp(steps, step)) if steps else 0.0
    return -abs(found) if sign else found


def _native(op: str, values: list[Tensor]) -> Tensor:
    """What torch gives, in float64: right wherever the result is special or an exact zero."""
    x = values[0]
    if op == "fma":
        # A product of finite factors is finite, however large, beside an infinite addend.
        finite = torch.isfinite(x) & torch.isfinite(values[1])
        return torch.where(finite & ~torch.isfinite(values[2]), values[2], x * values[1] + values[2])
    if op in ("add", "sub", "mul", "div"):
        return {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}[op](x, values[1])
    return {"rcp": torch.reciprocal, "sqrt": torch.sqrt, "convert": torch.clone,
            "rsqrt": lambda one: torch.where(one == 0, torch.copysign(torch.full_like(one, torch.inf), one),
                                             one.rsqrt())}[op](x)


def rounded(op: str, mode: str, to: str, *operands: Tensor) -> Tensor:
    """`op` of floats of one type (convert: of floats or integers), rounded once to float type `to`."""
    device, shape = operands[0].device, operands[0].shape
    if not dtype(name_of_tensor(operands[0])).is_float:
        return _of_integers(operands[0], mode, to)
    values = [to_float64(one.cpu()).reshape(-1) for one in operands]
    natives = _native(op, values).tolist()
    found: list[float] = []
    for native, *given in zip(natives, *(one.tolist() for one in values), strict=True):
        if all(one - one == 0 for one in given) and not (op in ("div", "rcp", "rsqrt") and given[-1] == 0) and not (
                op in ("sqrt", "rsqrt") and given[0] <= 0):
            exact = _exactly(op, [libmp.from_float(one) for one in given])
            if exact != libmp.fzero:
                found.append(_rounded(exact, to, mode))
                continue
            if op in ("add", "sub", "fma") and mode == "rd" and not _zeros_of_one_sign(op, given):
                native = -0.0
            elif op == "fma" and native != 0:
                native = 0.0
        found.append(native)
    flat = conversions.convert(torch.tensor(found, dtype=torch.float64), to=to)
    return flat.reshape(shape).to(device)


def _zeros_of_one_sign(op: str, given: list[float]) -> bool:
    """Whether both terms of a vanishing sum are +0."""
    terms = torch.tensor([given[0] * given[1], given[2]] if op == "fma" else given, dtype=torch.float64)
    if op == "fma" and 0.0 not in given[:2]:
        return False
    if op == "sub":
        terms = terms * torch.tensor([1.0, -1.0], dtype=torch.float64)
    return bool((terms == 0).all()) and not bool(sign_bit(terms).any())


def _of_integers(x: Tensor, mode: str, to: str) -> Tensor:
    device, name = x.device, name_of_tensor(x)
    words = widen(x.cpu()).reshape(-1).tolist()
    numbers = [one + (1 << 64) if name == "u64" and one < 0 else one for one in words]
    found = [_rounded(libmp.from_int(one), to, mode) if one else 0.0 for one in numbers]
    return conversions.convert(torch.tensor(found, dtype=torch.float64), to=to).reshape(x.shape).to(device)


def whole(mode: str, to: str, x: Tensor) -> Tensor:
    """x as an integer of type `to`: rounded and held within the range; NaN as PTX's cvt has it."""
    target = dtype(to)
    wide = to_float64(x)
    turned = {"rn": torch.round, "rz": torch.trunc, "rd": torch.floor, "ru": torch.ceil}[mode](wide)
    low, high = turned <= float(target.min), turned >= float(target.max)
    inside = torch.where(low | high | wide.isnan(), 0.0, turned)
    # Above 2^63 an unsigned word is a negative int64.
    above = inside >= 2.0**63
    words = torch.where(above, inside - 2.0**64, inside).to(torch.int64)
    highest = int(target.max) - (1 << 64) if to == "u64" else int(target.max)
    words = torch.where(high, highest, torch.where(low, int(target.min), words))
    pattern = -(1 << 63) if target.bits == 64 else 1 << (target.bits - 1)
    lost = pattern if 64 in (dtype(name_of_tensor(x)).bits, target.bits) else 0
    words = torch.where(is_nan(x), lost, words)
    return from_bits(to_bits(narrow(words, target)), to)
