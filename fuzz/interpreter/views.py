"""Questions to a trace: coverage, races, the history of one element.

Contract: jit.md §4, "views built on the trace". Coverage and races across programs need only the light mode; element
cards and hazards within a program need `recording(..., events=True)`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.interpreter.faults import Location
from tridiff.fuzz.interpreter.narrow_floats import Array
from tridiff.fuzz.interpreter.trace import Event, Program, Race, Trace, UndefinedUse

READS = ("load", "gather", "poll")
"""Ends of the names of operations that write nothing."""


@dataclass(frozen=True)
class Coverage:
    """Which elements of a buffer were written; the arrays hold element indices (int64, ascending).

    never_written, written_more_than_once: among the elements expected to be written.
    unexpectedly_written: outside of them.
    """

    buffer: str
    elements: int
    never_written: Array
    written_more_than_once: Array
    unexpectedly_written: Array

    @property
    def exact(self) -> bool:
        """Whether exactly the expected elements were written, each once."""
        return not (self.never_written.size or self.written_more_than_once.size or self.unexpectedly_written.size)


@dataclass(frozen=True)
class Hazard:
    """Within one program: lanes other than the storing one loaded the element, and no barrier lies between.

    Threads of one program run at their own pace, so the load may come after the store.
    """

    buffer: str
    elements: Array
    program: Program
    load_location: Location | None
    store_location: Location | None


@dataclass(frozen=True)
class Races:
    """Races across programs (`count` counts beyond those kept), hazards within one.

    hazards_checked: False when the trace kept no events.
    """

    count: int
    races: tuple[Race, ...]
    hazards: tuple[Hazard, ...]
    hazards_checked: bool

    @property
    def clean(self) -> bool:
        return self.count == 0 and not self.hazards


@dataclass(frozen=True)
class UndefinedUses:
    """Uses of undefined values (`count` counts beyond those kept). checked: False when they were not followed."""

    count: int
    uses: tuple[UndefinedUse, ...]
    checked: bool


@dataclass(frozen=True)
class ElementAccess:
    """One access of one element by one lane; before and after are bit patterns of the access width."""

    sequence: int
    program: Program
    lane: int
    location: Location | None
    operation: str
    buffer: str
    element: int
    before: int
    after: int


@dataclass(frozen=True)
class ElementCard:
    """The history of one element: who wrote it, and who read it."""

    buffer: str
    element: int
    writes: tuple[ElementAccess, ...]
    reads: tuple[ElementAccess, ...]


def coverage(trace: Trace, buffer: str, *, expected: Any = None) -> Coverage:
    """Coverage of the registered `buffer`.

    expected: bool array over the elements, or element indices; all elements when None.
    """
    index = trace.index(buffer)
    writes, elements = trace.memory(index).writes, trace.buffers[index].elements
    wanted = np.ones(elements, dtype=bool)
    if expected is not None:
        chosen = np.asarray(expected)
        if chosen.dtype == np.bool_ and chosen.shape != (elements,):
            raise TridiffError(f"expected has shape {chosen.shape}, buffer {buffer!r} has {elements} elements",
                               fix="pass one bool per element, or element indices")
        wanted = chosen if chosen.dtype == np.bool_ else np.isin(np.arange(elements), chosen)
    return Coverage(buffer, elements, np.flatnonzero(wanted & (writes == 0)),
                    np.flatnonzero(wanted & (writes > 1)), np.flatnonzero(~wanted & (writes > 0)))


def undefined_uses(trace: Trace) -> UndefinedUses:
    """Undefined values that reached memory, an address, a mask, a branch or an assertion."""
    return UndefinedUses(trace.undefined_use_count, tuple(trace.undefined_uses), trace.undefined_checked)


def races(trace: Trace) -> Races:
    """Unordered conflicting accesses."""
    hazards = tuple(_hazards(trace)) if trace.keeps_events else ()
    return Races(trace.race_count, tuple(trace.races), hazards, trace.keeps_events)


def element_card(trace: Trace, buffer: str, element: int) -> ElementCard:
    """The history of `buffer[element]`; raises TridiffError for a trace without events or an index out of range."""
    _require_events(trace)
    index = trace.index(buffer)
    if not 0 <= element < trace.buffers[index].elements:
        raise TridiffError(f"{buffer!r} has no element {element}", fix=f"use 0 to {trace.buffers[index].elements - 1}")
    touching = [access for event in trace.events for access in _lanes_at(trace, event, index, element)]
    writes = tuple(access for access in touching if _writes(access.operation))
    reads = tuple(access for access in touching if not _writes(access.operation))
    return ElementCard(buffer, element, writes, reads)


def _require_events(trace: Trace) -> None:
    if not trace.keeps_events:
        raise TridiffError("the trace kept no events", fix="record with events=True")


def _writes(operation: str) -> bool:
    return not operation.endswith(READS)


def _lanes_at(trace: Trace, event: Event, index: int, element: int) -> Iterator[ElementAccess]:
    """The accesses of an event at `element` of buffer `index`."""
    owners, elements = event.buffer.ravel(), event.element.ravel()
    for lane in np.flatnonzero((owners == index) & (elements == element)):
        yield ElementAccess(
            event.sequence, event.program, int(lane), event.location, event.operation, trace.buffers[index].name,
            int(elements[lane]), int(event.before.ravel()[lane]), int(event.after.ravel()[lane]))


def _hazards(trace: Trace) -> Iterator[Hazard]:
    open_loads: dict[Program, list[Event]] = {}
    for event in trace.events:
        loads = open_loads.setdefault(event.program, [])
        if event.operation == "barrier":
            loads.clear()
        elif not _writes(event.operation):
            loads.append(event)
        elif not event.operation.startswith("atomic"):
            for load in loads:
                yield from _hazards_between(trace, load, event)


def _hazards_between(trace: Trace, load: Event, store: Event) -> Iterator[Hazard]:
    for index in sorted(set(load.buffer[load.mask].tolist()) & set(store.buffer[store.mask].tolist())):
        read_lanes = np.flatnonzero(load.buffer.ravel() == index)
        written_lanes = np.flatnonzero(store.buffer.ravel() == index)
        read, written = load.element.ravel()[read_lanes], store.element.ravel()[written_lanes]
        order = np.argsort(written, kind="stable")
        position = np.searchsorted(written[order], read)
        found = position < written.size
        found[found] = written[order][position[found]] == read[found]
        other_lane = np.zeros(read.size, dtype=bool)
        other_lane[found] = written_lanes[order][position[found]] != read_lanes[found]
        if other_lane.any():
            yield Hazard(trace.buffers[index].name, np.unique(read[other_lane]), store.program,
                         load.location, store.location)
