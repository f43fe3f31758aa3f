"""What conversions that compile wrong put in place of right elements."""

import torch

from tridiff.fuzz.known.issue import Wrong, predicting
from tridiff.fuzz.known.predictions.operands import operands
from tridiff.kernels.language.call import Call
from tridiff.oracles.bits import to_bits, to_float64
from tridiff.oracles.by_torch import language as by_torch

_HIGHEST = 65535.0


@predicting("out0")
def pairs_not_cut(seen: Wrong) -> torch.Tensor | None:
    """Of two bytes stored as one word the second holds the upper byte of the first as well, `b | (a >> 8)`: a is the
    float in 16 bits, held within their range. It shows in every pair of a launch, or in none."""
    if "out0" not in seen.expected:
        return None
    (x,) = operands(seen)
    wrong = seen.wrong["out0"]
    flat = x.reshape(wrong.shape[0], -1)
    spilled = torch.zeros(flat.shape, dtype=torch.uint8, device=flat.device)
    spilled[:, 1::2] = _upper_byte(flat)[:, : spilled.shape[1] - 1 : 2]
    right, actual = (one["out0"].reshape(flat.shape) for one in (seen.expected, seen.actual))
    predicted = right | spilled
    would = (predicted != right) & by_torch.cast_defined(flat, to="u8")
    if not bool((predicted == actual)[would].all()):
        return None
    return would.reshape(wrong.shape)


def _upper_byte(x: torch.Tensor) -> torch.Tensor:
    """Of floats in an unsigned word. A NaN is 0 there, of fp64 the highest bit alone (PTX ISA, cvt)."""
    wide = to_float64(x)
    word = wide.nan_to_num(nan=32768.0 if x.dtype == torch.float64 else 0.0, posinf=_HIGHEST, neginf=0.0)
    return (word.clamp(0.0, _HIGHEST).to(torch.int32) >> 8).to(torch.uint8)


@predicting("out0")
def low_bits_of_its_integer(seen: Wrong) -> torch.Tensor | None:
    """For the low bits of a sum those of the sum as an integer without a sign, held within its range, of as many bits
    as are asked for or of 32."""
    if not isinstance(seen.case.program, Call):
        return None
    one, other = operands(seen)
    total, actual = to_float64(one + other), seen.actual["out0"]
    if seen.case.program.options.get("way") == "transposed":
        total = total.transpose(-1, -2)
    bits, held = 8 * actual.element_size(), to_bits(actual).to(torch.int64).reshape(total.shape)
    found = torch.zeros(actual.shape, dtype=torch.bool, device=actual.device)
    for width in {bits, 32}:
        whole = total.nan_to_num(nan=0.0).clamp(0.0, 2.0**width - 1).to(torch.int64)
        if seen.case.program.options.get("way") == "noinline":
            whole ^= 1
        found |= ((whole ^ held) % (1 << bits) == 0).reshape(found.shape)
    return found
