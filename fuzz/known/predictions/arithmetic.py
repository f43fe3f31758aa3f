"""What defects of single operations and masked loads put in place of right elements."""

import torch

from tridiff.fuzz.known.issue import Masks, Wrong, predicting
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.oracles.bits import is_nan, to_bits

_INDEX_BEHIND_ALL = 2**31 - 1
"""What lanes without an element have for an index in folds of a value and its place."""


@predicting("out")
def negated_zero(seen: Wrong) -> torch.Tensor:
    """0 - x: +0.0 for +0.0."""
    positive = to_bits(seen.inputs["a"]) == 0
    return where_it_shows(positive & (to_bits(seen.actual["out"]) == 0), positive)


def minus_one_in_maximum(seen: Wrong) -> Masks:
    """Masked lanes that must hold the least number hold -1, which is a row's maximum where all of it is less; its index
    is then theirs, beyond those of all elements."""
    if "out" not in seen.wrong or "out" not in seen.expected:
        return {}
    padding = (seen.actual["out"] == -1) & (seen.expected["out"] < -1)
    if "out_index" not in seen.wrong:
        return {"out": padding}
    return {"out": padding, "out_index": padding & (seen.actual["out_index"] == _INDEX_BEHIND_ALL)}


@predicting("out0")
def another_nan(seen: Wrong) -> torch.Tensor:
    """For a NaN the one that instructions make, all bits but the sign set; of 64 bits the operand with its sign."""
    actual = seen.actual["out0"]
    x = seen.inputs["x0"].reshape(actual.shape)
    bits = to_bits(actual)
    made = 2 ** (8 * actual.element_size() - 1) - 1
    changed = bits == made if actual.element_size() < 8 else (bits == to_bits(x)) | (bits == to_bits(x) | 1 << 51)
    return is_nan(x) & changed
