"""What happened to each element of the registered buffers: writes, undefined content, races.

Races are found by happens-before, although programs run one after the other: an access is ordered before another
one of a later program only if an atomic release and a matching acquire lie between them. Per element it suffices to
keep the last writer and one reader that is not ordered before the others (or the mark MANY).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tridiff.fuzz.interpreter.narrow_floats import Array

NOBODY, MANY = -1, -2
Ordered = Callable[[Array, Array], Array]


class Synchronisation:
    """Which accesses of which programs are ordered before what the running program does now.

    Each program counts its releases; an access belongs to the count at that time. Release publishes what the program
    knows at an address, acquire takes over what was published there.
    """

    def __init__(self) -> None:
        self._published: dict[int, dict[int, int]] = {}
        self._known: dict[int, dict[int, int]] = {}
        self._epoch: dict[int, int] = {}

    def epoch(self, program: int) -> int:
        """Number of releases of `program` so far."""
        return self._epoch.get(program, 0)

    def release(self, program: int, address: int) -> None:
        """`program` publishes everything it did and knows at `address`."""
        epoch = self.epoch(program)
        published = self._published.setdefault(address, {})
        for other, count in (*self._known.get(program, {}).items(), (program, epoch)):
            published[other] = max(published.get(other, -1), count)
        self._epoch[program] = epoch + 1

    def acquire(self, program: int, address: int) -> None:
        """`program` learns what was published at `address`."""
        known = self._known.setdefault(program, {})
        for other, count in self._published.get(address, {}).items():
            known[other] = max(known.get(other, -1), count)

    def ordered_before(self, program: int) -> Ordered:
        """Function (programs, epochs) -> bool array: ordered before the present of `program`?"""
        known = self._known.get(program)

        def ordered(programs: Array, epochs: Array) -> Array:
            if not known:
                return np.equal(programs, program)
            lookup = np.array([known.get(int(other), -1) for other in programs], dtype=np.int64)
            return np.equal(programs, program) | (lookup >= epochs)

        return ordered


@dataclass
class _Last:
    """Per element: a program that accessed it in some way, its epoch and its source location."""

    program: Array
    epoch: Array
    location: Array

    @classmethod
    def of_nobody(cls, elements: int) -> _Last:
        return cls(np.full(elements, NOBODY, np.int32), np.zeros(elements, np.int32), np.zeros(elements, np.int32))


@dataclass(frozen=True)
class Conflict:
    """Elements whose access by the running program races with an earlier one (program MANY: several)."""

    kind: str
    elements: Array
    programs: Array
    locations: Array


@dataclass(frozen=True)
class Accessor:
    """Who accesses: linear program id, its release count, source location number, what is ordered before it."""

    program: int
    epoch: int
    location: int
    ordered: Ordered


class ShadowMemory:
    """State of one buffer of `elements` elements."""

    def __init__(self, elements: int, *, initialised: bool) -> None:
        self.writes: Array = np.zeros(elements, dtype=np.int32)
        self.undefined: Array = np.full(elements, not initialised, dtype=bool)
        self._raced = np.zeros(elements, dtype=bool)
        self._writer = _Last.of_nobody(elements)
        self._reader = _Last.of_nobody(elements)
        self._atomic = _Last.of_nobody(elements)
        self._atomic_load = _Last.of_nobody(elements)

    def read(self, elements: Array, accessor: Accessor) -> list[Conflict]:
        """A plain load."""
        conflicts = [
            *self._against(self._writer, "write then read", elements, accessor),
            *self._against(self._atomic, "atomic then read", elements, accessor),
        ]
        self._remember(self._reader, elements, accessor)
        return conflicts

    def write(self, elements: Array, accessor: Accessor) -> list[Conflict]:
        """A plain store."""
        conflicts = [
            *self._against(self._writer, "write then write", elements, accessor),
            *self._against(self._reader, "read then write", elements, accessor),
            *self._against(self._atomic, "atomic then write", elements, accessor),
            *self._against(self._atomic_load, "atomic load then write", elements, accessor),
        ]
        np.add.at(self.writes, elements, 1)
        last = self._writer
        last.program[elements] = accessor.program
        last.epoch[elements] = accessor.epoch
        last.location[elements] = accessor.location
        return conflicts

    def update(self, elements: Array, accessor: Accessor, *, writes: bool) -> list[Conflict]:
        """An atomic access; `writes` is False for an atomic load."""
        conflicts = self._against(self._writer, "write then atomic", elements, accessor)
        if writes:
            conflicts += self._against(self._reader, "read then atomic", elements, accessor)
            np.add.at(self.writes, elements, 1)
        self._remember(self._atomic if writes else self._atomic_load, elements, accessor)
        return conflicts

    def _against(self, last: _Last, kind: str, elements: Array, accessor: Accessor) -> list[Conflict]:
        programs = last.program[elements]
        suspects = (programs != NOBODY) & (programs != accessor.program)
        if not suspects.any():
            return []
        suspects[suspects] = ~accessor.ordered(programs[suspects], last.epoch[elements][suspects])
        suspects &= ~self._raced[elements]
        if not suspects.any():
            return []
        hit, first = np.unique(elements[suspects], return_index=True)
        self._raced[hit] = True
        return [Conflict(kind, hit, programs[suspects][first], last.location[hit])]

    @staticmethod
    def _remember(last: _Last, elements: Array, accessor: Accessor) -> None:
        programs = last.program[elements]
        replaceable = (programs == NOBODY) | (programs == accessor.program)
        if not replaceable.all():
            others = ~replaceable & (programs != MANY)
            replaceable[others] = accessor.ordered(programs[others], last.epoch[elements][others])
        last.program[elements] = np.where(replaceable, accessor.program, MANY)
        last.epoch[elements] = accessor.epoch
        last.location[elements] = np.where(replaceable, accessor.location, last.location[elements])


def program_tuple(program: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    """(x, y, z) of a linear program id ((x * ny) + y) * nz + z."""
    _, ny, nz = grid
    return program // (ny * nz), program // nz % ny, program % nz


def bit_patterns(data: Any) -> Array:
    """The elements of `data` as unsigned integers of the same size and shape."""
    array = np.ascontiguousarray(data)
    if array.dtype == np.bool_:
        return array.astype(np.uint8)
    return array.view(np.dtype(f"uint{8 * array.dtype.itemsize}")).reshape(np.shape(data))
