"""What a program computes, by interpreting its graph with torch on any device (contract: kernels/codegen/notes.md).

The second source beside `by_numpy`: every node is computed in the type that it is held in, each operation correctly
rounded or nearly so, by the torch oracles. With the generator and the numpy interpreter it shares the graph alone.
Bounds and definedness are the numpy interpreter's affair.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from tridiff.fuzz.kinds.graphs import torch_expressions, torch_folds
from tridiff.fuzz.kinds.graphs.arrays import graph_of, input_names, output_names
from tridiff.fuzz.kinds.graphs.torch_contract import BESSEL, as_eager
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.graph import (
    Asm,
    Bucketize,
    Cast,
    Constant,
    Expr,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Part,
    Pointwise,
    Random,
    Reduce,
    Scan,
    Sort,
    Store,
)
from tridiff.kernels.pointwise.table import OPS, result_dtype
from tridiff.oracles.bits import from_bits, to_bits
from tridiff.oracles.by_numpy.special import SPECIAL
from tridiff.oracles.by_torch import conversions, integer, philox, pointwise, search
from tridiff.oracles.dtypes import dtype, name_of_tensor, torch_dtype
from tridiff.oracles.exact import to_float

HALVES = ("fp16", "bf16")


def outputs(case: Case, *arrays: Tensor) -> tuple[Tensor, ...]:
    """The final contents of the case's outputs, in their order, on the device of the inputs.

    arrays: the inputs in the order of `arrays.input_names`. Elements that no point stores are 0 in an output, and what
    they were in an inout buffer.
    """
    inputs = dict(zip(input_names(case), arrays, strict=True))
    found = evaluate(graph_of(case), inputs, eager=as_eager(case))
    return tuple(found[buffer] for buffer in output_names(case).values())


def evaluate(graph: Graph, buffers: Mapping[str, Tensor], *, eager: bool = False) -> dict[str, Tensor]:
    """Flat contents of every out and inout buffer, of the buffer's type; buffers: contents of in and inout ones.
    eager: as `torch_contract` has it."""
    return _Interpreter(graph, buffers, eager).run()


class _Interpreter:
    """One evaluation. A value has one dimension per axis (x0, x1, ..., r), of length 1 where it does not vary."""

    def __init__(self, graph: Graph, buffers: Mapping[str, Tensor], eager: bool) -> None:
        self._graph, self._memory, self._eager = graph, dict(buffers), eager
        self._device = next((one.device for one in buffers.values()), torch.device("cpu"))
        self._upcast = graph.schedules[0].upcast
        self._dtypes = {buffer.name: buffer.dtype for buffer in graph.buffers}
        self._lengths = graph.outer if graph.r is None else (*graph.outer, graph.r)
        self._values: list[tuple[Tensor, ...]] = []
        self._logical: list[tuple[str, ...]] = []
        self._symbols = self._axes()

    def run(self) -> dict[str, Tensor]:
        stored = {}
        for buffer in self._graph.buffers:
            if buffer.role == "inout":
                stored[buffer.name] = self._memory[buffer.name].clone()
            elif buffer.role == "out":
                stored[buffer.name] = torch.zeros(buffer.length, dtype=torch_dtype(buffer.dtype), device=self._device)
        for position, node in enumerate(self._graph.nodes):
            if isinstance(node, Store):
                stored[node.buffer] = self._store(node, stored[node.buffer])
                self._keep((), ())
                continue
            self._keep(*self._node(node))
            one = self._values[position]
            if len(one) == 1 and dtype(name_of_tensor(one[0])).is_integer:
                self._symbols[f"v{position}"] = integer.widen(one[0])
        return stored

    def _keep(self, logical: tuple[str, ...], values: tuple[Tensor, ...]) -> None:
        self._logical.append(logical)
        self._values.append(values)

    def _axes(self) -> dict[str, Tensor]:
        graph, rank = self._graph, len(self._lengths)
        names = [f"x{k}" for k in range(len(graph.outer))] + ([] if graph.r is None else ["r"])
        found = {}
        for place, (name, length) in enumerate(zip(names, self._lengths, strict=True)):
            shape = [1] * rank
            shape[place] = length
            found[name] = torch.arange(length, device=self._device).reshape(shape)
            size = "rn" if name == "r" else f"n{place}"
            found[size] = torch.full([1] * rank, length, dtype=torch.int64, device=self._device)
        return found

    def _node(self, node: Node) -> tuple[tuple[str, ...], tuple[Tensor, ...]]:
        """Logical types and values of a node's results."""
        match node:
            case Part():
                return (self._logical[node.of][node.item],), (self._values[node.of][node.item],)
            case Pointwise(op="frexp"):
                return self._frexp(node)
            case Reduce(kind="welford" | "welford_combine"):
                found = self._welford(node)
                return (name_of_tensor(found[0]),) * 3, found
            case Scan():
                logical = tuple(self._logical[k][0] for k in node.args)
                parts = torch.broadcast_tensors(*(self._along_r(k) for k in node.args))
                results = torch_folds.scan(node.combine, list(parts))
                return logical, tuple(self._held_as(one, name) for one, name in zip(results, logical, strict=True))
            case Sort():
                values, positions = torch_folds.sort(self._row(node.arg), descending=node.descending)
                return (self._logical[node.arg][0], "i16"), (values, positions)
        name, value = self._single(node)
        return (name,), (value,)

    def _single(self, node: Node) -> tuple[str, Tensor]:
        match node:
            case Constant():
                return node.dtype, self._held_as(self._constant(node.value, node.dtype), node.dtype)
            case Index():
                return node.dtype, self._index(node.expr, node.dtype)
            case Load():
                return self._dtypes[node.buffer], self._load(node)
            case Pointwise():
                return self._pointwise(node)
            case Cast():
                return node.dtype, self._cast(node)
            case Masked():
                return self._masked(node)
            case Reduce():
                found = torch_folds.reduce(node.kind, self._along_r(node.args[0]))
                return name_of_tensor(found), found
            case Bucketize():
                return node.dtype, self._bucketize(node)
            case Random():
                return self._random(node)
            case Asm():
                return self._assembly(node)
        raise AssertionError(f"no rule for {node}")

    # -- how values are held

    def _held(self, logical: str) -> str:
        return "fp32" if self._upcast and logical in HALVES else logical

    def _held_as(self, x: Tensor, logical: str) -> Tensor:
        return conversions.convert(x, to=self._held(logical)) if logical in HALVES else x

    def _exactly(self, position: int) -> Tensor:
        """A value rounded to its own type, for operations on the type itself."""
        logical = self._logical[position][0]
        value = self._values[position][0]
        return conversions.convert(value, to=logical) if logical in HALVES else value

    def _constant(self, text: str, name: str) -> Tensor:
        shape = [1] * len(self._lengths)
        if name == "i1":
            return torch.full(shape, text not in ("false", "0"), device=self._device)
        if not dtype(name).is_float:
            value = int(text)
            wide = torch.full(shape, value - (1 << 64) if value >= 1 << 63 else value, dtype=torch.int64,
                              device=self._device)
            return integer.narrow(wide, dtype(name))
        number = float.fromhex(text) if "0x" in text.lower() else float(text)
        return conversions.convert(torch.full(shape, number, dtype=torch.float64, device=self._device), to=name)

    # -- nodes

    def _expression(self, expr: Expr) -> Tensor:
        found = torch_expressions.evaluate(expr, self._symbols)
        return found.reshape([1] * len(self._lengths)) if found.dim() == 0 else found

    def _index(self, expr: Expr, name: str) -> Tensor:
        found = self._expression(expr)
        if name == "fp64":
            return found.double()
        return found if name == "i1" else integer.narrow(found, dtype(name))

    def _load(self, node: Load) -> Tensor:
        memory, name = self._memory[node.buffer], self._dtypes[node.buffer]
        length = memory.shape[0]
        index = self._expression(node.index)
        if node.checked:
            index = torch.where(index < 0, index + length, index)
        if length:
            # Out of range only where the load is not active.
            bits = to_bits(memory)[index.clamp(0, length - 1)]
            value = from_bits(bits, name)
        else:
            value = torch.zeros(index.shape, dtype=memory.dtype, device=self._device)
        if node.mask is not None:
            value = self._where(self._values[node.mask][0], value, self._constant(node.other, name))
        return self._held_as(value, name)

    def _where(self, mask: Tensor, value: Tensor, other: Tensor) -> Tensor:
        return pointwise.evaluate("where", *torch.broadcast_tensors(mask, value, other))

    def _pointwise(self, node: Pointwise) -> tuple[str, Tensor]:
        logical = [self._logical[k][0] for k in node.args]
        result = result_dtype(node.op, logical)
        if OPS[node.op].halves == "own":
            args = [self._exactly(k) for k in node.args]
        else:
            args = [self._values[k][0] for k in node.args]
            if OPS[node.op].halves == "fp32":
                args = [torch_folds.widened(one) if name in HALVES else one
                        for one, name in zip(args, logical, strict=True)]
        found = _applied(node.op, [one.contiguous() for one in torch.broadcast_tensors(*args)])
        if self._eager and node.op in BESSEL:
            eager = getattr(torch.special, f"bessel_{node.op}")(args[0].double().cpu()).to(found.device)
            found = torch.where(torch.isinf(args[0]), eager, found)
        if found.dim() > len(self._lengths):
            found = found[-1]  # of several right answers, the one that rounds once
        held = self._held(result)
        return result, found if name_of_tensor(found) == held else conversions.convert(found, to=held)

    def _frexp(self, node: Pointwise) -> tuple[tuple[str, ...], tuple[Tensor, ...]]:
        logical = self._logical[node.args[0]][0]
        x = torch_folds.widened(self._values[node.args[0]][0])
        mantissa = conversions.convert(pointwise.evaluate("frexp_mantissa", x), to=self._held(logical))
        return (logical, "i32"), (mantissa, pointwise.evaluate("frexp_exponent", x))

    def _cast(self, node: Cast) -> Tensor:
        if not node.bitcast:
            return conversions.convert(self._values[node.arg][0], to=self._held(node.dtype))
        return self._held_as(from_bits(to_bits(self._exactly(node.arg)), node.dtype), node.dtype)

    def _masked(self, node: Masked) -> tuple[str, Tensor]:
        logical = self._logical[node.arg][0]
        other = self._held_as(self._constant(node.other, logical), logical)
        return logical, self._where(self._values[node.mask][0], self._values[node.arg][0], other)

    def _bucketize(self, node: Bucketize) -> Tensor:
        edges = self._held_as(self._memory[node.boundaries][:node.size], self._logical[node.arg][0])
        value = self._values[node.arg][0]
        order = None if node.sorter is None else integer.widen(self._memory[node.sorter][:node.size])[None]
        found = search.bucketize(value.reshape(1, -1), edges[None], order, right=node.right, index_dtype=node.dtype)
        return found.reshape(value.shape)

    def _random(self, node: Random) -> tuple[str, Tensor]:
        seed = self._memory[node.seeds][node.slot]
        offset = integer.widen(self._values[node.offset][0])
        if node.kind == "randint64":
            return "i64", philox.randint64(seed, offset, node.low, node.high)
        drawn = philox.rand(seed, offset) if node.kind == "rand" else philox.randn(seed, offset)
        return "fp32", drawn.float()

    def _assembly(self, node: Asm) -> tuple[str, Tensor]:
        args = torch.broadcast_tensors(*(self._values[k][0] for k in node.args))
        if node.body == "ex2_approx":
            return "fp32", pointwise.evaluate("exp2", args[0]).float()
        functions: dict[str, Callable[..., Tensor]] = {
            "add_s32": lambda a, b: a + b, "max_s32": torch.maximum, "lop3_xor": lambda a, b, c: a ^ b ^ c,
            "prmt_reverse": _reversed_bytes, "popc": _ones}
        return "i32", functions[node.body](*args)

    def _row(self, position: int) -> Tensor:
        """A value with its whole extent along r."""
        value = self._values[position][0]
        return value.expand((*value.shape[:-1], self._lengths[-1]))

    def _along_r(self, position: int) -> Tensor:
        return torch_folds.widened(self._row(position))

    def _welford(self, node: Reduce) -> tuple[Tensor, ...]:
        parts = torch.broadcast_tensors(*(self._along_r(k) for k in node.args))
        if node.kind == "welford_combine":
            return torch_folds.reduce_welford(*parts)
        x = parts[0]
        mean, *others = torch_folds.reduce_welford(x, torch.zeros_like(x), torch.ones_like(x))
        return (torch_folds.eager_mean(x, mean) if self._eager else mean, *others)

    def _store(self, node: Store, held: Tensor) -> Tensor:
        index, value = torch.broadcast_tensors(
            self._expression(node.index), conversions.convert(self._values[node.value][0], to=name_of_tensor(held)))
        shape = list(index.shape)
        shape[:len(self._graph.outer)] = self._graph.outer
        places, values = index.expand(shape).reshape(-1), value.expand(shape).reshape(-1)
        if node.mode == "set":
            memory = to_bits(held).clone()
            memory[places] = to_bits(values)
            return from_bits(memory, name_of_tensor(held))
        kind = dtype(name_of_tensor(held))
        if kind.is_float:
            return conversions.convert(held.double().index_add(0, places, values.double()), to=kind.name)
        return integer.narrow(integer.widen(held).index_add(0, places, integer.widen(values)), kind)


_INEXACT_IN_FP64 = ("erfcx", "i0", "i1")
"""Torch's overflow early or round the square of the argument, as scipy's do (`tridiff.oracles.by_numpy.special`)."""


def _applied(op: str, args: list[Tensor]) -> Tensor:
    """The torch oracle's answer; what it leaves to others is computed by scipy, or as exact fractions."""
    if op in BESSEL or (op in _INEXACT_IN_FP64 and args[0].dtype == torch.float64):
        x = args[0].double()
        with np.errstate(all="ignore"):
            return torch.as_tensor(SPECIAL[op](x.cpu().numpy()), dtype=torch.float64, device=x.device)
    if op == "fma" and args[0].dtype == torch.float64:
        flat = [_fused(*one) for one in zip(*(part.reshape(-1).tolist() for part in args), strict=True)]
        return torch.tensor(flat, dtype=torch.float64, device=args[0].device).reshape(args[0].shape)
    return pointwise.evaluate(op, *args)


def _fused(a: float, b: float, c: float) -> float:
    """a * b + c, rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return to_float(exact) if exact else a * b + c


def _reversed_bytes(x: Tensor) -> Tensor:
    wide = x.to(torch.int64) & 0xFFFFFFFF
    swapped = ((wide & 0xFF) << 24) | ((wide & 0xFF00) << 8) | ((wide >> 8) & 0xFF00) | (wide >> 24)
    return swapped.to(torch.int32)


def _ones(x: Tensor) -> Tensor:
    wide = x.to(torch.int64) & 0xFFFFFFFF
    return torch.stack([(wide >> bit) & 1 for bit in range(32)]).sum(0).to(torch.int32)
