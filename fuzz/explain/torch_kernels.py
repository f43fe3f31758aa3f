"""The kernels that torch.compile generates, interpreted: memory, programs and elements, as for kernels of our own.

torch.compile launches by itself, so its launches are watched where they happen. Arrays are called as the generated
kernel calls its arguments.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tridiff.fuzz import interpreter
from tridiff.fuzz.backends.interpreter import InterpreterRunner
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain import cards, memory
from tridiff.fuzz.explain.faults import fault_of
from tridiff.fuzz.explain.model import Program, Source
from tridiff.fuzz.explain.prepared import Prepared, prepared
from tridiff.fuzz.explain.request import Interpreted, Request
from tridiff.fuzz.explain.source import reached, source_of, tree_of
from tridiff.fuzz.inductor.watched import watching_with
from tridiff.fuzz.interpreter.buffers import Buffer
from tridiff.fuzz.interpreter.dataflow import Dataflow, following
from tridiff.fuzz.interpreter.execution import Execution, watching
from tridiff.fuzz.interpreter.faults import current_program
from tridiff.fuzz.interpreter.trace import Trace, recording
from tridiff.fuzz.judge.outputs import Judged, judge_outputs
from tridiff.fuzz.registry import find
from tridiff.oracles.dtypes import name_of_tensor


@dataclass(frozen=True)
class _Launch:
    """One launch of torch.compile's. tensors: its array arguments by name, sharing no memory with another name."""

    kernel: Any
    tensors: dict[str, torch.Tensor]
    trace: Trace
    execution: Execution
    flow: Dataflow

    @property
    def name(self) -> str:
        return f"{self.kernel.fn.__name__} of torch.compile"


def interpreted_torch(request: Request) -> Interpreted:
    """As `traced.interpreted`, for a subject that torch.compile makes kernels for."""
    assert request.case is not None
    interpreter.install(interpreter.Repairs(block_truth=False))
    launches, error, made = _run(request, -1, None)
    if not launches:
        raise TridiffError(f"torch.compile launched no kernel ({error})" if error else
                           "torch.compile launched no kernel", fix="choose another subject or finding")
    number = request.launch if 0 <= request.launch < len(launches) else len(launches) - 1
    place = _place(request, launches[number], made)
    program = request.program or (cards.writer(launches[number].trace, place) if place is not None else None)
    launches, error, made = _run(request, number, program)
    one = launches[number]
    place = _place(request, one, made)
    judged = _judged(made) if error is None else None
    source = source_of(one.kernel)
    kinds = {name: name_of_tensor(tensor) for name, tensor in one.tensors.items()}
    trees = {(each.fn.__code__.co_filename, each.fn.__name__): tree_of(each.fn) for each in reached(one.kernel)}
    return Interpreted(
        launches=tuple(each.name for each in launches), launch=number, source=source,
        memory=memory.observed(one.trace, one.execution, source.functions, trees, {}, kinds=kinds,
                               verdict=_verdict(judged), fault=fault_of(error, source.functions)),
        program=cards.program_card(one.trace, one.execution, program, kinds) if program is not None else None,
        element=cards.element_card(one.trace, one.flow, place, None) if place is not None else None,
        subnormal=memory.subnormal(made.buffers))


def _run(request: Request, number: int, program: Program | None) -> tuple[list[_Launch], Exception | None, Prepared]:
    """Every launch, with the operations of `program` of launch `number` followed."""
    made = prepared(request)
    launches: list[_Launch] = []

    @contextmanager
    def watch(kernel: Any, arguments: tuple[Any, ...]) -> Iterator[None]:
        tensors: dict[str, torch.Tensor] = {}
        for name, value in zip(kernel.arg_names, arguments, strict=False):
            if isinstance(value, torch.Tensor):
                tensors[name] = value
        place = len(launches)

        def wanted() -> bool:
            return place == number and program is not None and current_program() == program

        source: Source = source_of(kernel)
        execution = Execution(frozenset((one.file, one.name) for one in source.functions), watched=wanted)
        flow = Dataflow(wanted=wanted)
        with recording(_regions(tensors), events=True) as trace:
            launches.append(_Launch(kernel, tensors, trace, execution, flow))
            with following(flow, trace), watching(execution):
                yield

    error: Exception | None = None
    from tridiff.fuzz.inductor import session

    session.device()
    with watching_with(watch):
        try:
            made.launch(InterpreterRunner())
        except TridiffError:
            raise
        except Exception as raised:
            error = raised
    return launches, error, made


def _regions(tensors: dict[str, torch.Tensor]) -> list[Buffer]:
    """The memory behind the arguments, to the ends of their allocations. Views of one allocation are one region."""
    owners: dict[int, list[str]] = {}
    for name, tensor in tensors.items():
        owners.setdefault(tensor.untyped_storage().data_ptr(), []).append(name)
    found = []
    for address, names in owners.items():
        first = tensors[names[0]]
        begin = first.data_ptr() if len(names) == 1 else address
        found.append(Buffer(name=names[0], address=begin, element_bytes=first.element_size(),
                            size_bytes=first.untyped_storage().nbytes() - (begin - address),
                            initialised=not names[0].startswith("out_ptr")))
    return found


def _place(request: Request, launch: _Launch, made: Prepared) -> cards.Place | None:
    """The element in the kernel's own output: of the last array that it writes with as many elements as the case's
    output, else of the last that it writes."""
    written = [name for name in launch.tensors if "out_ptr" in name]
    if not written:
        return None
    wanted = request.element
    sizes = {name: int(np.prod(buffer.shape)) for name, buffer in made.buffers.items()}
    name = next((name for name in reversed(written) if wanted is not None and wanted.buffer in sizes
                 and launch.tensors[name].numel() == sizes[wanted.buffer]), written[-1])
    tensor = launch.tensors[name]
    if not tensor.numel():
        return None
    number = wanted.number if wanted is not None else 0
    if wanted is not None and wanted.index and wanted.buffer in made.buffers:
        number = int(np.ravel_multi_index(wanted.index, made.buffers[wanted.buffer].shape))
    index = tuple(int(one) for one in np.unravel_index(min(number, tensor.numel() - 1), tuple(tensor.shape)))
    bits = tensor[index].reshape(1).clone().view(torch.uint8)
    pattern = int.from_bytes(bytes(bits.tolist()), "little")
    home = tensor.data_ptr()
    owner = next(one for one in launch.trace.buffers if one.address <= home < one.address + one.size_bytes)
    return cards.Place(owner.name, name_of_tensor(tensor), tuple(tensor.shape), tuple(tensor.stride()), index, pattern,
                       start=(home - owner.address) // owner.element_bytes)


def _judged(made: Prepared) -> Judged | None:
    assert made.case is not None
    try:
        return judge_outputs(made.case, find(made.case.target), made.buffers)
    except (ValueError, KeyError, RuntimeError):
        return None


def _verdict(judged: Judged | None) -> str:
    return "" if judged is None else f"{judged.verdict.value}{f': {judged.reason}' if judged.reason else ''}"
