"""Evaluate a graph node by node over all its points (contract: kernels/codegen/notes.md).

Values have one dimension per axis (x0, x1, ..., r), of length 1 where they do not depend on it. With `upcast` a node of
half type holds numbers of fp32, as the notes have it.
"""

from collections.abc import Callable, Mapping

import numpy as np

from tridiff.fuzz.kinds.graphs import expressions, memory
from tridiff.fuzz.kinds.graphs.conversions import assembled, bitcast, bucket, constant, converted
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels.codegen.domains import Analysis
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
from tridiff.oracles import philox
from tridiff.oracles.by_numpy import bounded_folds as folds, bounded_functions, bounded_ops as ops
from tridiff.oracles.by_numpy.bounded import (
    Real,
    Value,
    Whole,
    broadcast,
    exact_real,
    expand,
    product_of_unknown,
    reshape,
    select,
    settle,
    take,
    whole,
)
from tridiff.oracles.by_numpy.bounded_scans import scan
from tridiff.oracles.dtypes import Array, numpy_dtype

HALVES = ("fp16", "bf16")
_ACCUMULATORS = {"i1": "i32", "i8": "i32", "i16": "i32"}


class Interpreter:
    """One evaluation. buffers: contents of in and inout buffers as arrays of their types."""

    def __init__(self, graph: Graph, buffers: Mapping[str, Array]) -> None:
        self._graph = graph
        self._upcast = graph.schedules[0].upcast
        self._dtype = {buffer.name: buffer.dtype for buffer in graph.buffers}
        self._length = {buffer.name: buffer.length for buffer in graph.buffers}
        self._memory = {name: memory.from_memory(self._dtype[name], values) for name, values in buffers.items()}
        self._lengths = graph.outer if graph.r is None else (*graph.outer, graph.r)
        self._values: list[tuple[Value, ...]] = []
        self._logical: list[tuple[str, ...]] = []
        self._symbols = self._axes()
        self._stored: dict[str, Value] = {}
        self.written: dict[str, Array] = {}
        """Which elements of every out buffer some point stores."""
        self._outside: dict[int, Array] = {}
        """Where the index of a checked load leaves its buffer, by the position of the load."""

    def run(self) -> dict[str, Value]:
        """The final contents of every out and inout buffer, as flat values of the buffer's type."""
        for buffer in self._graph.buffers:
            if buffer.role == "inout":
                self._stored[buffer.name] = self._memory[buffer.name]
            elif buffer.role == "out":
                self._stored[buffer.name] = memory.untouched(buffer.dtype, buffer.length)
                self.written[buffer.name] = np.zeros(buffer.length, dtype=bool)
        handlers: dict[type, Callable[..., tuple[str, Value] | None]] = {
            Constant: self._constant, Index: self._index, Load: self._load, Pointwise: self._pointwise,
            Cast: self._cast, Masked: self._masked, Reduce: self._reduce, Bucketize: self._bucketize,
            Random: self._random, Asm: self._assembly}
        with np.errstate(all="ignore"):
            for position, node in enumerate(self._graph.nodes):
                if isinstance(node, Store):
                    self._store(node)
                    self._add((), ())
                    continue
                several = self._several(node)
                if several is not None:
                    self._add(*several)
                else:
                    found = handlers[type(node)](node)
                    assert found is not None
                    self._add((found[0],), (found[1],))
                if len(self._values[position]) == 1 and isinstance(self._values[position][0], Whole):
                    one = self._values[position][0]
                    assert isinstance(one, Whole)
                    if one.dtype != "i1":
                        self._symbols[f"v{position}"] = expressions.integers(one.value, one.open)
        self._refuse_strays()
        return self._stored

    def _refuse_strays(self) -> None:
        """Declines contents with which a checked index leaves its buffer where the load is active. None is drawn, but
        shrinking may shorten the buffer, and an access out of bounds says nothing about a compiler."""
        analysis = Analysis(self._graph)
        for position, outside in self._outside.items():
            for mask in map(self._value, analysis.masks(position)):
                assert isinstance(mask, Whole)
                outside = outside & (mask.value != 0) & ~mask.open
            if outside.any():
                raise Declined(f"the index of node {position} leaves its buffer")

    def _add(self, logical: tuple[str, ...], values: tuple[Value, ...]) -> None:
        self._logical.append(logical)
        self._values.append(values)

    def _axes(self) -> dict[str, Value]:
        graph, rank = self._graph, len(self._lengths)
        names = [f"x{k}" for k in range(len(graph.outer))] + ([] if graph.r is None else ["r"])
        found: dict[str, Value] = {}
        for place, (name, length) in enumerate(zip(names, self._lengths, strict=True)):
            shape = [1] * rank
            shape[place] = length
            found[name] = expressions.integers(np.arange(length).reshape(shape))
            size = "rn" if name == "r" else f"n{place}"
            found[size] = expressions.integers(np.full([1] * rank, length))
        return found

    # -- types

    def _held(self, logical: str) -> str:
        """The type in which a node of this dtype holds its values."""
        return "fp32" if self._upcast and logical in HALVES else logical

    def _widened(self, x: Value, logical: str) -> Value:
        return self._to(x, self._held(logical)) if logical in HALVES else x

    def _to(self, x: Value, name: str) -> Value:
        return converted(x, name)

    def _value(self, position: int) -> Value:
        return self._values[position][0]

    def _scalar(self, text: str, name: str) -> Value:
        return self._widened(constant(text, name, (1,) * len(self._lengths)), name)

    # -- nodes of one value

    def _constant(self, node: Constant) -> tuple[str, Value]:
        return node.dtype, self._scalar(node.value, node.dtype)

    def _index(self, node: Index) -> tuple[str, Value]:
        value = self._expression(node.expr)
        if isinstance(value, Whole) and node.dtype != "i1":
            value = whole(node.dtype, value.value.astype(np.int64).astype(numpy_dtype(node.dtype)), value.open)
        return node.dtype, value

    def _expression(self, expr: Expr) -> Value:
        value = expressions.evaluate(expr, self._symbols)
        return value if value.value.ndim == len(self._lengths) else reshape(value, (1,) * len(self._lengths))

    def _load(self, node: Load) -> tuple[str, Value]:
        index = self._expression(node.index)
        assert isinstance(index, Whole)
        length, name = self._length[node.buffer], self._dtype[node.buffer]
        position = index.value
        if node.checked:
            position = np.where(position < 0, position + length, position)
        outside = (position < 0) | (position >= length)
        if node.checked:
            self._outside[len(self._values)] = outside & ~index.open
        if length == 0:
            found = memory.untouched(name, 1)
            found = take(found, np.zeros(position.shape, dtype=np.int64))
        else:
            # Where it is out of range the load must be inactive (a mask, its own or of an enclosing body).
            found = take(self._memory[node.buffer], np.where(outside, 0, position).astype(np.int64))
        found = self._widened(found.open_where(outside | index.open), name)
        if node.mask is not None:
            mask = self._value(node.mask)
            assert isinstance(mask, Whole)
            found = self._choose(mask, found, self._scalar(node.other, name))
        return name, found

    def _choose(self, mask: Whole, first: Value, second: Value) -> Value:
        shape = broadcast(mask, first, second)
        return select(expand(mask, shape), expand(first, shape), expand(second, shape))  # type: ignore[arg-type]

    def _pointwise(self, node: Pointwise) -> tuple[str, Value]:
        logical = [self._logical[k][0] for k in node.args]
        args = [self._value(k) for k in node.args]
        record = OPS[node.op]
        result = result_dtype(node.op, logical)
        if record.halves == "own":
            args = [self._to(a, name) if name in HALVES else a for a, name in zip(args, logical, strict=True)]
        elif record.halves == "fp32":
            args = [self._to(a, "fp32") if name in HALVES else a for a, name in zip(args, logical, strict=True)]
        found = self._applied(node.op, args)
        if len(set(node.args)) < len(node.args) and isinstance(args[0], Real) and isinstance(found, Whole):
            found = ops.with_itself(node.op, args[0], found)
        if result in HALVES:
            found = self._to(found, self._held(result)) if self._held(result) != found.dtype else found
        return result, found

    def _applied(self, op: str, args: list[Value]) -> Value:
        return ops.apply(op, args)

    def _cast(self, node: Cast) -> tuple[str, Value]:
        value, source = self._value(node.arg), self._logical[node.arg][0]
        before = self._graph.nodes[node.arg]
        if node.bitcast and isinstance(before, Cast) and before.bitcast and node.dtype not in HALVES and (
                self._logical[before.arg][0] == node.dtype):
            return node.dtype, self._value(before.arg)  # the very value, which may be a product
        if node.bitcast:
            if source in HALVES:
                value = self._to(value, source)
            return node.dtype, self._widened(bitcast(value, node.dtype), node.dtype)
        return node.dtype, self._to(value, self._held(node.dtype))

    def _masked(self, node: Masked) -> tuple[str, Value]:
        name = self._logical[node.arg][0]
        mask = self._value(node.mask)
        assert isinstance(mask, Whole)
        return name, self._choose(mask, self._value(node.arg), self._scalar(node.other, name))

    def _bucketize(self, node: Bucketize) -> tuple[str, Value]:
        name = self._logical[node.arg][0]
        edges = take(self._memory[node.boundaries], np.arange(node.size))
        if node.sorter is not None:
            order = take(self._memory[node.sorter], np.arange(node.size))
            edges = take(edges, order.value.astype(np.int64) % max(node.size, 1)) if node.size else edges
        return node.dtype, bucket(self._value(node.arg), self._widened(edges, name), node.right, node.dtype)

    def _random(self, node: Random) -> tuple[str, Value]:
        seeds = self._memory[node.seeds]
        seed = int(seeds.value.reshape(-1)[node.slot])
        offset = self._value(node.offset)
        assert isinstance(offset, Whole)
        if node.kind == "randint64":
            return "i64", whole("i64", philox.randint64(seed, offset.value, node.low, node.high), offset.open)
        if node.kind == "rand":
            drawn = philox.rand(seed, offset.value).astype(np.float64)
            # An integer times a scale: a sum may take the product unrounded.
            unrounded = philox.unrounded_rand(seed, offset.value)
            certain = Real("fp32", drawn, np.zeros(drawn.shape), np.abs(unrounded - drawn))
            return "fp32", certain.open_where(offset.open)
        value = philox.randn(seed, offset.value)
        # tridiff.oracles.bounded.RANDN_RULE: the errors of the angle, of cos and of the radius together.
        return "fp32", product_of_unknown(settle("fp32", value, 2e-5)).open_where(offset.open)

    def _assembly(self, node: Asm) -> tuple[str, Value]:
        args = [self._value(k) for k in node.args]
        shape = broadcast(*args)
        args = [expand(a, shape) for a in args]
        if node.body == "ex2_approx":
            one = args[0]
            assert isinstance(one, Real)
            return "fp32", bounded_functions.smooth("exp2", one)
        unsure = np.zeros(shape, dtype=bool)
        for a in args:
            assert isinstance(a, Whole)
            unsure = unsure | a.open
        words = [np.asarray(a.value).view(np.uint32) if a.value.flags.c_contiguous else
                 np.ascontiguousarray(a.value).view(np.uint32) for a in args]
        signed = [word.view(np.int32) for word in words]
        result = assembled(node.body, words, signed)
        return "i32", whole("i32", result.view(np.int32), unsure)

    # -- folds and nodes of several values

    def _along_r(self, position: int) -> Value:
        """A value with its whole extent along r."""
        value = self._value(position)
        shape = list(value.shape)
        shape[-1] = self._lengths[-1]
        return expand(value, tuple(shape))

    def _wide_for_fold(self, position: int) -> Value:
        value, logical = self._along_r(position), self._logical[position][0]
        return self._to(value, "fp32") if logical in HALVES or logical.startswith("fp8") else value

    def _reduce(self, node: Reduce) -> tuple[str, Value]:
        value = self._wide_for_fold(node.args[0])
        kind, logical = node.kind, self._logical[node.args[0]][0]
        result: Value
        if kind in ("any", "all"):
            result = folds.reduce_truth(value, every=kind == "all")
        elif kind in ("argmax", "argmin"):
            result = folds.arg_extremum(value, largest=kind == "argmax")
        elif isinstance(value, Whole):
            name = "i1" if logical == "i1" and kind in ("max", "min") else _ACCUMULATORS.get(logical, logical)
            result = folds.integer_fold(kind, value, name)
        elif kind in ("max", "min"):
            result = folds.reduce_extremum(value, largest=kind == "max")
        else:
            result = folds.reduce_sum(value) if kind == "sum" else folds.reduce_prod(value)
        return result.dtype, _restored(result)

    def _several(self, node: Node) -> tuple[tuple[str, ...], tuple[Value, ...]] | None:
        if isinstance(node, Part):
            return (self._logical[node.of][node.item],), (self._values[node.of][node.item],)
        if isinstance(node, Pointwise) and node.op == "frexp":
            logical = self._logical[node.args[0]][0]
            x = self._value(node.args[0])
            x = self._to(x, "fp32") if logical in HALVES else x
            mantissa = self._to(ops.apply("frexp_mantissa", (x,)), self._held(logical))
            return (logical, "i32"), (mantissa, ops.apply("frexp_exponent", (x,)))
        if isinstance(node, Reduce) and node.kind in ("welford", "welford_combine"):
            return self._welford(node)
        if isinstance(node, Scan):
            return self._scan(node)
        if isinstance(node, Sort):
            logical = self._logical[node.arg][0]
            values, positions = folds.sort(self._along_r(node.arg), descending=node.descending, stable=node.stable)
            return (logical, "i16"), (values, positions)
        return None

    def _welford(self, node: Reduce) -> tuple[tuple[str, ...], tuple[Value, ...]]:
        parts = [self._wide_for_fold(k) for k in node.args]
        shape = broadcast(*parts)
        states = [expand(part, shape) for part in parts]
        mean = states[0]
        assert isinstance(mean, Real)
        if node.kind == "welford":
            states += [exact_real(mean.dtype, np.zeros(shape)), exact_real(mean.dtype, np.ones(shape))]
        found = folds.welford(*states)  # type: ignore[arg-type]
        return (mean.dtype,) * 3, tuple(_restored(one) for one in found)

    def _scan(self, node: Scan) -> tuple[tuple[str, ...], tuple[Value, ...]]:
        logical = tuple(self._logical[k][0] for k in node.args)
        parts = [self._wide_for_fold(k) for k in node.args]
        shape = broadcast(*parts)
        found = scan(node.combine, [expand(part, shape) for part in parts])
        return logical, tuple(self._to(one, self._held(name)) if name in HALVES else one
                              for one, name in zip(found, logical, strict=True))

    # -- stores

    def _store(self, node: Store) -> None:
        index, value = self._expression(node.index), self._value(node.value)
        assert isinstance(index, Whole)
        name, length = self._dtype[node.buffer], self._length[node.buffer]
        shape = list(broadcast(index, value))
        for axis in range(len(self._graph.outer)):
            shape[axis] = self._lengths[axis]
        value = expand(self._to(value, name), tuple(shape))
        places = np.broadcast_to(index.value, shape).astype(np.int64).reshape(-1)
        sure = np.broadcast_to(~index.open, shape).reshape(-1)
        held = self._stored[node.buffer]
        flat = reshape(value, (-1,))
        if node.mode == "atomic_add":
            self._stored[node.buffer] = memory.added(held, flat, places, sure)
            return
        if not sure.all() or (places.size and (places.min() < 0 or places.max() >= length)):
            raise ValueError(f"a store to {node.buffer} leaves it or has no certain place")
        self._stored[node.buffer] = memory.stored(held, flat, places)
        if node.buffer in self.written:
            self.written[node.buffer][places] = True


def _restored(x: Value) -> Value:
    """The dimension of r back, of length 1."""
    return reshape(x, (*x.shape, 1))
