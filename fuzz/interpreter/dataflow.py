"""The operations of one program, and which lanes of which earlier operations a lane was computed from.

    flow = Dataflow(wanted=lambda: True)
    with recording(buffers, events=True) as trace, following(flow, trace):
        kernel[grid](...)
    steps = flow.behind(flow.of_event(sequence), lanes=[3])

Values are followed through the interpreter's builder: element-wise operations keep lanes apart, operations that move
lanes are run a second time on lane numbers, a reduction needs its whole line. What Python decides (branches, loop
bounds) is not followed, and what no builder method made is a leaf.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from tridiff.fuzz.interpreter.faults import Location, kernel_location
from tridiff.fuzz.interpreter.libdevice import stand_ins
from tridiff.fuzz.interpreter.narrow_floats import Array
from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.interpreter.trace import Trace
from tridiff.fuzz.interpreter.undefined import MOVING
from tridiff.fuzz.versions import interpreter_module, libdevice_modules

Role = Literal["value", "mask", "address"]
ROLES: tuple[Role, ...] = ("value", "mask", "address")
"""What a lane was needed for, the most interesting first."""

_MEMORY: dict[str, tuple[Role, ...]] = {
    "create_masked_load": ("address", "mask", "value"), "create_masked_store": ("address", "value", "mask"),
    "create_atomic_rmw": ("address", "value", "mask"), "create_atomic_cas": ("address", "value", "value")}
"""The methods that all accesses end in, with the roles of their blocks in order."""

_THROUGH = ("create_load", "create_store", "create_atomic_load", "create_atomic_store", "create_atomic_poll",
            "create_tensor_pointer_load", "create_tensor_pointer_store", "create_descriptor_load",
            "create_descriptor_store", "create_descriptor_gather", "create_descriptor_scatter")
"""Methods that consist of those."""

_SILENT = ("create_print", "create_assert", "create_assume", "create_barrier", "create_make_tensor_descriptor")
_OTHER_OPERAND = 1 << 40
"""Added to the lane numbers of each further operand of an operation that moves lanes."""

Lanes = dict[int, set[int]]
"""Lanes of each operand, by the operand's position."""
Sources = Callable[[int, list[int]], Lanes]
"""From a result's position and lanes of it to the lanes of the operands that they need."""


@dataclass(frozen=True)
class Operation:
    """One operation. operands, results: the interpreter's handles, kept as they were. event: number of the access in
    the trace, -1 for an operation without memory."""

    number: int
    name: str
    location: Location | None
    operands: tuple[Any, ...]
    results: tuple[Any, ...]
    roles: tuple[Role, ...]
    sources: Sources
    event: int = -1


@dataclass
class Needed:
    """An operation of which lanes are needed. lanes: of its first result that is needed."""

    operation: Operation
    role: Role
    result: int
    lanes: set[int]


class Dataflow:
    """The operations of the programs for which `wanted` is true, in order."""

    def __init__(self, *, wanted: Callable[[], bool]) -> None:
        self.wanted = wanted
        self.operations: list[Operation] = []
        self._made: dict[int, tuple[int, int]] = {}
        self._inside = False

    def maker(self, handle: Any) -> tuple[int, int] | None:
        """(number of the operation, position among its results) that made a handle; None for what no operation made."""
        return self._made.get(id(handle))

    def of_event(self, event: int) -> Operation | None:
        """The operation that made an access."""
        return next((one for one in reversed(self.operations) if one.event == event), None)

    def keep(self, name: str, operands: Iterable[Any], result: Any, sources: Sources, *, roles: tuple[Role, ...] = (),
             event: int = -1) -> None:
        """Note an operation that has just run."""
        results = tuple(result) if isinstance(result, tuple | list) else (result,)
        one = Operation(len(self.operations), name, kernel_location(), tuple(operands), results, roles, sources, event)
        self.operations.append(one)
        for position, handle in enumerate(results):
            if handle is not None:
                self._made[id(handle)] = (one.number, position)

    def behind(self, operation: Operation, lanes: Iterable[int]) -> list[Needed]:
        """The operations that lanes of `operation` were computed from, itself included, in the order in which they
        ran."""
        needed = {operation.number: Needed(operation, "value", 0, set(lanes))}
        for number in range(operation.number, -1, -1):
            one = needed.get(number)
            if one is None:
                continue
            for position, wanted in one.operation.sources(one.result, sorted(one.lanes)).items():
                made = self.maker(one.operation.operands[position])
                if made is None or made[0] >= number:
                    continue
                own = one.operation.roles[position] if position < len(one.operation.roles) else "value"
                role = max(own, one.role, key=ROLES.index)
                known = needed.setdefault(made[0], Needed(self.operations[made[0]], role, made[1], set()))
                known.role = min(known.role, role, key=ROLES.index)
                known.lanes |= wanted
        return [needed[number] for number in sorted(needed)]


@contextmanager
def following(flow: Dataflow, trace: Trace) -> Iterator[Dataflow]:
    """Have `flow` note what runs inside the block. Enter it inside `recording`."""
    patches = Patches()
    module = interpreter_module()
    builder = module.InterpreterBuilder
    for name in [name for name in dir(builder) if name.startswith("create_")]:
        if name in _MEMORY:
            patches.wrap(builder, name, partial(_memory, flow, trace, name))
        elif name not in _THROUGH and name not in _SILENT:
            patches.wrap(builder, name, partial(_plain, flow, name))
    for library in libdevice_modules():
        for name in stand_ins():
            patches.wrap(library, name, partial(_library, flow, name), optional=True)
    patches.wrap(module.ReduceOps, "apply_impl", partial(_line, flow, "reduce"))
    patches.wrap(module.ScanOps, "apply_impl", partial(_line, flow, "scan"))
    patches.wrap(module, "_patch_lang_tensor", partial(_transposed, flow))
    try:
        yield flow
    finally:
        patches.undo()


def _handles(arguments: Iterable[Any]) -> list[Any]:
    kind = interpreter_module().TensorHandle
    found = []
    for one in arguments:
        if isinstance(one, kind):
            found.append(one)
        elif isinstance(one, list | tuple):
            found += [each for each in one if isinstance(each, kind)]
    return found


def _memory(flow: Dataflow, trace: Trace, name: str, call: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = call(self, *args, **kwargs)
    if flow.wanted():
        operands = _handles((*args, *kwargs.values()))
        event = len(trace.events) - 1 if trace.keeps_events else -1
        shape = np.shape(operands[0].data)
        flow.keep(name.removeprefix("create_").removeprefix("masked_"), operands, result,
                  lambda which, lanes: {place: _same_lanes(shape, np.shape(one.data), lanes)
                                        for place, one in enumerate(operands)},
                  roles=_MEMORY[name], event=event)
    return result


def _plain(flow: Dataflow, name: str, call: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
    if flow._inside or not flow.wanted():
        return call(self, *args, **kwargs)
    flow._inside = True
    try:
        result = call(self, *args, **kwargs)
    finally:
        flow._inside = False
    handles = _handles(result if isinstance(result, tuple | list) else (result,))
    if not handles:
        return result
    operands = _handles((*args, *kwargs.values()))
    if name in MOVING:
        sources = _moved(lambda *shadows, **options: call(self, *shadows, **options), args, kwargs)
    elif name == "create_gather":
        sources = _gathered(lambda *shadows: call(self, *shadows), args, np.shape(handles[0].data))
    elif name == "create_dot":
        sources = _dotted(operands, np.shape(handles[0].data))
    else:
        sources = _by_element(operands, np.shape(handles[0].data))
    flow.keep(name.removeprefix("create_"), operands, result, sources)
    return result


def _transposed(flow: Dataflow, call: Call, tensor: Any, scope: Any) -> None:
    """The property `T` of blocks, which turns them around without the builder."""
    call(tensor, scope)
    turn = vars(tensor)["T"].fget

    def turned(self: Any) -> Any:
        result = turn(self)
        if not flow._inside and flow.wanted():
            numbers = np.arange(self.handle.data.size).reshape(self.handle.data.shape).T.ravel()
            flow.keep("trans", (self.handle,), result.handle,
                      lambda which, lanes: {0: {int(numbers[lane]) for lane in lanes}})
        return result

    scope.set_attr(tensor, "T", property(turned))


def _library(flow: Dataflow, name: str, call: Call, *args: Any, **kwargs: Any) -> Any:
    """A function of libdevice: element by element."""
    result = call(*args, **kwargs)
    made = [one.handle for one in (result if isinstance(result, tuple) else (result,))
            if hasattr(one, "handle")]
    if made and not flow._inside and flow.wanted():
        operands = [one.handle for one in (*args, *kwargs.values()) if hasattr(one, "handle")]
        flow.keep(f"libdevice.{name}", operands, made, _by_element(operands, np.shape(made[0].data)))
    return result


def _same_lanes(result: tuple[int, ...], operand: tuple[int, ...], lanes: Iterable[int]) -> set[int]:
    """Lanes of an operand that lanes of an element-wise result need; all where the shapes do not fit."""
    size = int(np.prod(operand)) if operand else 1
    if size == 1:
        return {0}
    if result == operand:
        return set(lanes)
    offset = len(result) - len(operand)
    if offset < 0 or any(mine not in (1, other) for mine, other in zip(operand, result[offset:], strict=True)):
        return set(range(size))
    found = set()
    for lane in lanes:
        index = np.unravel_index(lane, result)[offset:]
        found.add(int(np.ravel_multi_index([0 if extent == 1 else int(one) for one, extent in zip(
            index, operand, strict=True)], operand)))
    return found


def _by_element(operands: list[Any], shape: tuple[int, ...]) -> Sources:
    return lambda which, lanes: {place: _same_lanes(shape, np.shape(one.data), lanes)
                                 for place, one in enumerate(operands)}


def _numbered(handle: Any, offset: int) -> Any:
    module = interpreter_module()
    data = np.asarray(handle.data)
    return module.TensorHandle((np.arange(data.size, dtype=np.int64) + offset).reshape(data.shape), module.tl.int64)


def _moved(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sources:
    """By running the operation on lane numbers."""
    def sources(which: int, lanes: list[int]) -> Lanes:
        kind, count = interpreter_module().TensorHandle, 0
        shadows: list[Any] = []
        for one in args:
            if isinstance(one, kind):
                shadows.append(_numbered(one, count * _OTHER_OPERAND))
                count += 1
            else:
                shadows.append(one)
        made = call(*shadows, **kwargs)
        result = made[which] if isinstance(made, tuple | list) else made
        found: Lanes = {}
        flat = np.asarray(result.data).ravel()
        for lane in lanes:
            number = int(flat[lane])
            found.setdefault(number // _OTHER_OPERAND, set()).add(number % _OTHER_OPERAND)
        return found

    return sources


def _gathered(call: Call, args: tuple[Any, ...], shape: tuple[int, ...]) -> Sources:
    def sources(which: int, lanes: list[int]) -> Lanes:
        flat = np.asarray(call(_numbered(args[0], 0), *args[1:]).data).ravel()
        return {0: {int(flat[lane]) for lane in lanes}, 1: _same_lanes(shape, np.shape(args[1].data), lanes)}

    return sources


def _dotted(operands: list[Any], shape: tuple[int, ...]) -> Sources:
    """A row of the first, a column of the second, and the element of the third."""
    first, second = (np.shape(one.data) for one in operands[:2])

    def sources(which: int, lanes: list[int]) -> Lanes:
        found: Lanes = {0: set(), 1: set(), 2: set(lanes)}
        rows = np.arange(int(np.prod(first))).reshape(first)
        columns = np.arange(int(np.prod(second))).reshape(second)
        for lane in lanes:
            *batch, row, column = (int(one) for one in np.unravel_index(lane, shape))
            found[0] |= set(rows[(*batch, row)].ravel().tolist())
            found[1] |= set(columns[tuple(batch)][..., column].ravel().tolist())
        return {place: wanted for place, wanted in found.items() if place < len(operands)}

    return sources


def _line(flow: Dataflow, name: str, call: Call, self: Any, tensors: Any) -> Any:
    """Reductions and scans: the whole line of every operand."""
    if flow._inside or not flow.wanted():
        return call(self, tensors)
    flow._inside = True
    try:
        result = call(self, tensors)
    finally:
        flow._inside = False
    operands = [tensor.handle for tensor in tensors]
    made = [tensor.handle for tensor in (result if isinstance(result, tuple | list) else (result,))]
    flow.keep(name, operands, made, _whole_line(np.shape(operands[0].data), self.axis, len(operands),
                                                np.shape(made[0].data) if name == "scan" else None))
    return result


def _whole_line(shape: tuple[int, ...], axis: int | None, operands: int, scanned: tuple[int, ...] | None) -> Sources:
    numbers: Array = np.arange(int(np.prod(shape))).reshape(shape)
    # One row per line: the lanes that a result's lane was folded from.
    lines = numbers.reshape(1, -1) if axis is None else np.moveaxis(numbers, axis, -1).reshape(-1, shape[axis])
    line_of = {int(lane): row for row, members in enumerate(lines) for lane in members} if scanned else {}

    def sources(which: int, lanes: list[int]) -> Lanes:
        rows = {line_of[lane] for lane in lanes} if scanned else set(lanes)
        wanted = {int(lane) for row in rows for lane in lines[row]}
        return {place: wanted for place in range(operands)}

    return sources
