"""What pointers that are cast, or moved by negated offsets, lead to under known defects, in torch."""

import torch

from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.language.rows.pointers import loaded_from, memory_after, places_of_lanes
from tridiff.oracles.bits import to_bits
from tridiff.oracles.by_torch import language as by_torch
from tridiff.oracles.dtypes import dtype

_BYTES = 16
"""The widest access of one thread."""


def close_together(seen: Wrong) -> dict[str, torch.Tensor]:
    """Each thread loads or stores its lanes, two to sixteen, side by side from where the first of them points."""
    call = call_of(seen.case)
    operands = tuple(seen.inputs[f"x{number}"] if one.given else by_torch.constant(float(one.number), to=one.dtype)
                     for number, one in enumerate(call.operands))
    found: dict[str, torch.Tensor] = {}
    for name, wrong in seen.wrong.items():
        stored = call.row == "pointer.cast.store"
        one, other = (call.stored[0], call.operands[1].dtype) if stored else (call.operands[0].dtype, call.stored[0])
        lanes = operands[1].numel() // len(operands[1]) if stored else wrong.numel() // len(wrong)
        places = places_of_lanes(call, one, other, lanes)
        best = torch.zeros_like(wrong)
        width = 2
        while width <= min(lanes, _BYTES // dtype(other).itemsize):
            beside = [places[lane - lane % width] + lane % width for lane in range(lanes)]
            predicted = (memory_after if stored else loaded_from)(call, by_torch, operands, beside)
            same = (to_bits(predicted) == to_bits(seen.actual[name])).reshape(wrong.shape)
            if (same & wrong).sum() > (best & wrong).sum():
                best = same
            width *= 2
        found[name] = best
    return found


def moved_the_other_way(seen: Wrong) -> dict[str, torch.Tensor]:
    """-x, which is 32768 for x = -32768, although 16 bits do not hold it."""
    offset = seen.inputs["x0"].to(torch.int64)
    return {name: (seen.actual[name] == -offset.reshape(wrong.shape)) & (offset.reshape(wrong.shape) == -(1 << 15))
            for name, wrong in seen.wrong.items()}
