"""Observe every memory access of an interpreted launch.

    buffers = [Buffer.of_tensor("x", x), Buffer.of_tensor("out", out, initialised=False)]
    with recording(buffers) as trace:
        kernel[grid](x, out, n)
    views.coverage(trace, "out").never_written

Before an access executes, every active lane must lie inside one of the registered buffers and be aligned; otherwise
`OutOfBounds` is raised instead of a dereference that could kill the process. The light mode keeps counts per element,
races, and uses of undefined values; `events=True` keeps every access besides. `fuzz.interpreter.views` reads the
result. Contract: jit.md §4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tridiff.fuzz.interpreter import undefined
from tridiff.fuzz.interpreter.buffers import Buffer, BufferMap
from tridiff.fuzz.interpreter.faults import Location, NeverEndingWait, OutOfBounds, current_program, kernel_location
from tridiff.fuzz.interpreter.narrow_floats import Array
from tridiff.fuzz.interpreter.patching import Patches
from tridiff.fuzz.interpreter.shadow_memory import (
    MANY,
    Accessor,
    ShadowMemory,
    Synchronisation,
    bit_patterns,
    program_tuple,
)
from tridiff.fuzz.versions import interpreter_module, mask_lanes

Program = tuple[int, int, int]
KEPT_RECORDS = 256
WAIT_LIMIT = 1_000


@dataclass(frozen=True)
class Event:
    """One memory operation of one program; arrays have one entry per lane, in the shape of the block.

    operation: "load", "store", "atomic_rmw", "atomic_cas", "atomic_load", "atomic_store", "atomic_poll",
    "descriptor_load", ..., "barrier" (without lanes). buffer: index into `Trace.buffers`, -1 in inactive lanes;
    element: index in that buffer. before, after: bit patterns in memory around the operation, as unsigned
    integers of the access width; for a load both are what the kernel received, inactive lanes included.
    """

    sequence: int
    program: Program
    location: Location | None
    operation: str
    mask: Array
    buffer: Array
    element: Array
    before: Array
    after: Array


@dataclass(frozen=True)
class Race:
    """Two unordered accesses of one element by two programs, of which one writes; None: more than one program."""

    kind: str
    buffer: str
    elements: Array
    first_program: Program | None
    second_program: Program
    first_location: Location | None
    second_location: Location | None


@dataclass(frozen=True)
class UndefinedUse:
    """An undefined value that was used: stored, or as address, mask, branch condition, assertion, atomic operand.

    buffer, element: the first element concerned, for a store or an atomic operand.
    """

    use: str
    program: Program | None
    location: Location | None
    lanes: int
    buffer: str | None = None
    element: int | None = None


class Trace:
    """What a recorded launch did. Filled by `recording`; read through `tridiff.fuzz.interpreter.views`.

    races, undefined_uses: the first 256 of each kind of record; race_count and undefined_use_count count all.
    undefined_checked: False when the repair `undefined_lanes` was off, so that no use could be seen.
    """

    def __init__(self, buffers: Sequence[Buffer], *, events: bool) -> None:
        self._map = BufferMap(buffers)
        self.buffers = self._map.buffers
        self.keeps_events = events
        self.events: list[Event] = []
        self.races: list[Race] = []
        self.race_count = 0
        self.undefined_uses: list[UndefinedUse] = []
        self.undefined_use_count = 0
        self.undefined_checked = False
        self.out_of_bounds: OutOfBounds | None = None
        self.accesses = 0
        self._memory: dict[int, ShadowMemory] = {}
        self._synchronisation = Synchronisation()
        self._locations: list[Location | None] = []
        self._location_numbers: dict[Location | None, int] = {}
        self._waiting: tuple[object, int] = (None, 0)

    def index(self, buffer: str) -> int:
        """Position in `buffers` of the buffer registered under this name."""
        return self._map.index(buffer)

    def nearest(self, address: int) -> tuple[str, int] | None:
        """Name of the buffer closest to an address, and the number of the element there, which may lie outside."""
        found = self._map.nearest(address)
        return None if found is None else (found[0].name, found[1])

    def memory(self, index: int) -> ShadowMemory:
        """The state of `buffers[index]`."""
        if index not in self._memory:
            buffer = self.buffers[index]
            self._memory[index] = ShadowMemory(buffer.elements, initialised=buffer.initialised)
        return self._memory[index]

    def accessor(self) -> Accessor:
        """Who is accessing memory now."""
        builder = interpreter_module().interpreter_builder
        x, y, z = builder.grid_idx
        _, ny, nz = builder.grid_dim
        program = (int(x) * int(ny) + int(y)) * int(nz) + int(z)
        location = kernel_location()
        number = self._location_numbers.setdefault(location, len(self._locations))
        if number == len(self._locations):
            self._locations.append(location)
        sync = self._synchronisation
        return Accessor(program, sync.epoch(program), number, sync.ordered_before(program))

    def resolve(self, operation: str, ptrs: Any, mask: Any, size: int, *, origins: frozenset[int]) -> list[_Part]:
        """Where the active lanes lie, one part per buffer touched; raises OutOfBounds.

        origins: base addresses of the arguments the pointers come from; only their buffers are accepted. Empty when
        unknown, which accepts all buffers.
        """
        addresses = np.asarray(ptrs.data)
        active = np.broadcast_to(mask_lanes(mask), addresses.shape)
        lanes = np.flatnonzero(active)
        self.accesses += 1
        if not lanes.size:
            return []
        addressed = addresses.ravel()[lanes]
        index, element, inside = self._map.locate(addressed, size)
        aligned = addressed % np.uint64(size) == 0
        own = {self._map.home(origin) for origin in origins}
        good = inside & aligned & (np.isin(index, list(own)) if own else True)
        if not good.all():
            first = int(np.argmin(good))
            lost = bool(inside[first] and own and int(index[first]) not in own)
            self._refuse(operation, int(addressed[first]), size, int(lanes[first]), int((~good).sum()),
                         misaligned=bool(inside[first]) and not lost, home=min(own) if lost else None)
        if index[0] == index[-1] and (index == index[0]).all():
            return [_Part(int(index[0]), lanes, element)]
        return [_Part(int(each), lanes[index == each], element[index == each]) for each in np.unique(index)]

    def _refuse(self, operation: str, address: int, size: int, lane: int, count: int, *, misaligned: bool,
                home: int | None) -> None:
        nearest = self._map.nearest(address)
        if nearest is None:
            name, element, extent = "(none)", 0, "no buffer is registered"
        elif home is None:
            buffer, element = nearest
            name, extent = buffer.name, f"which has {buffer.elements} elements"
        elif home < 0:
            name, element, extent = "(none)", 0, f"through a pointer to no buffer, inside {nearest[0].name}"
        else:
            buffer = self.buffers[home]
            name, element = buffer.name, (address - buffer.address) // buffer.element_bytes
            extent = f"which has {buffer.elements} elements, inside {nearest[0].name}[{nearest[1]}]"
        what = "misaligned" if misaligned else "out of bounds"
        self.out_of_bounds = OutOfBounds(
            f"{what} {operation} of {size} bytes at {name}[{element}], {extent}; lane {lane}, {count} such lanes",
            buffer=name, element=element, lane=lane, operation=operation)
        raise self.out_of_bounds

    def elements(self, part: _Part, size: int) -> Array:
        """The elements of the part's buffer that accesses of `size` bytes touch."""
        span = max(1, size // self.buffers[part.buffer].element_bytes)
        return part.elements if span == 1 else (part.elements[:, None] + np.arange(span)).ravel()

    def report_conflicts(self, part: _Part, accessor: Accessor, conflicts: Sequence[Any]) -> None:
        """Turn conflicts of the shadow memory into race records, one per pair of programs and locations."""
        grid = interpreter_module().interpreter_builder.grid_dim
        for conflict in conflicts:
            pairs = np.stack([conflict.programs, conflict.locations])
            for program, location in np.unique(pairs, axis=1).T:
                same = (conflict.programs == program) & (conflict.locations == location)
                self.race_count += 1
                if len(self.races) < KEPT_RECORDS:
                    self.races.append(Race(
                        conflict.kind, self.buffers[part.buffer].name, conflict.elements[same],
                        None if program == MANY else program_tuple(int(program), grid),
                        program_tuple(accessor.program, grid),
                        self._locations[int(location)], self._locations[accessor.location]))

    def report_undefined(self, use: str, lanes: int, part: _Part | None = None, element: int | None = None) -> None:
        """Add an UndefinedUse."""
        self.undefined_use_count += 1
        if len(self.undefined_uses) < KEPT_RECORDS:
            name = None if part is None else self.buffers[part.buffer].name
            self.undefined_uses.append(UndefinedUse(use, current_program(), kernel_location(), lanes, name, element))

    def synchronise(self, ptrs: Any, mask: Any, semantic: Any, program: int, *, before: bool) -> None:
        """Account for the ordering of an atomic: release before it, acquire after it."""
        name = getattr(semantic, "name", str(semantic))
        if (before and name not in ("RELEASE", "ACQUIRE_RELEASE")) or (
                not before and name not in ("ACQUIRE", "ACQUIRE_RELEASE")):
            return
        act = self._synchronisation.release if before else self._synchronisation.acquire
        for address in np.unique(np.asarray(ptrs.data)[np.broadcast_to(mask_lanes(mask), ptrs.data.shape)]):
            act(program, int(address))

    def waits(self, operation: str, ptrs: Any, program: int, before: Array, after: Array) -> None:
        """Raise NeverEndingWait when one program repeats an access that changes nothing, again and again."""
        if ptrs.data.size != 1 or before.tobytes() != after.tobytes():
            self._waiting = (None, 0)
            return
        key = (operation, program, int(ptrs.data.item()), after.tobytes())
        count = self._waiting[1] + 1 if self._waiting[0] == key else 1
        self._waiting = (key, count)
        if count > WAIT_LIMIT:
            raise NeverEndingWait(
                f"{operation} repeated {WAIT_LIMIT} times at one address without any change; programs run one "
                "after the other here, so no other program can end this wait")

    def progress(self) -> None:
        """Note that memory changed."""
        self._waiting = (None, 0)

    def keep(self, operation: str, ptrs: Any, mask: Any, parts: Sequence[_Part], before: Array, after: Array) -> None:
        """Add an Event."""
        shape = np.shape(ptrs.data)
        buffer = np.full(int(np.prod(shape)), -1, dtype=np.int32)
        element = np.full(buffer.shape, -1, dtype=np.int64)
        for part in parts:
            buffer[part.lanes], element[part.lanes] = part.buffer, part.elements
        program = current_program()
        assert program is not None
        self.events.append(Event(
            len(self.events), program, kernel_location(), operation,
            np.broadcast_to(mask_lanes(mask), shape).copy(), buffer.reshape(shape), element.reshape(shape),
            np.broadcast_to(before, shape).copy(), np.broadcast_to(after, shape).copy()))

    def keep_barrier(self) -> None:
        """Add the Event of a barrier within the program."""
        nothing = np.zeros(0, dtype=np.int64)
        program = current_program()
        assert program is not None
        self.events.append(Event(len(self.events), program, kernel_location(), "barrier",
                                 nothing.astype(bool), nothing, nothing, nothing, nothing))


@dataclass(frozen=True)
class _Part:
    """The active lanes of an access that lie in one buffer, and the element of each."""

    buffer: int
    lanes: Array
    elements: Array


@contextmanager
def recording(buffers: Sequence[Buffer], *, events: bool = False) -> Iterator[Trace]:
    """Record every launch inside the `with` block.

    buffers: all memory the kernels may touch. events: keep each access (slow, for explanations).
    Install repairs before, not inside. Launches raise OutOfBounds, NeverEndingWait and the other faults.
    """
    from tridiff.fuzz.interpreter import active, memory_operations

    trace = Trace(buffers, events=events)
    trace.undefined_checked = active().undefined_lanes
    patches = Patches()

    def use(kind: str, handle: Any, lanes: Array) -> None:
        trace.report_undefined(kind, int(lanes.sum()))

    memory_operations.apply(patches, trace)
    undefined.observe(use if trace.undefined_checked else None)
    try:
        yield trace
    finally:
        undefined.observe(None)
        patches.undo()


def memory_bits(ptrs: Any, mask: Any, numpy_dtype: Any) -> Array:
    """Bit patterns now in memory behind active lanes, 0 elsewhere; the lanes must have been checked."""
    unsigned = np.dtype(f"uint{8 * np.dtype(numpy_dtype).itemsize}")
    shape = ptrs.data.shape
    active = np.ascontiguousarray(np.broadcast_to(mask_lanes(mask), shape))
    loaded: Array = interpreter_module()._interpreter.load(
        np.ascontiguousarray(ptrs.data), active, np.zeros(shape, dtype=unsigned), unsigned)
    return loaded


__all__ = ["Buffer", "Event", "Race", "Trace", "UndefinedUse", "bit_patterns", "memory_bits", "recording"]
