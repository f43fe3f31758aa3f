"""What is made of a place in memory that is read twice."""


from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.operands import operands
from tridiff.fuzz.language.rows.rereads import asks_for_at_least_0, square
from tridiff.kernels.language.call import Call


def not_negative(seen: Wrong) -> Masks:
    """Of a negative product: that it is not less than 0, and itself in place of its absolute value; of one that is NaN:
    that it is at least 0."""
    call = seen.case.program
    if "out0" not in seen.wrong or "out0" not in seen.expected or not isinstance(call, Call) or not square(call):
        return {}
    right, actual = seen.expected["out0"], seen.actual["out0"]
    one, other = operands(seen)
    product = (one * other).reshape(actual.shape)
    if call.stored[0] == "i1":
        unordered = product.isnan() & asks_for_at_least_0(call)
        return {"out0": ((product < 0) | unordered) & (actual != right)}
    return {"out0": (product < 0) & (actual == -right)}
