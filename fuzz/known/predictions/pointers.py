"""What pointers that are cast, or moved by negated offsets, lead to under known defects, in torch."""

import torch

from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.operands import operands
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.language.rows.pointers import loaded_from, memory_after, places_of_lanes, pointed, stores
from tridiff.oracles.bits import to_bits
from tridiff.oracles.by_torch import language as by_torch
from tridiff.oracles.dtypes import dtype

_BYTES = 16
"""The widest access of one thread."""


def close_together(seen: Wrong) -> Masks:
    """Each thread loads or stores its lanes, two to sixteen, side by side from where the first of them points."""
    call = call_of(seen.case)
    given, lead_to = operands(seen), memory_after if stores(call) else loaded_from
    widest = _BYTES // dtype(pointed(call)[1]).itemsize
    found: Masks = {}
    for name, wrong in seen.wrong.items():
        lanes = given[1][0].numel() if stores(call) else wrong[0].numel()
        places = places_of_lanes(call, lanes)
        best = torch.zeros_like(wrong)
        width = 2
        while width <= min(lanes, widest):
            beside = [places[lane - lane % width] + lane % width for lane in range(lanes)]
            predicted = lead_to(call, by_torch, given, beside)
            same = (to_bits(predicted) == to_bits(seen.actual[name])).reshape(wrong.shape)
            if (same & wrong).sum() > (best & wrong).sum():
                best = same
            width *= 2
        found[name] = best
    return found


def moved_the_other_way(seen: Wrong) -> Masks:
    """-x, which is 32768 for x = -32768, although 16 bits do not hold it."""
    offset = seen.inputs["x0"].to(torch.int64)
    return {name: (seen.actual[name] == -offset.reshape(wrong.shape)) & (offset.reshape(wrong.shape) == -(1 << 15))
            for name, wrong in seen.wrong.items()}


def beside_the_lowest_of_16_bits(seen: Wrong) -> Masks:
    """Elements of rows in which an input holds -32768, the one number whose negative 16 bits do not hold."""
    lowest = torch.zeros(seen.case.sizes["rows"], dtype=torch.bool)
    for values in seen.inputs.values():
        if values.dtype is torch.int16:
            lowest = lowest.to(values.device) | (values == -(1 << 15)).reshape(values.shape[0], -1).any(1)
    return {name: lowest.reshape(-1, *(1,) * (wrong.dim() - 1)).expand(wrong.shape)
            for name, wrong in seen.wrong.items()}
