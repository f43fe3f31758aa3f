"""What extrema of the interpreter put in place of right elements, in torch."""

import torch

from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.kernels.language.call import Call
from tridiff.oracles.bits import is_nan, to_bits, to_float64
from tridiff.oracles.dtypes import dtype


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(x.shape[0], -1)


def _signalling(x: torch.Tensor, name: str) -> torch.Tensor:
    """NaNs whose highest bit of the mantissa is clear."""
    quiet = 1 << (dtype(name).mantissa_bits - 1)
    return is_nan(x) & (to_bits(x) & quiet == 0)


def signalling(seen: Wrong) -> Masks:
    """In lines that hold a signalling NaN: NaN, or a number of the line, of those that come behind it; of a clamp the
    upper limit, beside which the NaN that the lower one leaves is dropped."""
    found: Masks = {}
    call = seen.case.program
    floats = [(array, seen.case.array(name).dtype) for name, array in seen.inputs.items()
              if dtype(seen.case.array(name).dtype).is_float]
    for name, wrong in seen.wrong.items():
        actual = _rows(to_float64(seen.actual[name]))
        possible = torch.zeros_like(actual, dtype=torch.bool)
        for array, kind in floats:
            line = _rows(array)
            within = _signalling(line, kind).any(1, keepdim=True)
            known = (actual[:, :, None] == _rows(to_float64(array))[:, None, :]).any(2)
            possible |= within & (known | actual.isnan())
            if isinstance(call, Call) and call.row == "tl.clamp" and line.shape == actual.shape:
                high = torch.tensor([float(call.operands[2].value)]).to(array.dtype)
                possible |= _signalling(line, kind) & (actual == to_float64(high).to(actual.device))
        found[name] = possible.reshape(wrong.shape)
    return found
