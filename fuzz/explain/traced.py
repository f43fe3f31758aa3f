"""The interpreting child: what every program of a launch did to memory, and how one element came about."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tridiff.fuzz import interpreter
from tridiff.fuzz.backends.interpreter import InterpreterRunner
from tridiff.fuzz.backends.launch import LaunchReport
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain import cards, memory, twins
from tridiff.fuzz.explain.debugger import debugged
from tridiff.fuzz.explain.faults import fault_of
from tridiff.fuzz.explain.model import Function, Memory, Program, Source
from tridiff.fuzz.explain.prepared import Prepared, chosen, made_by_torch, name_of, prepared
from tridiff.fuzz.explain.request import Element, Interpreted, Request
from tridiff.fuzz.explain.source import source_of, tree_of
from tridiff.fuzz.explain.torch_kernels import interpreted_torch
from tridiff.fuzz.interpreter import buffers as watched
from tridiff.fuzz.interpreter.dataflow import Dataflow, following
from tridiff.fuzz.interpreter.execution import Execution, watching
from tridiff.fuzz.interpreter.faults import current_program
from tridiff.fuzz.interpreter.trace import Trace, recording
from tridiff.fuzz.judge.outputs import Judged, judge_outputs
from tridiff.fuzz.records import LaunchOptions
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro.recorded import Call

MOST_ELEMENTS = 1 << 18
"""Elements of all arrays; beyond it a trace takes minutes."""


class _Runner(InterpreterRunner):
    """Interprets, and knows which launch it is at."""

    def __init__(self) -> None:
        self.launch = -1

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        self.launch += 1
        return super().run(kernel, grid, arguments, options)


@dataclass
class Run:
    """One interpreted run of a request. number: of the launch that is looked at. error: what ended it."""

    made: Prepared
    trace: Trace
    execution: Execution
    flow: Dataflow
    number: int
    call: Call
    functions: tuple[Function, ...]
    error: BaseException | None = None


def interpreted(request: Request) -> Interpreted:
    """Run the request twice: once to see who wrote the element, once to follow the program that did."""
    if made_by_torch(request):
        return interpreted_torch(request)
    made = prepared(request)
    if sum(buffer.storage.numel() for buffer in made.buffers.values()) > MOST_ELEMENTS:
        raise TridiffError(f"the arrays have more than {MOST_ELEMENTS:,} elements, too many to trace",
                           fix="make the case smaller with `tridiff shrink`, or give shorter arrays")
    calls = made.calls()
    number = chosen(calls, request, made.buffers)
    if calls[number].text:
        raise TridiffError("the interpreter runs Python kernels only, not TTGIR text",
                           fix="look at the stages instead")
    if not hasattr(calls[number].kernel, "rewrite"):
        raise TridiffError("Triton's interpreter does not run Gluon kernels", fix="look at the stages instead")
    _repair(request)
    source = source_of(calls[number].kernel, calls[number].arguments.values())
    if request.debug:
        debugged(lambda: made.launch(_Runner()), calls[number].kernel, source, request.program or (0, 0, 0))
        return Interpreted(source=source)
    run = _run(request, made, calls[number], number, source, program=request.program)
    element = _element(request, run)
    written_by = cards.writer(run.trace, element) if element is not None else None
    program = request.program or written_by
    if program is not None and program != request.program:
        made = prepared(request)
        again = made.calls()
        run = _run(request, made, again[number], number, source, program=program)
    judged = _judged(run)
    kinds = {name: one.spec.dtype for name, one in made.buffers.items()}
    misjoined, joined = twins.held(run.trace, request.twins)
    return Interpreted(
        launches=tuple(map(name_of, calls)), launch=number, source=source, memory=_memory(run, judged),
        program=cards.program_card(run.trace, run.execution, program, kinds) if program is not None else None,
        element=cards.element_card(run.trace, run.flow, element, judged) if element is not None else None,
        subnormal=memory.subnormal(made.buffers), misjoined=misjoined, joined=joined)


def _repair(request: Request) -> None:
    interpreter.install(interpreter.Repairs.of("own" if request.case is None else request.subject))


def _run(request: Request, made: Prepared, call: Call, number: int, source: Source, *,
         program: Program | None) -> Run:
    names = {id(buffer.pointer): name for name, buffer in made.buffers.items()}
    regions = [_region(name, buffer) for name, buffer in made.buffers.items()]
    regions += [watched.Buffer.of_tensor(f"scratch {name}", value) for name, value in call.arguments.items()
                if isinstance(value, torch.Tensor) and id(value) not in names]
    runner = _Runner()

    def wanted() -> bool:
        return runner.launch == number and program is not None and current_program() == program

    execution = Execution(frozenset((one.file, one.name) for one in source.functions), watched=wanted)
    flow = Dataflow(wanted=wanted)
    error: BaseException | None = None
    with recording(regions, events=True) as trace:
        run = Run(made, trace, execution, flow, number, call, source.functions)
        try:
            with following(flow, trace), watching(execution):
                made.launch(runner)
        except TridiffError:
            raise
        except Exception as raised:
            error = raised
    run.error = error
    return run


def _region(name: str, buffer: Buffer) -> watched.Buffer:
    size = buffer.storage.element_size()
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(buffer.shape, buffer.strides, strict=True)) if (
        0 not in buffer.shape) else 0
    return watched.Buffer(name=name, address=buffer.pointer.data_ptr(), size_bytes=span * size, element_bytes=size,
                          initialised=not buffer.is_output)


def _element(request: Request, run: Run) -> cards.Place | None:
    """The element asked for, or the first of the first output."""
    wanted = request.element
    buffers = run.made.buffers
    if wanted is None:
        name = next((name for name, one in buffers.items() if one.is_output and 0 not in one.shape), "")
        wanted = Element(buffer=name) if name else None
    if wanted is None:
        return None
    if wanted.buffer not in buffers:
        raise TridiffError(f"there is no array {wanted.buffer!r}", fix=f"choose among {', '.join(buffers)}")
    buffer = buffers[wanted.buffer]
    if 0 in buffer.shape:
        raise TridiffError(f"{wanted.buffer} is empty", fix="choose another array")
    index = wanted.index or tuple(int(one) for one in np.unravel_index(
        min(wanted.number, int(np.prod(buffer.shape)) - 1), buffer.shape)) if buffer.shape else ()
    if len(index) != len(buffer.shape) or any(not 0 <= one < extent for one, extent in zip(
            index, buffer.shape, strict=True)):
        raise TridiffError(f"{wanted.buffer} has shape {list(buffer.shape)} and no element {list(index)}",
                           fix=f"write --element '{wanted.buffer}[{', '.join('0' * len(buffer.shape))}]'")
    return cards.Place.of_buffer(wanted.buffer, buffer, index)


def _judged(run: Run) -> Judged | None:
    if run.error is not None or run.made.case is None:
        return None
    try:
        return judge_outputs(run.made.case, find(run.made.case.target), run.made.buffers)
    except (ValueError, KeyError, RuntimeError):
        return None


def _memory(run: Run, judged: Judged | None) -> Memory:
    verdict = ""
    if judged is not None:
        verdict = f"{judged.verdict.value}{f': {judged.reason}' if judged.reason else ''}"
    trees: dict[tuple[str, str], ast.Module] = {}
    for function in _python(run.call):
        trees[function.__code__.co_filename, function.__name__] = tree_of(function)
    return memory.observed(run.trace, run.execution, run.functions, trees, run.made.buffers, verdict=verdict,
                           kinds={name: one.spec.dtype for name, one in run.made.buffers.items()},
                           fault=fault_of(run.error, run.functions))


def _python(call: Call) -> list[Callable[..., Any]]:
    """The Python functions behind the kernel and its callees."""
    from tridiff.fuzz.explain.source import reached

    return [one.fn for one in reached(call.kernel, call.arguments.values())]
