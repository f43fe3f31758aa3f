"""What a comparison rule accepts, as the least and the greatest accepted value of each element.

A script holds results against these two arrays, so that it decides exactly as `oracles.compare` does: the steps of the
output's type below a power of two, the half step for the final rounding, values at the edge of overflow.
"""

from collections.abc import Sequence

import torch

from tridiff.oracles import bits
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import dtype as dtype_info, name_of_tensor, torch_dtype
from tridiff.oracles.rules import Rule


def accepted(answers: Sequence[torch.Tensor], rule: Rule, dtype: str, *,
             bound: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """(low, high), tensors of the output's dtype and of the answers' shape: a number is accepted by one of the oracles
    if and only if low <= number <= high (the sign of a zero that is expected is the caller's matter).

    answers: what each oracle expects, in `dtype` or in a wider float type, all of one shape. rule: ULP, ABS, REL, SUM
    or an exact one. bound: of a SUM rule, float64. An element that is expected to be NaN has NaN for both; where a rule
    accepts no number at all, both are the expected one.
    """
    found = [_of_integers(one, rule, bound) if not dtype_info(dtype).is_float else _of_floats(one, rule, dtype, bound)
             for one in answers]
    lows, highs = zip(*found, strict=True)
    if len(found) == 1:
        return found[0]
    if not dtype_info(dtype).is_float:
        return torch.stack(lows).amin(0), torch.stack(highs).amax(0)
    width = torch.float64
    low = torch.stack([one.to(width) for one in lows]).amin(0).to(lows[0].dtype)
    high = torch.stack([one.to(width) for one in highs]).amax(0).to(highs[0].dtype)
    return low, high


def _of_integers(expected: torch.Tensor, rule: Rule, bound: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    name = name_of_tensor(expected)
    info = dtype_info(name)
    if rule.kind == "SUM":
        assert bound is not None
        room = bound.broadcast_to(expected.shape).reshape(-1).tolist()
    elif rule.kind in ("ULP", "ABS", "REL"):
        room = [rule.k * (abs(int(one)) if rule.kind == "REL" else 1) for one in expected.reshape(-1).tolist()]
    else:
        return expected, expected
    values = [int(one) for one in expected.reshape(-1).tolist()]
    limits = [int(min(max(one, 0), 2**64)) for one in room]
    low = [max(one - limit, int(info.min)) for one, limit in zip(values, limits, strict=True)]
    high = [min(one + limit, int(info.max)) for one, limit in zip(values, limits, strict=True)]

    def tensor(numbers: list[int]) -> torch.Tensor:
        return torch.tensor(numbers, dtype=expected.dtype).reshape(expected.shape)

    return tensor(low), tensor(high)


def _of_floats(expected: torch.Tensor, rule: Rule, dtype: str,
               bound: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """By bisection over the numbers of the type in their order, with the oracles' own comparison as the judge."""
    info = dtype_info(dtype)
    rounded = expected.to(torch_dtype(dtype))
    largest = ((1 << info.exponent_bits) - 1) << info.mantissa_bits
    if not info.has_inf:
        largest = (1 << (info.bits - 1)) - 2
    start = _position(rounded, dtype)

    def accepts(position: torch.Tensor) -> torch.Tensor:
        number = _number(position, dtype)
        good = ~compare(number, expected, rule, bound=bound).mismatch
        other = bits.from_bits(torch.full_like(bits.to_bits(number), -(1 << (info.bits - 1))), dtype)
        zero = ~compare(other, expected, rule, bound=bound).mismatch  # -0.0 and 0.0 are one place
        return good | (zero & (position == 0))

    ends = []
    for sign in (-1, 1):
        inside, outside = start.clone(), torch.full_like(start, sign * (largest + 1))
        for _ in range(info.bits + 1):
            # Halves first: the distance of the ends of fp64 has no place in 64 bits.
            middle = inside + ((outside >> 1) - (inside >> 1))
            good = accepts(middle.clamp(-largest, largest)) & (middle.abs() <= largest)
            inside, outside = torch.where(good, middle, inside), torch.where(good | (middle == inside), outside, middle)
        ends.append(_number(inside, dtype))
    nan = torch.isnan(expected.double())
    low, high = (torch.where(nan, torch.nan, end.double()).to(end.dtype) for end in ends)
    return low, high


def _position(values: torch.Tensor, dtype: str) -> torch.Tensor:
    """Place of each number in the order of its type as int64, 0 for both zeros; NaN anywhere."""
    width = dtype_info(dtype).bits
    pattern = bits.to_bits(values.contiguous()).to(torch.int64)
    magnitude = pattern & ((1 << (width - 1)) - 1)
    return torch.where(bits.sign_bit(values), -magnitude, magnitude)


def _number(position: torch.Tensor, dtype: str) -> torch.Tensor:
    """The number at each place; 0.0 at place 0."""
    width = dtype_info(dtype).bits
    magnitude = position.abs()
    pattern = torch.where(position < 0, magnitude + -(1 << (width - 1)), magnitude)
    return bits.from_bits(pattern.to(bits.to_bits(torch.zeros(1, dtype=torch_dtype(dtype))).dtype), dtype)
