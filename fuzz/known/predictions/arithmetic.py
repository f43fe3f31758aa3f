"""What defects of single operations and masked loads put in place of right elements."""

from __future__ import annotations

import torch

from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.oracles.bits import to_bits


def negated_zero(seen: Wrong) -> dict[str, torch.Tensor]:
    """0 - x: +0.0 for +0.0."""
    if "out" not in seen.wrong:
        return {}
    positive = to_bits(seen.inputs["a"]) == 0
    return {"out": where_it_shows(positive & (to_bits(seen.actual["out"]) == 0), positive)}


def minus_one_in_maximum(seen: Wrong) -> dict[str, torch.Tensor]:
    """Masked lanes that must hold the least number hold -1, which is a row's maximum where all of it is less."""
    if "out" not in seen.wrong or "out" not in seen.expected:
        return {}
    return {"out": (seen.actual["out"] == -1) & (seen.expected["out"] < -1)}
