"""Boxes of a tensor's elements, by the coordinates of each (contract: ttg_ops.md §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tridiff.oracles.bits import to_bits

if TYPE_CHECKING:
    from tridiff.kernels.pipelines.boxes import Boxes


def moved(x: Tensor, *initial: Tensor, record: Boxes) -> Tensor:
    """See the function of this name in `tridiff.oracles.by_numpy.boxes`."""
    bits = to_bits(x)
    outside = to_bits(torch.full((1,), float("nan"), dtype=x.dtype, device=x.device)) if record.nan else (
        bits.new_zeros(1))
    out, found = to_bits(initial[0]).clone() if initial else bits[:, :0], []
    for t in range(record.tiles):
        places, inside = _places(record.at, record, t, x.device)
        box = torch.where(inside, bits[:, places], outside)
        found.append(box)
        if initial:
            places, inside = _places(record.to, record, t, x.device)
            out[:, places[inside]] = box[:, inside]
    return (out if initial else torch.cat(found, 1)).view(x.dtype)


def _places(start: tuple[int, ...], record: Boxes, t: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Of every element of box t: its position in a program's memory (0 if outside), and whether it is inside."""
    place = torch.zeros(1, dtype=torch.int64, device=device)
    inside = torch.ones(1, dtype=torch.bool, device=device)
    for axis, (first, length) in enumerate(zip(start, record.box, strict=True)):
        at = torch.arange(length, device=device) + first + t * length * (axis == record.axis)
        place = (place[:, None] * record.memory[axis] + at).flatten()
        inside = (inside[:, None] & (at >= 0) & (at < record.shape[axis])).flatten()
    return torch.where(inside, place, 0), inside
