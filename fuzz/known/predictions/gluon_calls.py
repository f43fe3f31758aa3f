"""What calls in Gluon give whose elements 3.6.0 takes from other registers."""

import numpy as np
import torch

from tridiff.fuzz.known.gluon_calls import holdings, left_by, whole_operand
from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.chains import exchanging
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.language.rows.products import bound_of_dot
from tridiff.oracles.bits import is_nan, to_bits, to_float64
from tridiff.oracles.dtypes import dtype


def swapped_twice(seen: Wrong) -> Masks:
    """The result of a fold with the elements of each thread exchanged as the two lowest bits of the registers' numbers
    are."""
    call = call_of(seen.case)
    held = holdings(call, seen.case.options.num_warps)
    if held is None or "out0" not in seen.expected or "out0" not in seen.wrong:
        return {}
    actual, expected = (to_bits(one["out0"].to(torch.uint8) if one["out0"].dtype == torch.bool else one["out0"])
                        for one in (seen.actual, seen.expected))
    taken = exchanging(held[1])(np.arange(actual[0].numel()).reshape(left_by(call))).reshape(-1)
    rows = expected.reshape(len(expected), -1)
    predicted = rows[:, torch.from_numpy(taken).to(rows.device)].reshape(actual.shape)
    return {"out0": predicted == actual}


def operand_in_another_order(seen: Wrong) -> Masks:
    """The product, within its bound, of an operand that lies in registers with k as the fastest axis and is read as if
    it were the slowest one."""
    name = whole_operand(seen.case)
    if not name or "out0" not in seen.wrong:
        return {}
    call = call_of(seen.case)
    left, right, added = (seen.inputs[f"x{place}"].reshape(-1, *one.shape) for place, one in enumerate(call.operands))
    if name == "x0":
        left = left.reshape(len(left), left.shape[2], left.shape[1]).transpose(1, 2)
    else:
        right = right.transpose(1, 2).reshape(right.shape)
    predicted = to_float64(left) @ to_float64(right) + to_float64(added)
    bound = bound_of_dot((left, right, added), precision="ieee")
    actual = to_float64(seen.actual["out0"]).reshape(predicted.shape)
    alike = ((actual - predicted).abs() <= bound) | (actual == predicted) | (is_nan(actual) & is_nan(predicted))
    # Sums that leave the type on the way end in infinities, or in NaN where two of them meet.
    sizes = to_float64(left).abs() @ to_float64(right).abs() + to_float64(added).abs()
    beyond = sizes > float(dtype(call.stored[0]).max)
    alike |= beyond & ~torch.isfinite(actual)
    return {"out0": alike.reshape(seen.wrong["out0"].shape)}
