"""The program card and the element card: what one program did, and how one element came about."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.explain.model import Access, ElementCard, Operand, Program, ProgramCard, Step, Touch, Value
from tridiff.fuzz.explain.source import line_text
from tridiff.fuzz.explain.values import of_array, of_bits, shown, type_of
from tridiff.fuzz.interpreter import views
from tridiff.fuzz.interpreter.dataflow import Dataflow, Needed
from tridiff.fuzz.interpreter.execution import Assignment, Execution
from tridiff.fuzz.interpreter.trace import Event, Trace
from tridiff.fuzz.interpreter.undefined import undefined_lanes
from tridiff.fuzz.judge.outputs import Judged

MOST_LANES = 64
"""Lanes of a block that a card lists."""

MOST_OF_STEP = 16
"""Lanes of one step on the way to an element."""

MOST_STEPS = 200
MOST_READ = 4096


@dataclass(frozen=True)
class Place:
    """An element of an array. strides, start: of its elements in the memory that the trace knows by this name. pattern:
    the bits that lie there now. rows: whether its first axis is that of independent inputs."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    index: tuple[int, ...]
    pattern: int
    start: int = 0
    rows: bool = False

    @classmethod
    def of_buffer(cls, name: str, buffer: Buffer, index: tuple[int, ...]) -> "Place":
        """Of an array of a case."""
        pattern = int(buffer.logical[index].item()) & ((1 << (8 * buffer.storage.element_size())) - 1)
        return cls(name, buffer.spec.dtype, buffer.shape, buffer.strides, index, pattern,
                   rows=buffer.spec.dims[:1] == ("rows",))

    @property
    def element(self) -> int:
        """Its number in memory."""
        return self.start + sum(one * stride for one, stride in zip(self.index, self.strides, strict=True))

    @property
    def number(self) -> int:
        """Its number in row-major order."""
        return int(np.ravel_multi_index(self.index, self.shape)) if self.index else 0


def writer(trace: Trace, place: Place) -> Program | None:
    """The program that wrote the element last."""
    card = views.element_card(trace, place.name, place.element)
    return card.writes[-1].program if card.writes else None


Kinds = dict[str, str]
"""Types of arrays by name."""


def access(trace: Trace, event: Event, kinds: Kinds) -> Access:
    """An event of the trace as text."""
    flat, where = event.mask.ravel(), event.buffer.ravel()
    elements, after = event.element.ravel(), event.after.ravel()
    kind_of = [kinds.get(one.name, "") for one in trace.buffers]
    names, values = [], []
    for lane in range(min(flat.size, MOST_LANES)):
        inside = bool(flat[lane]) and int(where[lane]) >= 0
        names.append(f"{trace.buffers[int(where[lane])].name}[{int(elements[lane])}]" if inside else "-")
        values.append(of_bits(int(after[lane]), kind_of[int(where[lane])]) if inside else "-")
    location = event.location
    return Access(program=event.program, line=location.line if location else 0,
                  function=location.function if location else "", operation=event.operation, elements=tuple(names),
                  values=tuple(values), lanes=int(flat.size), active=int(flat.sum()))


def program_card(trace: Trace, execution: Execution, program: Program, kinds: Kinds) -> ProgramCard:
    """Named values in the order in which they came about, and every access."""
    read: dict[str, set[int]] = {}
    for event in trace.events:
        if event.program == program and event.operation.endswith(views.READS):
            for index in sorted(set(event.buffer.ravel().tolist()) - {-1}):
                read.setdefault(trace.buffers[index].name, set()).update(
                    event.element.ravel()[event.buffer.ravel() == index].tolist())
    return ProgramCard(program=program, read={name: tuple(sorted(found)[:MOST_READ]) for name, found in read.items()},
                       values=tuple(_value(one, trace) for one in execution.assignments),
                       accesses=tuple(access(trace, one, kinds) for one in trace.events if one.program == program
                                      and one.operation != "barrier"))


def _value(one: Assignment, trace: Trace) -> Value:
    if one.data is None:
        return Value(name=one.name, line=one.line, function=one.function, type=one.dtype, values=(one.text,))
    kind = type_of(one.handle)
    values = shown(one.handle, range(min(one.data.size, MOST_LANES)), trace) if kind == "pointer" else of_array(
        one.data, kind, most=MOST_LANES)
    return Value(name=one.name, line=one.line, function=one.function, type=kind, shape=one.data.shape, values=values)


def element_card(trace: Trace, flow: Dataflow, place: Place, judged: Judged | None) -> ElementCard:
    """The element's history, and the operations of the program that wrote it last on the way to its value."""
    found = views.element_card(trace, place.name, place.element)
    kind = place.dtype
    made = ElementCard(
        buffer=place.name, index=place.index, dtype=kind, interpreted=of_bits(place.pattern, kind),
        expected=_expected(judged, place), writes=tuple(_touch(one, kind) for one in found.writes),
        reads=tuple(_touch(one, kind) for one in found.reads))
    if not found.writes:
        return _with(made, problem="no program wrote this element")
    last = found.writes[-1]
    operation = flow.of_event(last.sequence)
    if operation is None:
        return _with(made, problem="the program that wrote it belongs to another launch than the one looked at")
    steps = flow.behind(operation, [last.lane])
    shown_steps = steps[-MOST_STEPS:]
    return _with(made, steps=tuple(_step(one, flow, trace) for one in shown_steps),
                 left_out=len(steps) - len(shown_steps))


def _with(card: ElementCard, **fields: Any) -> ElementCard:
    import msgspec

    return msgspec.structs.replace(card, **fields)


def _touch(one: views.ElementAccess, kind: str) -> Touch:
    return Touch(program=one.program, lane=one.lane, line=one.location.line if one.location else 0,
                 operation=one.operation, before=of_bits(one.before, kind), after=of_bits(one.after, kind))


def _expected(judged: Judged | None, place: Place) -> dict[str, str]:
    """What each oracle says of the element, where the evidence lists it."""
    evidence = judged.evidence if judged is not None else None
    if evidence is None:
        return {}
    found = {}
    for oracle, answers in evidence.expected.items():
        listed = answers.get(place.name, ())
        rows = place.shape[0] if place.rows else 1
        number = place.number
        if not evidence.whole and rows > 1:
            if place.index[0] != evidence.row:
                continue
            number -= evidence.row * (int(np.prod(place.shape)) // rows)
        if number < len(listed):
            found[oracle] = listed[number]
    return found


def _step(one: Needed, flow: Dataflow, trace: Trace) -> Step:
    operation, lanes = one.operation, sorted(one.lanes)
    few = lanes[:MOST_OF_STEP]
    location = operation.location
    result = operation.results[one.result] if operation.results else None
    store = result is None
    # What a store leaves behind is its value; everything else has a result.
    handle = operation.operands[operation.roles.index("value")] if store else result
    needs = operation.sources(one.result, few)
    operands = []
    for position, wanted in sorted(needs.items()):
        made = flow.maker(operation.operands[position])
        operands.append(Operand(step=made[0] if made is not None and made[0] < operation.number else -1,
                                values=shown(operation.operands[position], sorted(wanted)[:MOST_OF_STEP], trace)))
    place = ""
    if "address" in operation.roles:
        place = " ".join(shown(operation.operands[operation.roles.index("address")], few, trace))
    return Step(
        number=operation.number, line=location.line if location else 0, role=one.role,
        function=location.function if location else "", operation=operation.name, lanes=tuple(few), count=len(lanes),
        text=line_text(location.file, location.line) if location else "", type=type_of(handle),
        values=shown(handle, few, trace), operands=tuple(operands), place=place, note=_note(one, handle, few))


def _note(one: Needed, handle: Any, lanes: list[int]) -> str:
    """What a reader must know about the lanes of a step: whether a mask takes them out, or nobody knows their value."""
    said = []
    roles = one.operation.roles
    if "mask" in roles and roles.index("mask") < len(one.operation.operands):
        mask = np.asarray(one.operation.operands[roles.index("mask")].data).ravel()
        off = [lane for lane in lanes if not mask[lane if mask.size > 1 else 0]]
        if off:
            said.append(f"masked off: lane {', '.join(map(str, off))}")
    undefined = undefined_lanes(handle)
    if undefined is not None and any(undefined.ravel()[lane] for lane in lanes if lane < undefined.size):
        said.append("undefined")
    return "; ".join(said)
