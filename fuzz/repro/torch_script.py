"""Standalone scripts for findings about torch.compile: the function, its inputs, what eager torch or exact arithmetic
gives, BUG or OK.

On a GPU the script needs torch only. Without one Inductor is told that the CPU is a device for which it generates
Triton code; a stand-in for the driver, and numpy in the place of libdevice, are in the script (codegen.md §0).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from tridiff.fuzz.backends import kind
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.inductor.session import configuration_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.repro import formulas, frame, literals
from tridiff.fuzz.repro.arrays import held_once
from tridiff.fuzz.repro.request import Candidate, Candidates, Request
from tridiff.fuzz.repro.template import fits, too_long
from tridiff.fuzz.repro.wrap import wrapped
from tridiff.fuzz.target import Target
from tridiff.oracles.dtypes import torch_dtype

_WITHOUT_GPU = """\
import torch, torch._inductor.config as config, triton
from triton.backends.compiler import GPUTarget

class Driver:  # no GPU needed: Triton's interpreter runs what Inductor generates
    is_active = staticmethod(lambda: True)
    get_current_target = lambda self: GPUTarget("cuda", 90, 32)
    get_current_device = get_current_stream = lambda self, *_: 0
    get_active_torch_device = lambda self: torch.device("cpu")

triton.runtime.driver.set_active(Driver())
config.cpu_backend, config.compile_threads, config.force_disable_caches = "triton", 1, True
"""
_LIBDEVICE = """\
import numpy as np, triton.language as tl
from triton.language.extra import libdevice as generic
from triton.language.extra.cuda import libdevice
from triton.runtime.interpreter import TensorHandle

def by_numpy(f):  # libdevice functions are empty in the interpreter
    def function(x, *more):
        out = np.asarray(f(x.handle.data, *(y.handle.data for y in more)))
        like = x if out.dtype.kind == "f" else x.to(tl.int32)
        return tl.tensor(TensorHandle(out.astype(like.handle.data.dtype), like.handle.dtype), like.type)
    return function

ilogb = lambda x: np.select([np.isnan(x), np.isinf(x)], [-2**31, 2**31 - 1], np.frexp(x)[1] - 1)
own = {"nearbyint": np.rint, "ilogb": ilogb}
for name in dir(generic):
    if name in own or isinstance(getattr(np, name, None), np.ufunc):
        vars(libdevice)[name] = vars(generic)[name] = by_numpy(own.get(name) or getattr(np, name))
"""
_CHOSEN = """\
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
# Inductor runs the fastest of a kernel's configurations, which is chance: here always the same one.
CachingAutotuner.bench = lambda self, one, *_, **__: self.launchers.index(one) != {number} % len(self.launchers)
"""


@dataclass(frozen=True)
class _Shown:
    """function: text of `compute`. inputs: its arguments, expressions by name. checked: what to append to the result
    to get the output that is looked at. checks: statements that look at it; right: true where it is right. laid: what
    follows an argument's name where it does not lie in memory as it is written, with its device to be put in.
    several: Inductor has several configurations for its kernels."""

    function: str
    inputs: Mapping[str, str]
    checked: str
    expected: tuple[str, ...]
    checks: tuple[str, ...] = ()
    right: str = ""
    options: str = ""
    dynamic: bool = False
    laid: Mapping[str, str] = field(default_factory=dict)
    several: bool = False


def candidates(request: Request, target: Target, buffers: Mapping[str, Buffer], helper: str) -> Candidates | None:
    """The script of a finding about torch.compile; None where the subject is another."""
    make = _MAKERS.get(helper)
    if make is None:
        return None
    if any(0 in buffer.shape for buffer in buffers.values()):
        raise TridiffError("the case is empty: there is nothing to show", fix="choose another entry")
    shown = make(request, target, buffers)
    preambles = ("",) if kind(request.backend) == "cuda" else ("", _LIBDEVICE)
    found = [_text(request, shown, libdevice=one, tight=False) for one in preambles]
    if request.length != "any":
        found = [text if fits(text) else _text(request, shown, libdevice=one, tight=True)
                 for text, one in zip(found, preambles, strict=True)]
    short = [text for text in found if request.bundle or fits(text)]
    if not short:
        raise TridiffError(too_long(found[0]), fix="write it whole with --long, or make the case smaller "
                           "with `tridiff shrink`")
    return Candidates(scripts=tuple(Candidate(text=text, faithful=True) for text in short))


def _text(request: Request, shown: _Shown, *, libdevice: str, tight: bool) -> str:
    cuda = kind(request.backend) == "cuda"
    signs = frame.signs(request.ways)
    imported = ["os", *(["re", "subprocess"] if signs.isolated else []), "sys"]
    lines = [*frame.heading(request.title, request.note, request.backend), f"import {', '.join(imported)}"]
    if signs.isolated:
        lines += ["", *frame.isolation(signs), ""]
    if not cuda and signs.isolated:
        lines.append('os.environ["TRITON_INTERPRET"] = "1"')
    elif not cuda:
        lines[-1] += '; os.environ["TRITON_INTERPRET"] = "1"'
    lines.append(frame.HOOK)
    lines += ["import math"] * ("math." in shown.function)
    lines += ["import base64, zlib"] * any("zlib." in text for text in (*shown.inputs.values(), *shown.checks))
    written = "".join((*shown.inputs.values(), *shown.checks, shown.right))
    lines += ["import numpy as np"] * ("np." in written and not libdevice)
    lines += ["import torch"] if cuda else (_WITHOUT_GPU + libdevice).splitlines()
    if cuda:
        lines += frame.gpu_guard("", tight=tight)
        if shown.several:
            lines += _CHOSEN.format(number=configuration_of(request.case.options)).splitlines()
    lines += ["", *shown.function.strip().splitlines(), ""]
    if any("small(0x" in text for text in shown.inputs.values()):
        lines += [*formulas.SMALL.splitlines(), ""]
    lines += [f"{name} = {text}" for name, text in shown.inputs.items()]
    lines += [f"{name} = {text.format(', device=' + chr(34) + 'cuda' + chr(34) if cuda else '')}"
              for name, text in shown.laid.items()]
    moved = ", ".join(name if text.isdecimal() or name in shown.laid or not cuda else f"{name}.cuda()"
                      for name, text in shown.inputs.items())
    lines += frame.running(signs)
    call = f"torch.compile(compute, fullgraph=True, dynamic={shown.dynamic}"
    call += f"{shown.options})({moved})"
    if not shown.checks:
        lines += [call, *(["torch.cuda.synchronize()"] if cuda else []), 'print("OK")']
    else:
        lines += shown.expected
        lines.append(f"actual = {call}{shown.checked}{'.cpu()' if cuda else ''}")
        lines += shown.checks
        lines += frame.ending(shown.right, only_repaired=request.only_repaired)
    if tight or libdevice:
        lines = [line for line in lines if line]
    return wrapped("\n".join(lines) + "\n")


def _checks(request: Request, target: Target, buffers: Mapping[str, Buffer], where: str, picked: str,
            dtype: str) -> tuple[tuple[str, ...], str]:
    """(statements that look at `actual`, the expression that is true when it is right), as the target's oracles judge
    the output `where`. picked: names of the elements that are defined, or nothing. dtype: of the result."""
    from tridiff.fuzz.repro.checks import check, expected_results

    if not frame.signs(request.ways).values:
        return (), ""
    try:
        one = expected_results(request.case, target, buffers)[where]
    except TridiffError:
        if frame.signs(request.ways).isolated:
            return (), ""
        raise
    statements, shown, condition = check("actual", one, {**buffers, "actual": buffers[where]}, mask=picked)
    if picked and one.defined is not None:
        statements = [f"{picked} = np.array({one.defined.tolist()})  # the contract leaves the other elements open",
                      *statements]
    right = f"actual.dtype == {torch_dtype(dtype)} and {condition}"
    return (*statements, f"print({shown})"), right


def _operation(request: Request, target: Target, buffers: Mapping[str, Buffer]) -> _Shown:
    from tridiff.fuzz.inductor.operations import program
    from tridiff.fuzz.inductor.references import operation_of

    case = request.case
    operation = operation_of(case)
    options = "" if case.params.get("persistent", True) else ', options={"triton.persistent_reductions": False}'
    partly = target.judge.defined(case) is not None and not _defined_everywhere(case, target, buffers)
    picked = "defined" if partly else ""
    checks, right = _checks(request, target, buffers, "out", picked, buffers["out"].spec.dtype)
    return _Shown(
        function=_body(program(operation)), checked="", checks=checks, right=right, options=options,
        dynamic=bool(case.params.get("dynamic", False)), expected=(), several=operation.family in ("reduction", "scan"),
        inputs={name: _value(buffer) for name, buffer in buffers.items() if buffer.values is not None},
        laid={name: text for name, buffer in buffers.items() if buffer.values is not None and (text := _laid(buffer))})


def _laid(buffer: Buffer) -> str:
    """The array of the buffer's name with the strides that it has in the case; "" if they are those of a new one."""
    name, shape, strides, once = buffer.spec.name, buffer.shape, buffer.strides, held_once(buffer)
    if strides == torch.empty(shape, device="meta").stride() and not buffer.spec.layout.broadcast:
        return ""
    taken = f"[{', '.join(f':{n}' for n in once)}]" if once != shape else ""
    spread = f".expand({shape})" if once != shape else ""
    return f"torch.empty_strided({once}, {strides}, dtype={name}.dtype{{}}).copy_({name}{taken}){spread}"


def _defined_everywhere(case: Case, target: Target, buffers: Mapping[str, Buffer]) -> bool:
    from tridiff.fuzz.judge.outputs import Inputs, defined_masks

    return all(bool(mask.all()) for mask in defined_masks(case, target, Inputs(case, buffers)).values())


def _graph(request: Request, target: Target, buffers: Mapping[str, Buffer]) -> _Shown:
    from tridiff.fuzz.inductor.programs.text import torch_program
    from tridiff.fuzz.kinds.graphs import by_numpy
    from tridiff.fuzz.kinds.graphs.arrays import graph_of, input_names, output_names
    from tridiff.oracles.arrays import to_numpy

    case, where = request.case, request.where
    program, outputs = torch_program(graph_of(case)), output_names(case)
    where = where if where in outputs else next(iter(outputs))  # what does not compile has no wrong output
    values = [buffers[name].values for name in input_names(case)]
    answer = by_numpy.answers(case, *(to_numpy(one) for one in values if one is not None))[where]
    picked = "" if bool(answer.defined.all()) else "defined"
    inputs = {}
    for name in program.arguments:
        buffer = buffers[name]
        inputs[name] = (_value(buffer) if buffer.values is not None else
                        f"torch.zeros({buffer.shape[0]}, dtype={torch_dtype(buffer.spec.dtype)})")
    inputs |= {name: str(length) for name, length in program.sizes}
    graph = graph_of(case)
    looped = graph.r is not None and graph.schedules[0].reduction != "persistent"
    chosen = ['"emulate_precision_casts": True'] * program.emulated + ['"triton.persistent_reductions": False'] * looped
    options = f", options={{{', '.join(chosen)}}}" if chosen else ""
    checks, right = _checks(request, target, buffers, where, picked, buffers[where].spec.dtype)
    return _Shown(
        function=_body(program.text), inputs=inputs, options=options, checks=checks, right=right,
        dynamic=bool(program.sizes) and not graph.schedules[0].static, expected=(), several=graph.r is not None,
        checked=f"[{program.outputs.index(outputs[where])}]")


_MAKERS: Mapping[str, Callable[[Request, Target, Mapping[str, Buffer]], _Shown]] = {
    "tridiff.fuzz.inductor.launch:compiled": _operation,
    "tridiff.fuzz.inductor.programs.launching:launch_graph": _graph}


def _body(text: str) -> str:
    return text[text.index("def compute"):]


def _value(buffer: Buffer) -> str:
    assert buffer.values is not None
    return _literal(buffer.values, buffer.spec.dtype)


def _literal(values: torch.Tensor, dtype: str) -> str:
    text = literals.torch_expression(values.contiguous(), dtype).replace("np.", "torch.")
    if dtype == "i1":
        return f"{text}.bool()"
    view = literals.view(dtype)
    return f"{text}{view}"
