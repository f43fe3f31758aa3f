"""What becomes of a value on its way behind a pointer to i1 that counts as one to bytes, in torch."""

import torch

from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.language.cases import call_of
from tridiff.oracles.by_torch.language import cast
from tridiff.oracles.dtypes import dtype


def _byte(seen: Wrong, number: int, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """An operand as i8, and where that is open: floats beyond the range. Both of the shape of `like`, on its device."""
    shape = like.shape
    operand = call_of(seen.case).operands[number]
    if operand.given:
        value = seen.inputs[f"x{number}"]
    else:
        value = torch.tensor([operand.value], dtype=torch.float64 if dtype(operand.dtype).is_float else torch.int64,
                             device=like.device)
    if not dtype(operand.dtype).is_float:
        return cast(value, to="i8").expand(shape) if operand.given else (
            value & 255).to(torch.uint8).view(torch.int8).expand(shape), torch.zeros_like(like)
    wide = value.to(torch.float64)
    held = (wide > -129) & (wide < 128)
    byte = torch.where(held, wide, 0.0).to(torch.int8)
    return byte.expand(shape), (~held).expand(shape)


def stored(seen: Wrong) -> Masks:
    """The byte that the value is as i8, wherever it is no truth value."""
    found: Masks = {}
    for name, wrong in seen.wrong.items():
        byte, is_open = _byte(seen, 1, wrong)
        actual = seen.actual[name]
        as_predicted = actual == (byte != 0) if actual.dtype is torch.bool else actual == byte
        possible = torch.ones_like(wrong)
        if "x2" in seen.inputs:
            possible = seen.inputs["x2"].reshape(wrong.shape) != 0
        found[name] = (as_predicted | is_open) & possible
    return found


def filled(seen: Wrong) -> Masks:
    """Where the mask is false: whether the other value as i8 is not zero."""
    found: Masks = {}
    for name, wrong in seen.wrong.items():
        byte, is_open = _byte(seen, 3, wrong)
        found[name] = ((seen.actual[name] == (byte != 0)) | is_open) & (seen.inputs["x2"].reshape(wrong.shape) == 0)
    return found
