"""What numpy gives where Triton's interpreter hands it a whole call."""

import numpy as np
import torch
from msgspec.structs import replace

from tridiff.fuzz.known.issue import Wrong, predicting
from tridiff.fuzz.language.answers import torch_answer
from tridiff.fuzz.language.cases import given_of
from tridiff.kernels.language.call import Call
from tridiff.oracles.bits import is_zero, sign_bit, to_bits


@predicting("out0")
def sums_from_zero(seen: Wrong) -> torch.Tensor | None:
    """numpy's sum begins with 0, so that of negative zeros alone is 0.0."""
    if "out0" not in seen.expected:
        return None
    expected = seen.expected["out0"]
    return is_zero(expected) & sign_bit(expected) & (to_bits(seen.actual["out0"]) == 0)


@predicting("out0")
def padding_in_bits(seen: Wrong) -> torch.Tensor | None:
    """A descriptor of floats that the interpreter holds as bits pads with NaN as a whole number, which is 0."""
    call = seen.case.program
    if not isinstance(call, Call):
        return None
    zeros = replace(seen.case, program=replace(call, options=call.options | {"padding": "zero"}))
    (found,) = torch_answer(zeros, *(seen.inputs[name] for name in given_of(seen.case)))
    padded = seen.wrong["out0"] & (to_bits(found) == 0)
    return padded & (to_bits(seen.actual["out0"]) == 0)


@predicting("out0")
def logarithms_of_numpy(seen: Wrong) -> torch.Tensor | None:
    """numpy's logarithms of fp32, bit for bit: within 4 ulps, as its documentation of vectorised functions says."""
    if seen.inputs["x0"].dtype != torch.float32:
        return None
    assert isinstance(seen.case.program, Call)
    logarithm = np.log2 if seen.case.program.row == "tl.log2.log2_tl" else np.log
    with np.errstate(all="ignore"):
        found = torch.from_numpy(logarithm(seen.inputs["x0"].cpu().contiguous().numpy()))
    return to_bits(found).reshape(seen.actual["out0"].shape) == to_bits(seen.actual["out0"].cpu())
