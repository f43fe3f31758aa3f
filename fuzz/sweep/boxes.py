"""From runs of consecutive wrong inputs to few boxes of patterns (numpy only)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tridiff.fuzz.sweep.records import Box
from tridiff.fuzz.sweep.space import Space, deck

Column = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """Runs of one class each: first and last index (included) and class code, ascending, within one row.

    A row is a set of inputs that differ in the last operand only.
    """

    first: Column
    last: Column
    code: npt.NDArray[np.int8]

    @classmethod
    def none(cls) -> Runs:
        """No runs."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8))

    def __len__(self) -> int:
        return len(self.first)

    def of(self, code: int) -> Runs:
        """The runs of one class."""
        here = self.code == code
        return Runs(self.first[here], self.last[here], self.code[here])

    @property
    def inputs(self) -> int:
        """How many inputs they hold."""
        return int((self.last - self.first + 1).sum())


def joined(parts: list[Runs]) -> Runs:
    """Runs of consecutive parts of a space, in order."""
    if not parts:
        return Runs.none()
    return Runs(np.concatenate([p.first for p in parts]), np.concatenate([p.last for p in parts]),
                np.concatenate([p.code for p in parts]))


def boxes(runs: Runs, space: Space) -> tuple[npt.NDArray[np.int64], str]:
    """(boxes, digest): an array (n, operands, 2) of first and last places, disjoint, merged, in ascending order.

    Runs of one class. Equal ranges of the last operand in consecutive rows become one box, and so on outwards.
    """
    columns = _places(runs, space)
    count = len(space.operands)
    for axis in reversed(range(count)):
        columns = _merged(columns, axis)
    order = np.lexsort([columns[:, k, 0] for k in reversed(range(count))]) if len(columns) else np.zeros(0, np.int64)
    columns = np.ascontiguousarray(columns[order])
    return columns, hashlib.blake2b(columns.tobytes(), digest_size=8).hexdigest()


def as_records(columns: npt.NDArray[np.int64], space: Space) -> tuple[Box, ...]:
    """Boxes of patterns; entries of a deck become their patterns."""
    found = []
    for row in columns.tolist():
        ranges = []
        for one, (first, last) in zip(space.operands, row, strict=True):
            if one.deck:
                listed = deck(one.dtype, one.bits)
                first, last = int(listed[first]), int(listed[last])
            ranges.append((first, last))
        found.append(Box(tuple(ranges)))
    return tuple(found)


def _places(runs: Runs, space: Space) -> npt.NDArray[np.int64]:
    columns = np.zeros((len(runs), len(space.operands), 2), dtype=np.int64)
    for index, (one, shift) in enumerate(zip(space.operands, space.shifts, strict=True)):
        mask = (1 << one.bits) - 1
        columns[:, index, 0] = (runs.first >> shift) & mask
        columns[:, index, 1] = (runs.last >> shift) & mask
    return columns


def _merged(columns: npt.NDArray[np.int64], axis: int) -> npt.NDArray[np.int64]:
    """Boxes that continue each other along `axis` and agree elsewhere, as one."""
    if len(columns) < 2:
        return columns
    others = [k for k in range(columns.shape[1]) if k != axis]
    keys: list[Any] = [columns[:, axis, 0]]
    keys += [columns[:, k, side] for k in reversed(others) for side in (1, 0)]
    columns = columns[np.lexsort(keys)]
    continues = columns[1:, axis, 0] == columns[:-1, axis, 1] + 1
    for k in others:
        continues &= (columns[1:, k] == columns[:-1, k]).all(axis=1)
    starts = np.flatnonzero(np.concatenate([[True], ~continues]))
    ends = np.concatenate([starts[1:] - 1, [len(columns) - 1]])
    merged = columns[starts].copy()
    merged[:, axis, 1] = columns[ends, axis, 1]
    return merged


def contains(boxes_of: tuple[Box, ...], patterns: tuple[int, ...]) -> bool:
    """Whether an input lies in one of the boxes."""
    return any(all(first <= p <= last for (first, last), p in zip(box.ranges, patterns, strict=True))
               for box in boxes_of)
