"""Boxes of a tensor's elements: outside of it zero or NaN is read and nothing is written (contract: ttg_ops.md §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tridiff.oracles.dtypes import Array

if TYPE_CHECKING:
    from tridiff.kernels.pipelines.boxes import Boxes


def moved(x: Array, *initial: Array, record: Boxes) -> Array:
    """x: (programs, elements of a tensor with its padding). Every program's boxes one behind the other; with an
    initial tensor: that tensor with the boxes stored in it, later ones last."""
    tensor = x.reshape(-1, *record.memory)[..., :record.shape[-1]]
    out = initial[0].copy().reshape(-1, *record.memory) if initial else None
    found = []
    for t in range(record.tiles):
        box = np.full((x.shape[0], *record.box), np.nan if record.nan else 0).astype(x.dtype)
        inside = _overlap(record.at, record, t)
        if inside:
            box[inside[1]] = tensor[inside[0]]
        found.append(box.reshape(x.shape[0], -1))
        if out is not None and (stored := _overlap(record.to, record, t)):
            out[stored[0]] = box[stored[1]]
    return np.concatenate(found, 1) if out is None else out.reshape(initial[0].shape)


def _overlap(start: tuple[int, ...], record: Boxes, t: int) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
    """Where box t lies in the tensor, and that part in the box; None where it lies outside."""
    there, here = [slice(None)], [slice(None)]
    for axis, (first, length, most) in enumerate(zip(start, record.box, record.shape, strict=True)):
        first += t * length * (axis == record.axis)
        low, high = max(first, 0), min(first + length, most)
        if low >= high:
            return None
        there.append(slice(low, high))
        here.append(slice(low - first, high - first))
    return tuple(there), tuple(here)
