"""From a graph to the text of a torch function of the same meaning (contract: kernels/codegen/notes.md, codegen.md §0).

    import torch


    def compute(in0, out0):
        v0 = in0.view(4, 8)
        v1 = torch.exp(v0)
        v2 = v1.sum(-1, keepdim=True, dtype=torch.float32)
        out0 = v2.reshape(-1)
        return (out0,)

Values keep one dimension per axis, of length 1 where they do not vary. Affine loads are views, others are indexed;
plain dense stores are reshapes, others scatter into what the buffer held. Half values are either tensors of their own
type, for which torch.compile decides where to round, or are held in fp32 and rounded where the graph says (`widened`).
"""

import math
from dataclasses import dataclass

import numpy as np

from tridiff.fuzz.inductor.programs import index_text as index_text
from tridiff.fuzz.inductor.programs.expressible import DIVISIONS, SHIFTS, TEMPLATES, operation
from tridiff.kernels.codegen.affine import Affine, affine
from tridiff.kernels.codegen.constants import TORCH_NAMES, round_to
from tridiff.kernels.codegen.domains import Analysis, expression, indirect
from tridiff.kernels.codegen.graph import (
    Bucketize,
    Cast,
    Constant,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Part,
    Pointwise,
    Reduce,
    Scan,
    Sort,
    Store,
    real_number,
)
from tridiff.kernels.pointwise.table import HALVES, OPS
from tridiff.oracles.dtypes import FP8, numpy_dtype

_WHOLE = ("i8", "i16", "i32", "i64", "u8")
# Operations that take a Python number beside a tensor.
_WITH_NUMBER = ("add", "sub", "mul", "truediv", "eq", "ne", "lt", "le", "gt", "ge")
MOST_LOADS, MOST_NODES = 4, 30
"""Larger programs may be split into several kernels, between which halves are rounded."""


@dataclass(frozen=True)
class TorchProgram:
    """text: of the module with `compute`. arguments: buffers in the order of its parameters; sizes: the lengths that
    follow them, by name; outputs: buffers of its results. emulated: halves are rounded after every operation, which
    torch.compile must be told."""

    text: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    emulated: bool
    sizes: tuple[tuple[str, int], ...] = ()


def torch_program(graph: Graph) -> TorchProgram:
    """The function for an expressible graph."""
    return _Writer(graph).write()


def number_text(text: str, dtype: str) -> str:
    """A constant of the graph as a Python literal: rounded to its type, whole numbers without a point as they stand."""
    if dtype == "i1":
        return str(text not in ("false", "0"))
    if dtype not in (*HALVES, *FP8, "fp32", "fp64"):
        return str(int(text))
    value = round_to(real_number(text), dtype)
    if not math.isfinite(value):
        return f'float("{value}")'
    # The literal 0 is not the literal 0.0 to an optimiser.
    return text if text.lstrip("-").isdigit() and int(text) == value and text != "-0" else repr(value)


class _Writer:
    """One graph on its way to text."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._analysis = graph, Analysis(graph)
        self._axes = tuple(self._analysis.axes)
        self._upcast = graph.schedules[0].upcast
        self._widened = self._upcast and not self._single_kernel()
        self._lines: list[str] = []
        self._numbers: dict[int, str] = {}
        self._lengths = {buffer.name: buffer.length for buffer in graph.buffers}

    def _single_kernel(self) -> bool:
        nodes = self._graph.nodes
        loads, stores = (sum(isinstance(node, kind) for node in nodes) for kind in (Load, Store))
        across = any(isinstance(node, Reduce | Scan | Sort | Bucketize) or
                     (isinstance(node, Store) and node.mode != "set") for node in nodes)
        return not across and loads <= MOST_LOADS and stores == 1 and len(nodes) <= MOST_NODES

    def write(self) -> TorchProgram:
        arguments = tuple(buffer.name for buffer in self._graph.buffers if buffer.role != "scratch")
        used = set().union(*(index_text.axes_in(expr) for expr in map(expression, self._graph.nodes)
                             if expr is not None))
        for position, node in enumerate(self._graph.nodes):
            if position not in self._analysis.dead:
                self._node(position, node)
        text = "\n".join(self._lines)
        ranges = [f"    {axis} = torch.arange({self._analysis.axes[axis]}, device=device){self._placed(axis)}"
                  for axis in self._axes if axis in used and index_text.mentions(text, axis)]
        outputs = tuple(buffer.name for buffer in self._graph.buffers if buffer.role in ("out", "inout"))
        sizes = tuple(one for one in self._analysis.sizes.items() if index_text.mentions(text, one[0]))
        head = ["import math", "import torch"] if index_text.mentions(text, "math") else ["import torch"]
        head += ["", "", f"def compute({', '.join((*arguments, *(name for name, _ in sizes)))}):"]
        if index_text.mentions(text + "".join(ranges), "device"):
            head.append(f"    device = {arguments[0]}.device")
        result = f"    return ({', '.join(outputs)},)"
        return TorchProgram("\n".join([*head, *ranges, text, result, ""]), arguments, outputs,
                            emulated=not self._upcast, sizes=sizes)

    def _placed(self, axis: str) -> str:
        shape = ["-1" if axis == other else "1" for other in self._axes]
        return "" if len(shape) == 1 else f".view({', '.join(shape)})"

    def _let(self, position: int, text: str) -> None:
        self._lines.append(f"    v{position} = {text}")

    # -- operands

    def _dtype(self, position: int) -> str:
        return self._analysis.dtype(position)

    def _held(self, dtype: str) -> str:
        return "fp32" if self._widened and dtype in HALVES else dtype

    def _to(self, text: str, source: str, target: str) -> str:
        return text if source == target else f"{text}.to(torch.{TORCH_NAMES[target]})"

    def _tensor(self, position: int) -> str:
        """A name for a value that is a tensor, constants included."""
        if position in self._numbers:
            literal = self._numbers.pop(position)
            dtype = self._held(self._dtype(position))
            full = "fp32" if dtype in FP8 else dtype
            made = index_text.full(literal, TORCH_NAMES[full], len(self._axes))
            self._let(position, self._to(made, full, dtype))
        return f"v{position}"

    def _exactly(self, position: int) -> str:
        """A value of its own type, for operations on the type itself."""
        name, dtype = self._tensor(position), self._dtype(position)
        return self._to(name, self._held(dtype), dtype)

    def _row(self, position: int) -> str:
        """A value with its whole extent along r, halves in fp32."""
        name, dtype = self._tensor(position), self._dtype(position)
        if dtype in (*HALVES, *FP8) and self._held(dtype) != "fp32":
            name = f"{name}.to(torch.float32)"
        return self._along_r(position, name)

    def _along_r(self, position: int, name: str) -> str:
        if "r" in self._analysis.domains[position]:
            return name
        keep = ", ".join("-1" for _ in self._axes[:-1])
        return f"{name}.expand({keep}, {self._analysis.axes['r']})"

    # -- nodes

    def _node(self, position: int, node: Node) -> None:
        expr = expression(node)
        for used in sorted(indirect(expr)) if expr is not None else ():
            self._tensor(used)  # an index calls a constant by its name, as any other value
        match node:
            case Constant():
                self._numbers[position] = number_text(node.value, node.dtype)
            case Index():
                self._let(position, self._index(node))
            case Load():
                self._let(position, self._load(position, node))
            case Pointwise():
                self._let(position, self._pointwise(node))
            case Cast():
                self._let(position, self._cast(node))
            case Masked():
                value, mask = self._tensor(node.arg), self._tensor(node.mask)
                self._let(position, self._chosen(mask, value, node.other, self._dtype(node.arg)))
            case Reduce():
                self._let(position, self._reduce(node))
            case Scan():
                self._let(position, self._scan(node))
            case Sort():
                row = self._along_r(node.arg, self._tensor(node.arg))
                self._let(position, f"torch.sort({row}, dim=-1, descending={node.descending}, stable={node.stable})")
            case Part():
                self._let(position, self._part(node))
            case Bucketize():
                self._let(position, self._bucketize(node))
            case Store():
                self._store(node)

    def _index(self, node: Index) -> str:
        text = index_text.tensor(node.expr, self._analysis)
        source = {"int": "i64", "bool": "i1", "real": "fp64"}[self._analysis.facts.of(node.expr).kind]
        return self._to(text, source, node.dtype)

    def _load(self, position: int, node: Load) -> str:
        dtype = self._analysis.buffers[node.buffer]
        found = self._to(self._read(position, node), dtype, self._held(dtype))
        if node.mask is None:
            return found
        return self._chosen(self._tensor(node.mask), found, node.other, dtype)

    def _read(self, position: int, node: Load) -> str:
        axes, length = self._analysis.axes, self._lengths[node.buffer]
        form = affine(node.index, axes=axes, sizes=self._analysis.sizes)
        if form is not None and not node.checked and min(form.strides.values(), default=0) >= 0:
            low, high = form.span(axes)
            if low >= 0 and high < length:
                return self._view(node.buffer, form)
        index = index_text.tensor(node.index, self._analysis)
        masks = self._analysis.masks(position)[::-1]
        known = self._analysis.facts.of(node.index).interval
        if node.checked:
            # torch wraps negative positions once and checks the rest, also where the value is not wanted.
            early = [one for one in masks if one < position]
            if early:
                index = f"torch.where({' & '.join(self._tensor(one) for one in early)}, {index}, 0)"
            if len(early) < len(masks):
                index = f"{index}.clamp({-length}, {length - 1})"
        elif known[0] < 0 or known[1] >= length:
            index = f"{index}.clamp(0, {length - 1})"
        return f"{node.buffer}[{index}]"

    def _view(self, buffer: str, form: Affine) -> str:
        shape = [self._analysis.axes[axis] if axis in form.strides else 1 for axis in self._axes]
        strides = [form.strides.get(axis, 0) for axis in self._axes]
        dense = [math.prod(shape[k + 1:]) for k in range(len(shape))]
        matches = all(n == 1 or s == d for n, s, d in zip(shape, strides, dense, strict=True))
        if matches and form.offset == 0 and math.prod(shape) == self._lengths[buffer]:
            return buffer if len(shape) == 1 else f"{buffer}.view({', '.join(map(str, shape))})"
        return f"{buffer}.as_strided({_tuple(shape)}, {_tuple(strides)}, {form.offset})"

    def _chosen(self, mask: str, value: str, other: str, dtype: str) -> str:
        if dtype in FP8:
            return _chosen_bits(mask, f"{value}.view(torch.uint8)", str(_bits(other, dtype)), dtype=dtype)
        return f"torch.where({mask}, {value}, {number_text(other, dtype)})"

    def _pointwise(self, node: Pointwise) -> str:
        op = operation(node.op)
        assert op is not None, node.op
        dtypes = [self._dtype(k) for k in node.args]
        own = OPS[node.op].halves == "own" if node.op in OPS else False
        if op == "where" and dtypes[1] in FP8:
            nodes = [self._graph.nodes[k] for k in node.args[1:]]
            two = all(isinstance(one, Constant) for one in nodes)  # a choice of two numbers would be of int64
            values = [str(_bits(one.value, one.dtype)) if isinstance(one, Constant) and not two
                      else f"{self._tensor(k)}.view(torch.uint8)" for k, one in zip(node.args[1:], nodes, strict=True)]
            return _chosen_bits(self._tensor(node.args[0]), *values, dtype=dtypes[1])
        if op in _WITH_NUMBER and len(node.args) == 2 and sum(k in self._numbers for k in node.args) == 1 and (
                op != "truediv" or node.args[0] not in self._numbers):
            names = [self._numbers.get(k, f"v{k}") for k in node.args]
        else:
            names = [self._exactly(k) if own else self._tensor(k) for k in node.args]
        if dtypes[0] in _WHOLE and op in DIVISIONS:
            return f"torch.where({names[1]} == 0, 0, {_divided(op, *names)})"
        if op in SHIFTS:
            return _shifted(op, *names, dtype=dtypes[0])
        if node.op == "mul_add" and dtypes[0] in HALVES and not self._upcast:
            # Of its product nothing is rounded to a half.
            names = [self._to(name, dtypes[0], "fp32") for name in names]
            return self._to(f"({TEMPLATES[op].format(*names)})", "fp32", dtypes[0])
        text = TEMPLATES[op].format(*names)
        return self._to(text, dtypes[0], self._held(dtypes[0])) if own and dtypes[0] in HALVES else text

    def _cast(self, node: Cast) -> str:
        source = self._dtype(node.arg)
        if not node.bitcast:
            name = self._tensor(node.arg)
            if node.dtype == "i1":
                return f"{name}.to(torch.float32) != 0" if source in FP8 else f"{name} != 0"
            if source in FP8 or (node.dtype in FP8 and source == "fp64"):
                name, source = f"{name}.to(torch.float32)", "fp32"  # fp8 goes by way of fp32
            return self._to(name, self._held(source), self._held(node.dtype))
        viewed = f"{self._exactly(node.arg)}.view(torch.{TORCH_NAMES[node.dtype]})"
        return self._to(viewed, node.dtype, self._held(node.dtype))

    def _reduce(self, node: Reduce) -> str:
        row, dtype = self._row(node.args[0]), self._dtype(node.args[0])
        if node.kind in ("any", "all"):
            return f"({row} != 0).{node.kind}(-1, keepdim=True)"
        if node.kind in ("argmax", "argmin"):
            return f"torch.{node.kind}({self._as_integer(row, dtype)}, -1, keepdim=True)"
        if node.kind == "welford":
            return f"torch.var_mean({row}, -1, correction=0, keepdim=True)"
        target = self._analysis.dtype(self._graph.nodes.index(node))
        if node.kind in ("max", "min"):
            found = f"{row}.a{node.kind}(-1, keepdim=True)"
            return self._to(found, "fp32" if dtype in (*HALVES, *FP8) else dtype, target)
        # The first argument of prod is the axis alone.
        return f"{row}.{node.kind}(-1, keepdim=True, dtype=torch.{TORCH_NAMES[target]})"

    @staticmethod
    def _as_integer(row: str, dtype: str) -> str:
        return f"{row}.to(torch.int8)" if dtype == "i1" else row

    def _scan(self, node: Scan) -> str:
        row, dtype = self._row(node.args[0]), self._dtype(node.args[0])
        held = self._held(dtype)
        source = "fp32" if dtype in HALVES else dtype
        match node.combine:
            case "sum" | "prod":
                found = f"torch.cum{node.combine}({row}, -1)"
                return self._to(found, "i64" if dtype in _WHOLE else source, held)
            case "max" | "min":
                found = f"torch.cum{node.combine}({self._as_integer(row, dtype)}, -1)[0]"
                return f"{found} != 0" if dtype == "i1" else self._to(found, source, held)
        return self._to(f"torch.logcumsumexp({row}, -1)", source, held)

    def _part(self, node: Part) -> str:
        source = self._graph.nodes[node.of]
        if isinstance(source, Reduce):
            # var_mean gives (variance, mean); the graph has mean, the sum of squared deviations, and the weight.
            length = self._analysis.axes["r"]
            name = f"v{node.of}"
            return (f"{name}[1]", f"{name}[0] * {length}", f"torch.full_like({name}[1], {length})")[node.item]
        if isinstance(source, Scan):
            return f"v{node.of}"
        if isinstance(source, Sort):
            return f"v{node.of}[0]" if node.item == 0 else f"v{node.of}[1].to(torch.int16)"
        return f"v{node.of}[{node.item}]"

    def _bucketize(self, node: Bucketize) -> str:
        dtype = self._dtype(node.arg)
        edges = f"{node.boundaries}[:{node.size}]"
        edges = self._to(edges, dtype, self._held(dtype))
        options = f"right={node.right}, out_int32={node.dtype == 'i32'}"
        if node.sorter is None:
            return f"torch.bucketize({self._tensor(node.arg)}, {edges}, {options})"
        order = f"{node.sorter}[:{node.size}].to(torch.int64)"
        return f"torch.searchsorted({edges}, {self._tensor(node.arg)}, {options}, sorter={order})"

    # -- stores

    def _store(self, node: Store) -> None:
        target, source = self._analysis.buffers[node.buffer], self._dtype(node.value)
        value = self._tensor(node.value)
        reduced = self._graph.nodes[node.value]
        if target == "u8" and isinstance(reduced, Reduce) and reduced.kind in ("any", "all") and (
                self._dtype(reduced.args[0]) == "u8"):
            value = f"{self._row(reduced.args[0])}.{reduced.kind}(-1, keepdim=True)"  # which torch leaves in uint8
        elif target == "i1" and source != "i1":
            value = f"({value} != 0)"
        elif source in FP8 and target not in FP8:
            value = self._to(f"{value}.to(torch.float32)", "fp32", target)
        else:
            value = self._to(value, self._held(source), target)
        position = self._graph.nodes.index(node)
        shape = [length if axis != "r" or "r" in self._analysis.domains[position] else 1
                 for axis, length in self._analysis.axes.items()]
        form = None if indirect(node.index) else affine(
            node.index, axes=self._analysis.axes, sizes=self._analysis.sizes)
        full = f"{value}.expand({', '.join(map(str, shape))})"
        order = None if form is None or node.mode != "set" else _dense_order(
            form, dict(zip(self._axes, shape, strict=True)), self._lengths[node.buffer])
        if order is not None:
            moved = full if order == tuple(range(len(shape))) else f"{full}.permute({', '.join(map(str, order))})"
            # What was only read is copied: otherwise the function would return its argument and launch nothing.
            copied = ".clone()" if isinstance(self._graph.nodes[node.value], Load) else ""
            self._lines.append(f"    {node.buffer} = {moved}.reshape(-1){copied}")
            return
        index = index_text.tensor(node.index, self._analysis)
        places = f"{index}.expand({', '.join(map(str, shape))}).reshape(-1)"
        added = ", accumulate=True" if node.mode == "atomic_add" else ""
        self._lines.append(f"    {node.buffer} = {node.buffer}.index_put(({places},), {full}.reshape(-1){added})")


def _tuple(numbers: list[int]) -> str:
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"


def _dense_order(form: Affine, shape: dict[str, int], length: int) -> tuple[int, ...] | None:
    """The order of axes, slowest first, in which a store writes its buffer from end to end; None if it does not."""
    if form.offset or math.prod(shape.values()) != length:
        return None
    axes = list(shape)
    moving = sorted((axis for axis in axes if shape[axis] > 1), key=lambda axis: form.strides.get(axis, 0))
    expected = 1
    for axis in moving:
        if form.strides.get(axis, 0) != expected:
            return None
        expected *= shape[axis]
    still = [axis for axis in axes if shape[axis] == 1]
    order = [*still, *reversed(moving)]
    return tuple(range(len(axes))) if list(reversed(moving)) == [axis for axis in axes if shape[axis] > 1] else tuple(
        axes.index(axis) for axis in order)


def _chosen_bits(mask: str, first: str, second: str, *, dtype: str) -> str:
    """A choice of floats of 8 bits, by their bits: Triton's conversion to fp8e5 would lose infinities."""
    return f"torch.where({mask}, {first}, {second}).view(torch.{TORCH_NAMES[dtype]})"


def _bits(text: str, dtype: str) -> int:
    return int(np.array(round_to(real_number(text), dtype), numpy_dtype(dtype)).view(np.uint8))


def _divided(op: str, a: str, b: str) -> str:
    """An integer division that no lane can trap on."""
    return TEMPLATES[op].format(a, f"torch.where({b} == 0, 1, {b})")


def _shifted(op: str, x: str, amount: str, *, dtype: str) -> str:
    """A shift whose amounts are all in range; beyond it nothing is left but the fill: of the sign, or of zeros."""
    width = int(dtype[1:])
    inside = f"({amount} >= 0) & ({amount} < {width})"
    if op == "left_shift" or dtype[0] == "u":
        sign = "<<" if op == "left_shift" else ">>"
        return f"torch.where({inside}, {x} {sign} torch.where({inside}, {amount}, 0), 0)"
    return f"{x} >> torch.where({inside}, {amount}, {width - 1})"
