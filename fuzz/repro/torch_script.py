"""Standalone scripts for findings about torch.compile: the function, its inputs, what eager torch or exact arithmetic
gives, BUG or OK.

On a GPU the script needs torch only. Without one Inductor is told that the CPU is a device for which it generates
Triton code; a stand-in for the driver, and numpy in the place of libdevice, are in the script (codegen.md §0).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from tridiff.fuzz.backends import kind
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case
from tridiff.fuzz.repro import literals
from tridiff.fuzz.repro.request import Candidate, Candidates, Request
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.dtypes import torch_dtype

_WITHOUT_GPU = """\
import os; os.environ["TRITON_INTERPRET"] = "1"  # no GPU needed: Triton's interpreter runs what Inductor generates
import torch
import torch._inductor.config as config
import triton
from triton.backends.compiler import GPUTarget

class Driver:
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

own = {"nearbyint": np.rint, "ilogb": lambda x: np.select(
    [np.isnan(x), np.isinf(x)], [-2**31, 2**31 - 1], np.frexp(x)[1] - 1)}
for name in dir(generic):
    if name in own or isinstance(getattr(np, name, None), np.ufunc):
        vars(libdevice)[name] = vars(generic)[name] = by_numpy(own.get(name) or getattr(np, name))
"""


@dataclass(frozen=True)
class _Shown:
    """function: text of `compute`. inputs: its arguments, expressions by name. checked: the result's expression.
    expected: statements that set `expected` (and `bound`). close: keyword arguments of the comparison."""

    function: str
    inputs: Mapping[str, str]
    checked: str
    expected: tuple[str, ...]
    close: str
    options: str = ""
    dynamic: bool = False


def candidates(request: Request, buffers: Mapping[str, Buffer], helper: str) -> Candidates | None:
    """The script of a finding about torch.compile; None where the subject is another."""
    make = _MAKERS.get(helper)
    if make is None:
        return None
    if any(0 in buffer.shape for buffer in buffers.values()):
        raise TridiffError("the case is empty: there is nothing to show", fix="choose another entry")
    shown = make(request.case, buffers, request.where)
    preambles = ("",) if kind(request.backend) == "cuda" else ("", _LIBDEVICE)
    return Candidates(scripts=tuple(
        Candidate(text=_text(request, shown, buffers, libdevice=one), faithful=True) for one in preambles))


def _text(request: Request, shown: _Shown, buffers: Mapping[str, Buffer], *, libdevice: str) -> str:
    cuda = kind(request.backend) == "cuda"
    lines = [f"# {request.title}", *([f"# {request.note}"] if request.note else [])]
    lines += ["import math"] * ("math." in shown.function)
    lines += ["import torch"] if cuda else (_WITHOUT_GPU + libdevice).splitlines()
    if libdevice:
        lines = [line for line in lines if line]
    lines += ["", *shown.function.strip().splitlines(), ""]
    lines += [f"{name} = {text}" for name, text in shown.inputs.items()]
    arguments = ", ".join(shown.inputs)
    moved = ", ".join(name if text.isdecimal() else f"{name}.cuda()" for name, text in shown.inputs.items())
    moved = moved if cuda else arguments
    call = f"torch.compile(compute, fullgraph=True, dynamic={shown.dynamic}"
    call += f"{shown.options})({moved})"
    if request.failure.name in ("COMPILE_ERROR", "CRASH"):
        lines += ["try:", f"    {call}", '    print("OK")', "except Exception as error:", "    print(error)",
                  '    print("BUG")']
        return "\n".join(lines) + "\n"
    lines += [statement.replace("ARGUMENTS", arguments) for statement in shown.expected]
    lines.append(f"actual = {call}{shown.checked}{'.cpu()' if cuda else ''}")
    lines.append('print("actual:", actual, "expected:", expected)')
    output = buffers["out" if request.where == "dtype" else request.where].spec.dtype
    exact = "torch.equal(actual, expected)"
    if dtype_info(output).is_float:
        exact = f"torch.allclose(actual.double(), expected.double(), {shown.close}, equal_nan=True)"
    lines.append(f"same = actual.dtype == expected.dtype and {exact}")
    if request.failure_kind == "zero_sign":
        lines.append("same = same and torch.equal(actual.signbit()[expected == 0], expected.signbit()[expected == 0])")
    lines.append('print("OK" if same else "BUG")')
    return "\n".join(lines) + "\n"


def _operation(case: Case, buffers: Mapping[str, Buffer], where: str) -> _Shown:
    from tridiff.fuzz.inductor.operations import program
    from tridiff.fuzz.inductor.references import operation_of

    operation = operation_of(case)
    dtype = buffers["out"].spec.dtype
    exact = operation.judging in ("exact", "unsigned_zero") or not dtype_info(dtype).is_float
    relative = 0.0 if exact else 64.0 * 2.0 ** -dtype_info(dtype).mantissa_bits
    options = "" if case.params.get("persistent", True) else ', options={"triton.persistent_reductions": False}'
    return _Shown(
        function=_body(program(operation)), checked="", close=f"rtol={relative:.2g}, atol=0", options=options,
        dynamic=bool(case.params.get("dynamic", False)),
        inputs={name: _value(buffer) for name, buffer in buffers.items() if buffer.values is not None},
        expected=("expected = compute(ARGUMENTS)  # eager",))


def _graph(case: Case, buffers: Mapping[str, Buffer], where: str) -> _Shown:
    from tridiff.fuzz.inductor.programs.text import torch_program
    from tridiff.fuzz.kinds.graphs import by_numpy
    from tridiff.fuzz.kinds.graphs.arrays import graph_of, input_names, output_names
    from tridiff.oracles.arrays import to_numpy

    program, outputs = torch_program(graph_of(case)), output_names(case)
    where = where if where in outputs else next(iter(outputs))  # what does not compile has no wrong output
    values = [buffers[name].values for name in input_names(case)]
    answer = by_numpy.answers(case, *(to_numpy(one) for one in values if one is not None))[where]
    dtype = torch_dtype(buffers[where].spec.dtype)
    keep = torch.from_numpy(answer.defined)
    wanted = torch.from_numpy(answer.values)[keep].to(dtype)
    bound = 0.0 if answer.bound is None or not keep.any() else float(answer.bound[answer.defined].clip(min=0).max())
    place = "" if bool(keep.all()) else f"[{keep.nonzero().reshape(-1).tolist()}]"
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
    info = dtype_info(buffers[where].spec.dtype)
    relative = 2.0 ** -info.mantissa_bits if bound and info.is_float else 0.0
    return _Shown(
        function=_body(program.text), inputs=inputs, options=options,
        dynamic=bool(program.sizes) and not graph.schedules[0].static, close=f"rtol={relative:.2g}, atol={bound:.2g}",
        checked=f"[{program.outputs.index(outputs[where])}]{place}",
        expected=(f"expected = {_literal(wanted, buffers[where].spec.dtype)}  # by exact arithmetic in numpy",))


_MAKERS: Mapping[str, Callable[[Case, Mapping[str, Buffer], str], _Shown]] = {
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
