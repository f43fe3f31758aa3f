"""What is made of a place in memory that is read twice."""

import torch

from tridiff.fuzz.known.issue import Wrong, predicting
from tridiff.fuzz.known.predictions.operands import operands
from tridiff.fuzz.language.rows.rereads import asks_for_at_least_0, square
from tridiff.kernels.language.call import Call


@predicting("out0")
def not_negative(seen: Wrong) -> torch.Tensor | None:
    """Of a negative product: that it is not less than 0, and itself in place of its absolute value; of one that is NaN:
    that it is at least 0."""
    call = seen.case.program
    if "out0" not in seen.expected or not isinstance(call, Call) or not square(call):
        return None
    right, actual = seen.expected["out0"], seen.actual["out0"]
    one, other = operands(seen)
    product = (one * other).reshape(actual.shape)
    if call.stored[0] == "i1":
        unordered = product.isnan() & asks_for_at_least_0(call)
        return ((product < 0) | unordered) & (actual != right)
    return (product < 0) & (actual == -right)
