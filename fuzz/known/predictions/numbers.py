"""What a Python number does that counts as a tensor of its own type, in torch."""

import numpy as np
import torch

from tridiff.fuzz.known.issue import Masks, Wrong, predicting
from tridiff.fuzz.known.numbers import EXTREMA, plain_row, rounded
from tridiff.fuzz.language.answers import torch_answer
from tridiff.fuzz.language.cases import call_of, given_of
from tridiff.oracles.bits import is_nan, to_bits, to_float64
from tridiff.oracles.by_torch.language import pointwise


def _operation(row: str, nan: str) -> str:
    return EXTREMA[row][nan == "ALL"] if row in EXTREMA else row.removeprefix("operator.")


@predicting("out0")
def of_fp32(seen: Wrong) -> torch.Tensor | None:
    """The same operation of the tensor as it is and the number rounded to fp32, in fp64."""
    call = call_of(seen.case)
    operands = [to_float64(seen.inputs[f"x{place}"]) if one.given else float(np.float32(one.value))
                for place, one in enumerate(call.operands)]
    op = _operation(plain_row(call), str(call.option("nan", "")))
    actual = seen.actual["out0"]
    predicted = pointwise(op, "fp64", *operands).reshape(actual.shape)
    if predicted.dtype != actual.dtype:
        return None
    same = predicted == actual if actual.dtype == torch.bool else to_bits(predicted) == to_bits(actual)
    return same | (is_nan(predicted) & is_nan(actual))


def of_rounded(seen: Wrong) -> Masks:
    """The results of the call with its numbers rounded to fp32: NaN for NaN, else the same bits."""
    case = rounded(seen.case)
    answers = torch_answer(case, *(seen.inputs[name] for name in given_of(seen.case)))
    found = {}
    for place, answer in enumerate(answers):
        name = f"out{place}"
        if name in seen.wrong:
            actual = seen.actual[name]
            predicted = answer.reshape(actual.shape)
            found[name] = (to_bits(predicted) == to_bits(actual)) | (is_nan(predicted) & is_nan(actual))
    return found
