"""What an interpreted launch did to memory as a whole, as plain data."""

import ast
from collections.abc import Iterator, Mapping

import numpy as np
import torch

from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.explain.cards import access
from tridiff.fuzz.explain.model import Branch, Conflict, Fault, Function, LineCount, Memory, Undefined, Written
from tridiff.fuzz.explain.source import line_text
from tridiff.fuzz.interpreter import views
from tridiff.fuzz.interpreter.execution import Execution, decisions, statements
from tridiff.fuzz.interpreter.trace import Trace

MOST_EVENTS = 300
MOST_LISTED = 64
MOST_OWNERS = 4096


def observed(trace: Trace, execution: Execution, functions: tuple[Function, ...],
             trees: Mapping[tuple[str, str], ast.Module], buffers: Mapping[str, Buffer], *, verdict: str,
             fault: Fault | None, kinds: dict[str, str]) -> Memory:
    """Coverage, bounds, races, undefined values, lines and branches. kinds: types of arrays by name."""
    events = [one for one in trace.events if one.operation != "barrier"]
    return Memory(
        programs=len(execution.programs), accesses=trace.accesses,
        table=tuple(access(trace, one, kinds) for one in events[:MOST_EVENTS]),
        left_out=max(len(events) - MOST_EVENTS, 0),
        written=tuple(_written(trace, name, one) for name, one in buffers.items() if one.is_output), fault=fault,
        conflicts=tuple(_conflicts(trace)), undefined=tuple(_undefined(trace)),
        lines=tuple(_lines(execution, functions, trees)), branches=tuple(_branches(execution, functions, trees)),
        verdict=verdict)


def _written(trace: Trace, name: str, buffer: Buffer) -> Written:
    """Of the elements that the output's layout covers; gaps between them must stay as they are."""
    inside = np.zeros(trace.buffers[trace.index(name)].elements, dtype=bool)
    if 0 not in buffer.shape:
        inside[_positions(buffer)] = True
    found = views.coverage(trace, name, expected=inside)
    owners = np.full(inside.size, -1, dtype=np.int64)
    order: dict[tuple[int, int, int], int] = {}
    index = trace.index(name)
    for event in trace.events:
        if event.operation.endswith(views.READS) or event.operation == "barrier":
            continue
        hits = event.buffer.ravel() == index
        if hits.any():
            owners[event.element.ravel()[hits]] = order.setdefault(event.program, len(order))
    return Written(buffer=name, elements=int(inside.sum()), never=_few(found.never_written),
                   twice=_few(found.written_more_than_once), outside=_few(found.unexpectedly_written),
                   programs=tuple(owners[inside][:MOST_OWNERS].tolist()))


def _positions(buffer: Buffer) -> np.ndarray:
    """Numbers in memory of all elements."""
    positions = np.zeros((), dtype=np.int64)
    for extent, stride in zip(buffer.shape, buffer.strides, strict=True):
        positions = positions[..., None] + np.arange(extent) * stride
    return np.asarray(positions).ravel()


def _few(elements: np.ndarray) -> tuple[int, ...]:
    return tuple(int(one) for one in elements[:MOST_LISTED])


def _conflicts(trace: Trace) -> Iterator[Conflict]:
    found = views.races(trace)
    for one in found.races[:MOST_LISTED]:
        yield Conflict(kind=one.kind, buffer=one.buffer, elements=_few(one.elements),
                       programs=(one.first_program, one.second_program),
                       lines=(one.first_location.line if one.first_location else 0,
                              one.second_location.line if one.second_location else 0))
    for hazard in found.hazards[:MOST_LISTED]:
        yield Conflict(kind="load and store of other lanes without a barrier", buffer=hazard.buffer,
                       elements=_few(hazard.elements), programs=(hazard.program, hazard.program),
                       lines=(hazard.load_location.line if hazard.load_location else 0,
                              hazard.store_location.line if hazard.store_location else 0))


def _undefined(trace: Trace) -> Iterator[Undefined]:
    for one in views.undefined_uses(trace).uses[:MOST_LISTED]:
        yield Undefined(use=one.use, program=one.program, line=one.location.line if one.location else 0,
                        lanes=one.lanes, place=f"{one.buffer}[{one.element}]" if one.buffer else "")


def _lines(execution: Execution, functions: tuple[Function, ...],
           trees: Mapping[tuple[str, str], ast.Module]) -> Iterator[LineCount]:
    for function in functions:
        tree = trees.get((function.file, function.name))
        for line in sorted(statements(tree)) if tree is not None else ():
            yield LineCount(file=function.file, line=line,
                            programs=len(execution.lines.get((function.file, line), ())))


def _branches(execution: Execution, functions: tuple[Function, ...],
              trees: Mapping[tuple[str, str], ast.Module]) -> Iterator[Branch]:
    for function in functions:
        tree = trees.get((function.file, function.name))
        for one in decisions(execution, function.file, function.name, tree) if tree is not None else ():
            yield Branch(line=one.line, function=function.name, text=line_text(function.file, one.line),
                         taken=one.taken, passed=one.passed)


def subnormal(buffers: Mapping[str, Buffer]) -> tuple[str, ...]:
    """Inputs of fp32 that hold a subnormal number, which PTX instructions with `.ftz` take for zero."""
    found = []
    for name, buffer in buffers.items():
        if buffer.values is not None and buffer.spec.dtype == "fp32":
            magnitude = buffer.values.abs()
            if bool(((magnitude > 0) & (magnitude < torch.finfo(torch.float32).tiny)).any()):
                found.append(name)
    return tuple(found)
