"""What programs of statements store if a shift to the right is filled with the left operand's sign, in torch."""

from types import SimpleNamespace
from typing import Any

import torch

from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.statements import stored_by
from tridiff.fuzz.statements.cases import script_of
from tridiff.fuzz.statements.text import source
from tridiff.oracles.by_torch import language as in_torch
from tridiff.oracles.dtypes import dtype, name_of_tensor


def _pointwise(op: str, computed: str, *operands: Any) -> Any:
    """Operations as they are, but for a shift to the right of a signed tensor in an unsigned type: of the same bits as
    a signed number."""
    left = operands[0]
    signed = isinstance(left, torch.Tensor) and dtype(name_of_tensor(left)).kind == "int"
    if op != "right_shift" or not signed or dtype(computed).kind != "uint":
        return in_torch.pointwise(op, computed, *operands)
    alike = f"i{dtype(computed).bits}"
    wide = (in_torch.bitcast(in_torch.cast(one, to=computed), to=alike) for one in operands)
    return in_torch.bitcast(in_torch.pointwise(op, alike, *wide), to=computed)


_FILLED: Any = SimpleNamespace(**{**vars(in_torch), "pointwise": _pointwise})


def filled_by_the_left(seen: Wrong) -> Masks:
    """What is stored if `>>` asks the left operand, before its conversion, which shift it is."""
    return stored_by(seen, source(script_of(seen.case)), lib=_FILLED)
