"""Small programs, each about one feature, with what they compute in numpy.

An entry knows its inputs, its expected outputs and the schedules it must agree under. Importable without Triton.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from kernels.codegen.graph import (
    Apply,
    Bucketize,
    Buffer,
    Cast,
    Constant,
    Expr,
    Function,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Num,
    Part,
    Pointwise,
    Random,
    Reduce,
    Scan,
    Schedule,
    Sort,
    Store,
    Sym,
)
from tests.kernels.philox_words import expected_integer

Arrays = Mapping[str, Any]
X, Y, R = Sym("x0"), Sym("x1"), Sym("r")
GENERATOR = np.random.default_rng(7)


@dataclass(frozen=True)
class Program:
    """A graph whose schedules must all give `expected(inputs)`, exactly or within `tolerance` (relative)."""

    graph: Graph
    inputs: Arrays
    expected: Callable[[Arrays], Arrays]
    tolerance: float = 0.0


def apply(function: Function, *args: Expr | int) -> Expr:
    """A function of expressions and numbers."""
    return Apply(function, tuple(Num(one) if isinstance(one, int) else one for one in args))


def row_major(length: int) -> Expr:
    """x0 * length + r."""
    return apply("add", apply("mul", X, length), R)


def _in(name: str, array: Any, dtype: str) -> Buffer:
    return Buffer(name=name, dtype=dtype, length=len(array))


def _out(name: str, dtype: str, length: int, role: Any = "out") -> Buffer:
    return Buffer(name=name, dtype=dtype, length=length, role=role)


def _graph(outer: tuple[int, ...], buffers: tuple[Buffer, ...], nodes: tuple[Node, ...], *schedules: Schedule,
           r: int | None = None) -> Graph:
    return Graph(outer=outer, r=r, buffers=buffers, nodes=nodes, schedules=schedules or (Schedule(),))


LOOPED = Schedule(reduction="looped", x_blocks=(2,), r_block=8)
ROWS = (Schedule(x_blocks=(4,)), LOOPED, replace(LOOPED, no_x_dim=True, static=True, index_dtype="i64"),
        Schedule(x_blocks=(2,), static=True, unspecialised=True))
FOLDS = (*ROWS, Schedule(reduction="cooperative", x_blocks=(2,), r_block=8, static=True))


def _floats(count: int) -> Any:
    return GENERATOR.standard_normal(count).astype(np.float32)


def _ints(low: int, high: int, count: int, dtype: Any = np.int32) -> Any:
    return GENERATOR.integers(low, high, count).astype(dtype)


def pointwise() -> Program:
    """relu(a) * c + exact constants, in 1, 2 and 3 tile axes."""
    a = _ints(-50, 50, 105)
    index = apply("add", apply("mul", X, 35), apply("mul", Y, 7), Sym("x2"))
    nodes = (Load(buffer="a", index=index), Pointwise(op="relu", args=(0,)), Constant(value="3", dtype="i32"),
             Pointwise(op="mul", args=(1, 2)), Store(buffer="o", index=index, value=3))
    graph = _graph((3, 5, 7), (_in("a", a, "i32"), _out("o", "i32", 105)), nodes, Schedule(x_blocks=(32,)),
                   Schedule(x_blocks=(8, 2), static=True), Schedule(x_blocks=(4, 2, 1), index_dtype="i64"),
                   Schedule(x_blocks=(16,), access="block_pointers", static=True),
                   Schedule(x_blocks=(8,), eviction="evict_last"))
    return Program(graph, {"a": a}, lambda i: {"o": np.maximum(i["a"], 0) * 3})


def transposed() -> Program:
    """Reads columns, writes rows; a tile of two axes and one."""
    a = _floats(12 * 20)
    nodes = (Load(buffer="a", index=apply("add", apply("mul", Y, 12), X)), Pointwise(op="neg", args=(0,)),
             Store(buffer="o", index=apply("add", apply("mul", X, 20), Y), value=1))
    graph = _graph((12, 20), (_in("a", a, "fp32"), _out("o", "fp32", 240)), nodes, Schedule(x_blocks=(8, 8)),
                   Schedule(x_blocks=(64,), static=True), Schedule(x_blocks=(8, 4), access="block_pointers"),
                   Schedule(x_blocks=(4, 4), access="descriptors", static=True))
    return Program(graph, {"a": a}, lambda i: {"o": -i["a"].reshape(20, 12).T.ravel()})


def masked_body() -> Program:
    """A shifted read under a mask, inside another; NaN outside."""
    a = _floats(64)
    nodes = (Index(expr=apply("ge", X, 3), dtype="i1"), Load(buffer="a", index=apply("add", X, -3)),
             Pointwise(op="neg", args=(1,)), Masked(mask=0, arg=2, other="nan"),
             Load(buffer="a", index=X, mask=0, other="-1.5"), Store(buffer="o", index=X, value=3),
             Store(buffer="p", index=X, value=4))
    graph = _graph((64,), (_in("a", a, "fp32"), _out("o", "fp32", 64), _out("p", "fp32", 64)), nodes,
                   Schedule(x_blocks=(16,)), Schedule(x_blocks=(128,), static=True))

    def expected(i: Arrays) -> Arrays:
        x = np.arange(64)
        return {"o": np.where(x >= 3, -np.roll(i["a"], 3), np.nan).astype(np.float32),
                "p": np.where(x >= 3, i["a"], -1.5).astype(np.float32)}

    return Program(graph, {"a": a}, expected)


def gather() -> Program:
    """Indices of both signs, wrapped once; the same address read under two masks."""
    a, k = _ints(-99, 99, 37, np.int64), _ints(-37, 37, 50, np.int64)
    nodes = (Load(buffer="k", index=X), Load(buffer="a", index=Sym("v0"), checked=True),
             Index(expr=apply("lt", X, 20), dtype="i1"), Load(buffer="k", index=X, mask=2, other="7"),
             Index(expr=apply("lt", X, 30), dtype="i1"), Load(buffer="k", index=X, mask=4, other="9"),
             Pointwise(op="sub", args=(5, 3)), Store(buffer="o", index=X, value=1), Store(buffer="p", index=X, value=6))
    graph = _graph((50,), (_in("a", a, "i64"), _in("k", k, "i64"), _out("o", "i64", 50), _out("p", "i64", 50)), nodes,
                   Schedule(x_blocks=(64,)), Schedule(x_blocks=(16,), index_dtype="i64", static=True))

    def expected(i: Arrays) -> Arrays:
        x = np.arange(50)
        return {"o": i["a"][i["k"]], "p": np.where(x < 30, i["k"], 9) - np.where(x < 20, i["k"], 7)}

    return Program(graph, {"a": a, "k": k}, expected)


def guarded_gather() -> Program:
    """Indices that are out of range wherever the mask is false."""
    a, k = _ints(-99, 99, 37, np.int64), _ints(0, 100, 50, np.int64)
    nodes = (Load(buffer="k", index=X), Constant(value="37", dtype="i64"), Pointwise(op="lt", args=(0, 1)),
             Load(buffer="a", index=Sym("v0"), mask=2, other="5", checked=True), Store(buffer="o", index=X, value=3))
    graph = _graph((50,), (_in("a", a, "i64"), _in("k", k, "i64"), _out("o", "i64", 50)), nodes,
                   Schedule(x_blocks=(32,)), Schedule(x_blocks=(64,), static=True))
    return Program(graph, {"a": a, "k": k}, lambda i: {"o": np.where(i["k"] < 37, i["a"][np.minimum(i["k"], 36)], 5)})


def constants() -> Program:
    """-0.0, an fp64 fraction, the largest u64, a signed comparison, a bit cast, Booleans stored as bytes."""
    b, a = np.array([0, 1, 2, 255, 0, 128], np.uint8).view(np.int8), _ints(-3, 3, 6)
    nodes = (Constant(value="-0.0", dtype="fp64"), Constant(value="0.1", dtype="fp64"),
             Constant(value="18446744073709551615", dtype="u64"), Load(buffer="b", index=X), Load(buffer="a", index=X),
             Constant(value="0", dtype="i32"), Pointwise(op="lt", args=(4, 5)), Cast(arg=4, dtype="fp32", bitcast=True),
             *(Store(buffer=f"o{k}", index=X, value=v) for k, v in enumerate((0, 1, 2, 3, 6, 7))))
    dtypes = ("fp64", "fp64", "u64", "i1", "i1", "fp32")
    outputs = tuple(_out(f"o{k}", dtype, 6) for k, dtype in enumerate(dtypes))
    graph = _graph((6,), (_in("a", a, "i32"), _in("b", b, "i1"), *outputs), nodes, Schedule(x_blocks=(8,)),
                   Schedule(x_blocks=(2,), static=True))
    return Program(graph, {"a": a, "b": b}, lambda i: {
        "o0": np.full(6, -0.0), "o1": np.full(6, 0.1), "o2": np.full(6, 2**64 - 1, np.uint64),
        "o3": (i["b"] != 0).astype(np.int8), "o4": (i["a"] < 0).astype(np.int8), "o5": i["a"].view(np.float32)})


def expressions() -> Program:
    """Floor division of negatives, a product beyond 32 bits, a quotient beyond fp32, a rounding to even."""
    x = apply("add", X, -7)
    quotient = apply("int_true_div", apply("add", X, 16777217), 3)
    half = apply("float_true_div", apply("to_float", X), Apply("to_float", (Num(2),)))
    third = Apply("mul", (apply("to_float", X), Apply("float_true_div", (apply("to_float", 1), apply("to_float", 3)))))
    nodes: list[Node] = [
        Index(expr=apply("floordiv", x, 4), dtype="i64"), Index(expr=apply("python_mod", x, 4), dtype="i64"),
        Index(expr=apply("floordiv", apply("mul", X, 2**33), 2**32), dtype="i64"), Index(expr=quotient, dtype="fp64"),
        Index(expr=apply("round_to_int", half), dtype="i64"), Index(expr=third, dtype="fp64")]
    nodes += [Store(buffer=f"o{k}", index=X, value=k) for k in range(6)]
    kinds = ("i64", "i64", "i64", "fp64", "i64", "fp64")
    outputs = tuple(_out(f"o{k}", kind, 16) for k, kind in enumerate(kinds))
    graph = _graph((16,), outputs, tuple(nodes), Schedule(x_blocks=(4,)), Schedule(x_blocks=(16,), static=True))
    x_all = np.arange(16)
    return Program(graph, {}, lambda i: {
        "o0": (x_all - 7) // 4, "o1": (x_all - 7) % 4, "o2": x_all * 2, "o3": (x_all + 16777217) / 3,
        "o4": np.rint(x_all / 2).astype(np.int64), "o5": x_all * (1 / 3)})


def folds() -> Program:
    """Every integer reduction at once, negative elements, then an epilogue that needs r again."""
    a = _ints(-90, -10, 6 * 37)
    kinds: tuple[Any, ...] = ("sum", "prod", "max", "min", "xor_sum", "any", "all", "argmax", "argmin")
    loads: list[Node] = [Load(buffer="a", index=row_major(37))]
    nodes = [*loads, *(Reduce(kind=kind, args=(0,)) for kind in kinds)]
    nodes += [Pointwise(op="sub", args=(0, 3)), Store(buffer="rest", index=row_major(37), value=10)]
    nodes += [Store(buffer=f"{kind}0", index=X, value=k + 1) for k, kind in enumerate(kinds)]
    dtypes = {"any": "i1", "all": "i1", "argmax": "i64", "argmin": "i64"}
    outputs = tuple(_out(f"{kind}0", dtypes.get(kind, "i32"), 6) for kind in kinds)
    graph = _graph((6,), (_in("a", a, "i32"), _out("rest", "i32", 222), *outputs), tuple(nodes), *FOLDS, r=37)

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(6, 37)
        wrapped = {"sum0": rows.sum(1, dtype=np.int32), "prod0": rows.prod(1, dtype=np.int32)}
        return {**wrapped, "max0": rows.max(1), "min0": rows.min(1), "xor_sum0": np.bitwise_xor.reduce(rows, 1),
                "any0": rows.any(1).astype(np.int8), "all0": rows.all(1).astype(np.int8), "argmax0": rows.argmax(1),
                "argmin0": rows.argmin(1), "rest": (rows - rows.max(1)[:, None]).ravel()}

    return Program(graph, {"a": a}, expected)


def ties() -> Program:
    """argmax among few values, with NaN; all false rows; the element that equals the padding."""
    a = GENERATOR.choice(np.array([1.0, 2.0, -np.inf], np.float32), 6 * 37)
    a[37:74], a[80], a[140:143] = -np.inf, np.nan, np.nan
    nodes = (Load(buffer="a", index=row_major(37)), Reduce(kind="argmax", args=(0,)), Reduce(kind="max", args=(0,)),
             Pointwise(op="isinf", args=(0,)), Reduce(kind="all", args=(3,)), Store(buffer="o", index=X, value=1),
             Store(buffer="p", index=X, value=2), Store(buffer="q", index=X, value=4))
    graph = _graph((6,), (_in("a", a, "fp32"), _out("o", "i64", 6), _out("p", "fp32", 6), _out("q", "i1", 6)), nodes,
                   *FOLDS, r=37)

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(6, 37)
        return {"o": rows.argmax(1), "p": rows.max(1), "q": np.isinf(rows).all(1).astype(np.int8)}

    return Program(graph, {"a": a}, expected)


def variance() -> Program:
    """Welford's three results, and their recombination."""
    a = _floats(6 * 37) + 3
    nodes = (Load(buffer="a", index=row_major(37)), Reduce(kind="welford", args=(0,)), Part(of=1, item=0),
             Part(of=1, item=1), Part(of=1, item=2), Constant(value="0.0", dtype="fp32"),
             Constant(value="1.0", dtype="fp32"), Reduce(kind="welford_combine", args=(0, 5, 6)), Part(of=7, item=1),
             *(Store(buffer=f"o{k}", index=X, value=v) for k, v in enumerate((2, 3, 4, 8))))
    graph = _graph((6,), (_in("a", a, "fp32"), *(_out(f"o{k}", "fp32", 6) for k in range(4))), nodes, *FOLDS, r=37)

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(6, 37).astype(np.float64)
        m2 = rows.var(1) * 37
        return {"o0": rows.mean(1), "o1": m2, "o2": np.full(6, 37.0), "o3": m2}

    return Program(graph, {"a": a}, expected, tolerance=1e-5)


def scans() -> Program:
    """A sum, a non-commutative "second", affine maps, a running argmax; one combine function per body."""
    a, b = _ints(-9, 9, 3 * 37, np.int64), _ints(-2, 3, 3 * 37, np.int64)
    nodes = (Load(buffer="a", index=row_major(37)), Load(buffer="b", index=row_major(37)),
             Scan(combine="sum", args=(0,)), Scan(combine="second", args=(0,)),
             Scan(combine="affine", args=(1, 0)), Part(of=4, item=1), Index(expr=R, dtype="i64"),
             Scan(combine="argmax", args=(0, 6)), Part(of=7, item=1),
             *(Store(buffer=f"o{n}", index=row_major(37), value=v) for n, v in enumerate((2, 3, 5, 8))))
    outputs = tuple(_out(f"o{n}", "i64", 111) for n in range(4))
    graph = _graph((3,), (_in("a", a, "i64"), _in("b", b, "i64"), *outputs), nodes, *ROWS, r=37)

    def expected(i: Arrays) -> Arrays:
        rows, scale = i["a"].reshape(3, 37), i["b"].reshape(3, 37)
        shift = np.zeros((3, 37), np.int64)
        for place in range(37):
            before = shift[:, place - 1] if place else 0
            shift[:, place] = before * scale[:, place] + rows[:, place]
        best = np.array([[row[: place + 1].argmax() for place in range(37)] for row in rows])
        return {"o0": rows.cumsum(1).ravel(), "o1": i["a"], "o2": shift.ravel(), "o3": best.ravel()}

    return Program(graph, {"a": a, "b": b}, expected)


def split_scan() -> Program:
    """Several programs per row, rows after one another; the last element of a row stored once."""
    a = _ints(-1000, 1000, 3 * 100)
    nodes = (Load(buffer="a", index=row_major(100)), Scan(combine="sum", args=(0,)), Load(buffer="a", index=X),
             Store(buffer="o", index=row_major(100), value=1), Store(buffer="p", index=apply("mul", X, 0), value=2,
                                                                    mode="atomic_add"))
    split = Schedule(reduction="split", x_blocks=(1,), r_block=16)
    graph = _graph((3,), (_in("a", a, "i32"), _out("o", "i32", 300), _out("p", "i32", 1, "inout")), nodes, split,
                   replace(split, r_block=32, static=True, index_dtype="i64"), LOOPED, r=100)
    return Program(graph, {"a": a, "p": np.array([5], np.int32)}, lambda i: {
        "o": i["a"].reshape(3, 100).cumsum(1, dtype=np.int32).ravel(), "p": i["p"] + i["a"][:3].sum()})


def sorting() -> Program:
    """Descending, few distinct keys, NaN first; positions; a length that is no power of two."""
    a = GENERATOR.choice(np.array([1.0, 2.0, 3.0, np.nan, -np.inf, 0.0], np.float32), 4 * 11)
    nodes = (Load(buffer="a", index=row_major(11)), Sort(arg=0, descending=True), Part(of=1, item=0),
             Part(of=1, item=1), Store(buffer="o", index=row_major(11), value=2),
             Store(buffer="p", index=row_major(11), value=3))
    graph = _graph((4,), (_in("a", a, "fp32"), _out("o", "fp32", 44), _out("p", "i16", 44)), nodes,
                   Schedule(x_blocks=(2,)), Schedule(x_blocks=(4,), static=True), Schedule(no_x_dim=True), r=11)

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(4, 11)
        order = np.array([sorted(range(11), key=lambda j, row=row: (
            not np.isnan(row[j]), 0.0 if np.isnan(row[j]) else -row[j], j)) for row in rows])
        return {"o": np.take_along_axis(rows, order, 1).ravel(), "p": order.astype(np.int16).ravel()}

    return Program(graph, {"a": a}, expected)


def search() -> Program:
    """Both sides of equal boundaries."""
    a, b = _ints(-3, 9, 40), np.array([-1, 0, 0, 3, 3, 7], np.int32)
    nodes = (Load(buffer="a", index=X), Bucketize(arg=0, boundaries="b", size=6),
             Bucketize(arg=0, boundaries="b", size=6, right=True, dtype="i32"), Store(buffer="o", index=X, value=1),
             Store(buffer="p", index=X, value=2))
    graph = _graph((40,), (_in("a", a, "i32"), _in("b", b, "i32"), _out("o", "i64", 40), _out("p", "i32", 40)), nodes,
                   Schedule(x_blocks=(16,)), Schedule(x_blocks=(64,), static=True))
    return Program(graph, {"a": a, "b": b}, lambda i: {
        "o": np.searchsorted(i["b"], i["a"]), "p": np.searchsorted(i["b"], i["a"], side="right").astype(np.int32)})


def random_numbers() -> Program:
    """randint64 of more offsets than 8 bits count, from the second of three seeds, in [0, 2)."""
    seeds = np.array([11, 22, 33], np.int64)
    nodes = (Index(expr=X, dtype="i32"), Random(kind="randint64", seeds="s", slot=1, offset=0, low=0, high=2),
             Store(buffer="o", index=X, value=1))
    graph = _graph((600,), (_in("s", seeds, "i64"), _out("o", "i64", 600)), nodes, Schedule(x_blocks=(256,)),
                   Schedule(x_blocks=(64,), static=True, index_dtype="i64"))
    return Program(graph, {"s": seeds}, lambda i: {"o": np.array([expected_integer(22, x, 0, 2) for x in range(600)])})


def in_place() -> Program:
    """A column read and overwritten by each row, whose sum is taken of something else; an addition from every point."""
    a, io, total = _ints(-9, 9, 6 * 37), _ints(-9, 9, 6), _ints(0, 5, 4)
    nodes = (Load(buffer="a", index=row_major(37)), Reduce(kind="sum", args=(0,)), Load(buffer="io", index=X),
             Pointwise(op="add", args=(1, 2)), Store(buffer="io", index=X, value=3), Pointwise(op="mul", args=(0, 2)),
             Store(buffer="o", index=row_major(37), value=5),
             Store(buffer="total", index=apply("mod", X, 4), value=2, mode="atomic_add"))
    graph = _graph((6,), (_in("a", a, "i32"), _out("io", "i32", 6, "inout"), _out("o", "i32", 222),
                          _out("total", "i32", 4, "inout")), nodes, *FOLDS, replace(LOOPED, lift_loads=False), r=37)

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(6, 37)
        added = i["total"].copy()
        np.add.at(added, np.arange(6) % 4, i["io"])
        return {"io": (rows.sum(1) + i["io"]).astype(np.int32), "o": (rows * i["io"][:, None]).ravel(), "total": added}

    return Program(graph, {"a": a, "io": io, "total": total}, expected)


def halves() -> Program:
    """300 * 300 / 300 in fp16: 300 where halves are widened, infinity where every node rounds."""
    a = np.array([300, 2, 3, 60000], np.float16)
    nodes = (Load(buffer="a", index=X), Pointwise(op="mul", args=(0, 0)), Pointwise(op="truediv", args=(1, 0)),
             Store(buffer="o", index=X, value=2))
    graph = _graph((4,), (_in("a", a, "fp16"), _out("o", "fp16", 4)), nodes, Schedule(x_blocks=(4,)))
    return Program(graph, {"a": a}, lambda i: {"o": i["a"]})


def tall() -> Program:
    """More rows than the grid axis y has programs."""
    a = _ints(-99, 99, 70000)
    nodes = (Load(buffer="a", index=X), Pointwise(op="neg", args=(0,)), Store(buffer="o", index=X, value=1))
    graph = _graph((70000, 1), (_in("a", a, "i32"), _out("o", "i32", 70000)), nodes, Schedule(x_blocks=(1, 1)))
    return Program(graph, {"a": a}, lambda i: {"o": -i["a"]})


PROGRAMS: dict[str, Callable[[], Program]] = {
    function.__name__: function for function in (
        pointwise, transposed, masked_body, gather, guarded_gather, constants, expressions, folds, ties, variance,
        scans, split_scan, sorting, search, random_numbers, in_place, halves)}
DEVICE_PROGRAMS: dict[str, Callable[[], Program]] = {"tall": tall}
"""Too many programs for the interpreter."""
