"""What is made of a place in memory that is read twice."""

import torch

from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.language.rows.rereads import square
from tridiff.kernels.language.call import Call


def not_negative(seen: Wrong) -> dict[str, torch.Tensor]:
    """Of a negative product: that it is not less than 0, and itself in place of its absolute value."""
    if "out0" not in seen.wrong or "out0" not in seen.expected or not isinstance(seen.case.program, Call):
        return {}
    right, actual = seen.expected["out0"], seen.actual["out0"]
    if not square(seen.case.program):
        return {}
    if seen.case.program.stored[0] == "i1":
        return {"out0": actual != right}
    return {"out0": actual == -right}
