"""What defects of integer division put in place of right quotients and remainders."""

from collections.abc import Iterator

import torch

from tridiff.fuzz.known.issue import Masks, Wrong, predicting
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.fuzz.language.choices import broadcast
from tridiff.kernels.language.call import Call
from tridiff.oracles.bits import to_bits
from tridiff.oracles.by_torch.integer import div_trunc, rem_trunc

_NEIGHBOURS = 3
"""Lanes of 8 bits above its own that share a 32-bit register with a quotient of 16 bits."""


def _groups(count: int, block: int) -> Iterator[tuple[int, torch.Tensor]]:
    """(width, position of the first lane of each position's group) for every group width that divides a block."""
    position = torch.arange(count)
    width = 2
    while width <= block:
        yield width, position // width * width
        width *= 2


def _one_width(seen: Wrong, candidates: Iterator[torch.Tensor]) -> Masks:
    """The candidate that has most of the wrong elements as they are: a launch has one group width."""
    actual, wrong, right = to_bits(seen.actual["out"]), seen.wrong["out"], to_bits(seen.expected["out"])
    best = torch.zeros_like(wrong)
    for candidate in candidates:
        bits = to_bits(candidate)
        found = where_it_shows(wrong & (bits == actual), bits != right)
        if int(found.sum()) > int(best.sum()):
            best = found
    return {"out": best}


def ramp_quotient(seen: Wrong) -> Masks:
    """`//` of a contiguous run: all lanes of an aligned group have the truncated quotient of its first lane. Inductor's
    flooring helper takes the remainder of each lane, which is right, and corrects that quotient by it."""
    if "out" not in seen.wrong or "out" not in seen.expected:
        return {}
    a, b = seen.inputs["a"], seen.inputs["b"]
    quotient, remainder = div_trunc(a, b), rem_trunc(a, b)
    floored = seen.case.target.endswith("div_floor_integer")

    def candidates() -> Iterator[torch.Tensor]:
        for _, first in _groups(a.shape[0], int(seen.case.params["block"])):
            grouped = quotient[first.to(a.device)]
            if floored:
                below = (remainder != 0) & ((a < 0) != (b < 0))
                grouped = torch.where(below, grouped - 1, grouped)
            yield grouped

    return _one_width(seen, candidates())


def ramp_remainder_address(seen: Wrong) -> Masks:
    """`%` of a contiguous run as an address: of every group that is loaded as one, the elements behind the first lane's
    are read in turn. The table holds its own positions, so that what is read is the index."""
    if "out" not in seen.wrong or "out" not in seen.expected:
        return {}
    remainder = rem_trunc(seen.inputs["a"], seen.inputs["b"])
    position = torch.arange(remainder.shape[0], device=remainder.device)

    def candidates() -> Iterator[torch.Tensor]:
        for width, first in _groups(remainder.shape[0], min(int(seen.case.params["block"]), 4)):
            group = first.to(remainder.device)
            yield (remainder[group] + (position - group)).to(remainder.dtype)
            del width

    return _one_width(seen, candidates())


def _above_a_zero(zero: torch.Tensor, axes: range) -> torch.Tensor:
    """Places up to three behind a zero divisor along one of some axes."""
    above = torch.zeros_like(zero)
    for axis in axes:
        for distance in range(1, min(_NEIGHBOURS, zero.shape[axis] - 1) + 1):
            kept = zero.shape[axis] - distance
            above.narrow(axis, distance, kept).logical_or_(zero.narrow(axis, 0, kept))
    return above


@predicting("out")
def byte_division_by_zero(seen: Wrong) -> torch.Tensor:
    """u8 division: a zero divisor gives the 16-bit quotient 0xFFFF, which is packed with its upper byte over the lanes
    above: 255 there. Lanes are neighbours along either axis."""
    zero = seen.inputs["b"] == 0
    above = _above_a_zero(zero, range(zero.dim()))
    return seen.wrong["out"] & above & (seen.actual["out"] == 255)


def byte_division_by_zero_in_a_call(seen: Wrong) -> Masks:
    """The same for one call of the language: the axes of each program's block, to which the divisor is broadcast."""
    call, wrong = seen.case.program, seen.wrong.get("out0")
    if wrong is None or not isinstance(call, Call):
        return {}
    shape = broadcast(*(one.shape for one in call.operands))
    divisor = seen.inputs["x1"].reshape(-1, *(1,) * (len(shape) - len(call.operands[1].shape)),
                                        *call.operands[1].shape)
    zero = (divisor == 0).expand(divisor.shape[0], *shape)
    above = _above_a_zero(zero, range(1, zero.dim())).reshape(wrong.shape)
    return {"out0": wrong & above & (seen.actual["out0"] == 255)}
