"""From a case to the text of a standalone script; runs in a child process that has torch and Triton.

The launch is recorded instead of run: its kernel is written out with everything it reaches
(`tridiff.fuzz.repro.source`), its arrays as literals, its other arguments as they are.
"""

import itertools
import math
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import torch

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.compile import CompileRunner, Pointer, Specialisation, specialise
from tridiff.fuzz.backends.launch import READ_BACK, Launch, LaunchReport, resolve, without_overflow_checks
from tridiff.fuzz.content.place import Buffer, place
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import LaunchOptions, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro import literals, torch_script
from tridiff.fuzz.repro.checks import Expected, check_lines, expected_results
from tridiff.fuzz.repro.inline import drop_aliases, squeeze
from tridiff.fuzz.repro.liveness import visited_lines
from tridiff.fuzz.repro.loops import drop_empty_loops
from tridiff.fuzz.repro.request import Candidate, Candidates, Request
from tridiff.fuzz.repro.simplify import DropConversions, FoldArithmetic, loaded, parameters
from tridiff.fuzz.repro.source import Program, collect, inline_expressions, inline_statements
from tridiff.fuzz.repro.template import MAX_LINES, WIDTH, Body, render
from tridiff.fuzz.repro.verbatim import Verbatim, verbatim
from tridiff.fuzz.target import Target
from tridiff.fuzz.target.subjects import parse_subject
from tridiff.oracles.dtypes import dtype as dtype_info

MAX_CHARACTERS = 1 << 16
"""Longest script; beyond it the inputs are too many to be literals."""

_TIGHTER = ((False, False, 2), (False, False, 1), (True, False, 1), (True, True, 1), (True, True, 0))
"""What is tried until the script is short enough: helpers inlined, variables inlined, blank lines."""

_FILL = 77
"""What outputs hold before the launch, so that an element never written shows."""


@dataclass(frozen=True)
class _Call:
    kernel: Any
    grid: tuple[int, int, int]
    arguments: dict[str, Any]
    options: LaunchOptions
    text: str = ""
    """TTGIR, where that is what was launched and not a jit function."""


class _Recorder:
    """Takes the place of a runner and remembers what it was asked to launch."""

    backend = "record"

    def __init__(self) -> None:
        self.calls: list[_Call] = []

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        self.calls.append(_Call(kernel, grid, arguments, options))
        return LaunchReport()

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        self.calls.append(_Call(None, grid, arguments, options, text))
        return LaunchReport()

    def synchronise(self) -> None:
        return None


def build(request: Request) -> Candidates:
    """Every way to write the script. Raises TridiffError when there is none."""
    case = request.case
    case.check()
    target = find(case.target)
    subject = parse_subject(request.subject, target)
    if subject.process_fault:
        raise TridiffError(f"the planted process fault {subject.process_fault} is no kernel",
                           fix="rerun it with `tridiff repro` instead")
    if request.backend == "interpreter" and request.failure_kind in ("device_assert", "assertion_missing"):
        raise TridiffError("Triton's interpreter checks device assertions only with tridiff's repairs",
                           fix="rerun it with `tridiff repro`, or write the script for another backend")
    if request.failure_kind == "memory_order":
        raise TridiffError("a missing memory order is read from the compiled code, no value is sure to show it",
                           fix="rerun it with `tridiff repro` instead")
    device = torch.device("cpu")
    buffers = {spec.name: place(spec, case.sizes, device=device) for spec in case.arrays}
    function = torch_script.candidates(request, buffers, subject.helper)
    if function is not None:
        return function
    options = case.options
    if subject.hook == "runtime_error":
        options = msgspec.structs.replace(options, debug=True)
    recorder = _Recorder()
    pointers = {name: buffer.pointer for name, buffer in buffers.items()}
    target.launch(Launch(case=case, pointers=pointers, helper=resolve(subject.helper), fault=subject.hook,
                         options=options, runner=recorder))
    calls = recorder.calls
    if len(calls) > 1 and request.where in buffers:
        calls = [call for call in calls if any(one is buffers[request.where].pointer
                                               for one in call.arguments.values())]
    if len(calls) != 1:
        raise TridiffError(f"{case.target} made {len(calls)} launches of this case, a script shows one",
                           fix="rerun it with `tridiff repro` instead")
    return _candidates(request, target, buffers, calls[0])


def _candidates(request: Request, target: Target, buffers: Mapping[str, Buffer], call: _Call) -> Candidates:
    stand_ins = _pointers(buffers, call)
    arch = request.backend.partition(":")[2] or "sm_90"
    visited = None
    whole = verbatim(call.kernel, call.text)
    if request.liveness and whole is None:
        visited = visited_lines(lambda: CompileRunner(arch).run(call.kernel, call.grid, stand_ins, call.options))
    expected: dict[str, Expected] = {}
    checked = request.failure in (Verdict.DISAGREE, Verdict.AGREE) and request.failure_kind != "assertion_missing"
    if kind(request.backend) != "compile" and checked:
        used = {_array_of(buffers, value) for value in call.arguments.values() if isinstance(value, torch.Tensor)}
        results = expected_results(request.case, target, buffers)
        expected = {name: result for name, result in results.items() if name in used}
        if not expected:
            raise TridiffError("no output that an oracle judges comes from this launch",
                               fix="rerun it with `tridiff repro` instead")
    if whole is not None:
        text = _render(request, _body(request, buffers, call, expected, whole.parameters(call.arguments), stand_ins,
                                      tight=False), whole, spacing=2, tight=False)
        return Candidates(scripts=(Candidate(text=_within_limit(text), faithful=True),))
    found: list[Candidate] = []
    for faithful in (False, True):
        written = _write(request, buffers, call, expected, visited, stand_ins, faithful=faithful)
        if all(written != one.text for one in found):
            found.append(Candidate(text=written, faithful=faithful))
    return Candidates(scripts=tuple(found))


def _pointers(buffers: Mapping[str, Buffer], call: _Call) -> dict[str, Any]:
    """The launch's arguments with arrays as the ahead-of-time compiler wants them."""
    result = dict(call.arguments)
    for name, value in call.arguments.items():
        if isinstance(value, torch.Tensor):
            spec = buffers[_array_of(buffers, value)].spec
            aligned = spec.layout.offset * dtype_info(spec.dtype).itemsize % 16 == 0
            result[name] = Pointer(dtype="i8" if spec.dtype == "i1" else spec.dtype, aligned=aligned)
    return result


def _array_of(buffers: Mapping[str, Buffer], tensor: torch.Tensor) -> str:
    for name, buffer in buffers.items():
        if buffer.pointer is tensor:
            return name
    raise TridiffError("the launch has a scratch array that the case does not describe",
                       fix="rerun it with `tridiff repro` instead")


def _write(request: Request, buffers: Mapping[str, Buffer], call: _Call, expected: Mapping[str, Expected],
           visited: Mapping[int, frozenset[int]] | None, stand_ins: Mapping[str, Any], *, faithful: bool) -> str:
    constants = {one.name: call.arguments[one.name] for one in call.kernel.params
                 if one.is_constexpr or call.arguments[one.name] is None}
    if not faithful:
        constants |= {name: value for name, value in call.arguments.items() if isinstance(value, bool | int | float)}
    last = None
    for inlined, squeezed, spacing in _TIGHTER:
        program = collect(call.kernel, constants=constants, visited=visited)
        inline_statements(program, everything=inlined)
        for node in program.functions.values():
            if not faithful:
                FoldArithmetic().visit(DropConversions().visit(node))
                drop_empty_loops(node)
                drop_aliases(node)
            if squeezed:
                squeeze(node, width=WIDTH, functions=program.functions)
        if squeezed:
            inline_expressions(program)
        _drop_parameters(program)
        body = _body(request, buffers, call, expected, parameters(program.functions[program.kernel]), stand_ins,
                     tight=squeezed)
        last = _render(request, body, program, spacing=spacing, tight=squeezed)
        if last.count("\n") <= MAX_LINES:
            break
    assert last is not None
    return _within_limit(last)


def _render(request: Request, body: Body, program: Program | Verbatim, *, spacing: int, tight: bool) -> str:
    return render(body, program, title=request.title, note=request.note, backend=request.backend,
                  failure=request.failure, failure_kind=request.failure_kind, spacing=spacing, tight=tight)


def _within_limit(text: str) -> str:
    if len(text) > MAX_CHARACTERS:
        raise TridiffError(f"the script would take {len(text):,} characters: the case has too many values",
                           fix="shrink the case first")
    return text


def _drop_parameters(program: Program) -> None:
    """Remove what the kernel takes and never reads."""
    node = program.functions[program.kernel]
    read = {name for one in node.body for name in loaded(one)}
    node.args.args = [one for one in node.args.args if one.arg in read]


def _body(request: Request, buffers: Mapping[str, Buffer], call: _Call, expected: Mapping[str, Expected],
          names: list[str], stand_ins: Mapping[str, Any], *, tight: bool) -> Body:
    if kind(request.backend) == "compile" and call.text:
        return Body(options=_options(call.options, False))
    if kind(request.backend) == "compile":
        given = _specialise(call, names, stand_ins)
        return Body(signature=given.signature, constants=given.constants,
                    divisible=tuple(position for (position,) in given.attributes), options=_options(call.options, True))
    arguments, used = [], []
    for name in names:
        value = call.arguments[name]
        if isinstance(value, torch.Tensor):
            used.append(_array_of(buffers, value))
            arguments.append(used[-1])
        else:
            arguments.append(repr(value))
    failure = request.failure_kind
    inputs = tuple(name for name in used if not buffers[name].is_output)
    lines: list[str] = []
    for name, buffer in buffers.items():
        if name in used:
            guarded = failure == "out_of_bounds" and buffer.is_output
            lines += _array(buffer, expected.get(name), backend=request.backend, guarded=guarded)
    if tight:
        lines = _grouped(lines)
    if failure == "input_overwritten":
        lines += [f"{name}_before = {literals.as_bits(name, buffers[name].spec.dtype)}.clone()" for name in inputs]
    grid = str(tuple(call.grid)) if call.text else _shown_grid(call.grid)

    def launch(options: LaunchOptions) -> str:
        shown = {} if kind(request.backend) == "interpreter" or call.text else _options(options, False)
        return f"kernel[{grid}]({', '.join((*arguments, *(f'{name}={value}' for name, value in shown.items())))})"

    checks, verdict = check_lines(expected, buffers, failure_kind=failure, launch=launch(call.options), inputs=inputs,
                                  tight=tight, variants=tuple(launch(one) for one in request.case.variants))
    return Body(arrays=tuple(lines), launch=launch(call.options), checks=checks, verdict=verdict)


_PLAIN = re.compile(r"(\w+) = torch\.(tensor|full)\((.*?)(, dtype=torch\.\w+[^()]*\))$")


def _grouped(lines: list[str]) -> list[str]:
    """Arrays of one type and of the same layout, one behind the other, as one statement. Each stays a tensor of its
    own, with the alignment of its own allocation."""
    result: list[str] = []
    for _, group in itertools.groupby(lines, key=_alike):
        members = list(group)
        found = [match for line in members if (match := _PLAIN.match(line))]
        if len(found) < 2:
            result += members
            continue
        names, last = ", ".join(one[1] for one in found), found[-1]
        if last[2] == "tensor":
            result.append(f"{names} = (torch.tensor(v{last[4]} for v in ({', '.join(one[3] for one in found)}))")
        else:
            result.append(f"{names} = (torch.full({last[3]}{last[4]} for _ in range({len(found)}))")
    return result


def _alike(line: str) -> tuple[str, ...]:
    """What lines must have in common to be one statement."""
    match = _PLAIN.match(line)
    if match is None:
        return (line,)
    return (match[2], match[4]) if match[2] == "tensor" else (match[2], match[3], match[4])


def _shown_grid(grid: tuple[int, ...]) -> str:
    while len(grid) > 1 and grid[-1] == 1:
        grid = grid[:-1]
    return f"({', '.join(map(str, grid))}{',' if len(grid) == 1 else ''})"


def _options(options: LaunchOptions, everything: bool) -> dict[str, int | bool]:
    """Compile options that are not Triton's defaults, or all that every target knows."""
    plain = LaunchOptions()
    return without_overflow_checks(options) | {
        name: getattr(options, name) for name in READ_BACK
        if getattr(options, name) != getattr(plain, name) or (everything and name in ("num_warps", "num_stages"))}


def _specialise(call: _Call, names: list[str], stand_ins: Mapping[str, Any]) -> Specialisation:
    """As the launch would, for the arguments that the script's kernel still has."""
    own = {one.name: one for one in call.kernel.params}
    left = [types.SimpleNamespace(name=name, num=number, is_constexpr=False,
                                  do_not_specialize=own[name].do_not_specialize)
            for number, name in enumerate(names)]
    return specialise(types.SimpleNamespace(params=left), {name: stand_ins[name] for name in names})


def _array(buffer: Buffer, expected: Expected | None, *, backend: str, guarded: bool) -> list[str]:
    """Statements that place one array as the case lays it out. guarded: keep the memory around it in sight."""
    spec, shape, strides = buffer.spec, buffer.shape, buffer.strides
    once = tuple(1 if dim in spec.layout.broadcast else n for dim, n in zip(spec.dims, shape, strict=True))
    taken = set() if expected is None else set(expected.values.double().reshape(-1).tolist())
    fill = next(number for number in range(_FILL, 128) if number not in taken or number == 127)
    dense = tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))
    plain = strides == dense or math.prod(shape) == 1
    device = _device(backend)
    stored, view = literals.storage_dtype(spec.dtype), literals.view(spec.dtype)
    if buffer.is_output:
        if plain and not spec.layout.offset and not guarded:
            return [f"{spec.name} = torch.full({shape}, {fill}, dtype={stored}{device}){view}"]
        start = spec.layout.offset + (16 if guarded else 0)
        size = start + _span(shape, strides) + (16 if guarded else 0)
        memory = f"torch.full(({size},), {fill}, dtype={stored}{device})"
        if guarded:
            return [f"{spec.name}_memory = {memory}",
                    f"{spec.name} = {spec.name}_memory.as_strided({shape}, {strides}, {start}){view}"]
        return [f"{spec.name} = {memory}.as_strided({shape}, {strides}, {start}){view}"]
    assert buffer.values is not None
    values = buffer.values.as_strided(once, buffer.values.stride()) if once != shape else buffer.values
    value = literals.torch_expression(values.contiguous(), spec.dtype, device=device)
    if plain and not spec.layout.offset and once == shape:
        return [f"{spec.name} = {value}{view}"]
    size = spec.layout.offset + _span(once, strides)
    start = spec.layout.offset
    return [f"{spec.name} = torch.zeros({size}, dtype={stored}{device}).as_strided({once}, {strides}, {start})"
            f".copy_({value}){view}"]


def _device(backend: str) -> str:
    """What a constructor of tensors is given to place one."""
    return ', device="cuda"' if kind(backend) == "cuda" else ""


def _span(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
