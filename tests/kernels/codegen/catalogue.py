"""Small programs, each about one feature, with what they compute in numpy.

An entry knows its inputs, its expected outputs and the schedules it must agree under. Importable without Triton.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from tests.kernels.codegen.nodes import (
    R,
    X,
    Y,
    apply,
    buffer,
    cast,
    constant,
    load,
    masked,
    op,
    out,
    part,
    reduce,
    scan,
    store,
    tiles,
    value_of,
)
from tridiff.kernels.codegen.graph import Bucketize, Buffer, Expr, Graph, Node, Random, Schedule, Sort, Sym
from tridiff.oracles.by_exact.rows import randint64
from tridiff.oracles.dtypes import name_of_array

Arrays = Mapping[str, Any]
GENERATOR = np.random.default_rng(7)


@dataclass(frozen=True)
class Program:
    """A graph whose schedules must all give `expected(inputs)`, exactly or within `tolerance` (relative)."""

    graph: Graph
    inputs: Arrays
    expected: Callable[[Arrays], Arrays]
    tolerance: float = 0.0


def _program(outer: tuple[int, ...], inputs: Arrays, outputs: Sequence[Buffer], nodes: Sequence[Node],
             *schedules: Schedule, expected: Callable[[Arrays], Arrays], r: int | None = None, tolerance: float = 0.0,
             truth: str = "") -> Program:
    """Inputs that are no outputs too become buffers of their arrays' dtypes; the one named `truth` holds Booleans."""
    written = {one.name for one in outputs}
    read = [buffer(name, "i1" if name == truth else name_of_array(array), len(array))
            for name, array in inputs.items() if name not in written]
    graph = Graph(outer=outer, r=r, buffers=(*read, *outputs), nodes=tuple(nodes), schedules=schedules)
    return Program(graph, inputs, expected, tolerance)


def row_major(length: int) -> Expr:
    """x0 * length + r."""
    return apply("add", apply("mul", X, length), R)


LOOPED = tiles(2, reduction="looped", r_block=8)
ROWS = (tiles(4), LOOPED, replace(LOOPED, no_x_dim=True, static=True, index_dtype="i64"),
        tiles(2, static=True, unspecialised=True))
FOLDS = (*ROWS, tiles(2, reduction="cooperative", r_block=8, static=True))


def _floats(count: int) -> Any:
    return GENERATOR.standard_normal(count).astype(np.float32)


def _ints(low: int, high: int, count: int, dtype: Any = np.int32) -> Any:
    return GENERATOR.integers(low, high, count).astype(dtype)


def pointwise() -> Program:
    """relu(a) * c + exact constants, in 1, 2 and 3 tile axes."""
    a = _ints(-50, 50, 105)
    index = apply("add", apply("mul", X, 35), apply("mul", Y, 7), Sym("x2"))
    nodes = (load("a", index), op("relu", 0), constant("3", "i32"), op("mul", 1, 2), store("o", 3, index))
    return _program((3, 5, 7), {"a": a}, (out("o", "i32", 105),), nodes, tiles(32),
                    tiles(8, 2, static=True), tiles(4, 2, 1, index_dtype="i64"),
                    tiles(16, access="block_pointers", static=True),
                    tiles(8, eviction="evict_last"), expected=lambda i: {"o": np.maximum(i["a"], 0) * 3})


def transposed() -> Program:
    """Reads columns, writes rows; a tile of two axes and one."""
    a = _floats(12 * 20)
    nodes = (load("a", apply("add", apply("mul", Y, 12), X)), op("neg", 0),
             store("o", 1, apply("add", apply("mul", X, 20), Y)))
    return _program((12, 20), {"a": a}, (out("o", "fp32", 240),), nodes, tiles(8, 8),
                    tiles(64, static=True), tiles(8, 4, access="block_pointers"),
                    tiles(4, 4, access="descriptors", static=True),
                    expected=lambda i: {"o": -i["a"].reshape(20, 12).T.ravel()})


def masked_body() -> Program:
    """A shifted read under a mask, inside another; NaN outside."""
    a = _floats(64)
    nodes = (value_of(apply("ge", X, 3), "i1"), load("a", apply("add", X, -3)), op("neg", 1), masked(0, 2, other="nan"),
             load("a", mask=0, other="-1.5"), store("o", 3), store("p", 4))

    def expected(i: Arrays) -> Arrays:
        x = np.arange(64)
        return {"o": np.where(x >= 3, -np.roll(i["a"], 3), np.nan).astype(np.float32),
                "p": np.where(x >= 3, i["a"], -1.5).astype(np.float32)}

    return _program((64,), {"a": a}, (out("o", "fp32", 64), out("p", "fp32", 64)), nodes, tiles(16),
                    tiles(128, static=True), expected=expected)


def gather() -> Program:
    """Indices of both signs, wrapped once; the same address read under two masks."""
    a, k = _ints(-99, 99, 37, np.int64), _ints(-37, 37, 50, np.int64)
    nodes = (load("k"), load("a", Sym("v0"), checked=True), value_of(apply("lt", X, 20), "i1"),
             load("k", mask=2, other="7"), value_of(apply("lt", X, 30), "i1"), load("k", mask=4, other="9"),
             op("sub", 5, 3), store("o", 1), store("p", 6))

    def expected(i: Arrays) -> Arrays:
        x = np.arange(50)
        return {"o": i["a"][i["k"]], "p": np.where(x < 30, i["k"], 9) - np.where(x < 20, i["k"], 7)}

    return _program((50,), {"a": a, "k": k}, (out("o", "i64", 50), out("p", "i64", 50)), nodes,
                    tiles(64), tiles(16, index_dtype="i64", static=True),
                    expected=expected)


def guarded_gather() -> Program:
    """Indices that are out of range wherever the mask is false."""
    a, k = _ints(-99, 99, 37, np.int64), _ints(0, 100, 50, np.int64)
    nodes = (load("k"), constant("37", "i64"), op("lt", 0, 1), load("a", Sym("v0"), mask=2, other="5", checked=True),
             store("o", 3))
    return _program((50,), {"a": a, "k": k}, (out("o", "i64", 50),), nodes, tiles(32),
                    tiles(64, static=True),
                    expected=lambda i: {"o": np.where(i["k"] < 37, i["a"][np.minimum(i["k"], 36)], 5)})


def constants() -> Program:
    """-0.0, an fp64 fraction, the largest u64, a signed comparison, a bit cast, Booleans stored as bytes."""
    b, a = np.array([0, 1, 2, 255, 0, 128], np.uint8).view(np.int8), _ints(-3, 3, 6)
    nodes = (constant("-0.0", "fp64"), constant("0.1", "fp64"), constant("18446744073709551615", "u64"), load("b"),
             load("a"), constant("0", "i32"), op("lt", 4, 5), cast(4, "fp32", bitcast=True),
             *(store(f"o{k}", v) for k, v in enumerate((0, 1, 2, 3, 6, 7))))
    dtypes = ("fp64", "fp64", "u64", "i1", "i1", "fp32")
    outputs = tuple(out(f"o{k}", dtype, 6) for k, dtype in enumerate(dtypes))
    return _program((6,), {"a": a, "b": b}, outputs, nodes, tiles(8),
                    tiles(2, static=True), truth="b", expected=lambda i: {
        "o0": np.full(6, -0.0), "o1": np.full(6, 0.1), "o2": np.full(6, 2**64 - 1, np.uint64),
        "o3": (i["b"] != 0).astype(np.int8), "o4": (i["a"] < 0).astype(np.int8), "o5": i["a"].view(np.float32)})


def expressions() -> Program:
    """Floor division of negatives, a product beyond 32 bits, a quotient beyond fp32, a rounding to even."""
    x = apply("add", X, -7)
    quotient = apply("int_true_div", apply("add", X, 16777217), 3)
    half = apply("float_true_div", apply("to_float", X), apply("to_float", 2))
    third = apply("mul", apply("to_float", X), apply("float_true_div", apply("to_float", 1), apply("to_float", 3)))
    wide = apply("floordiv", apply("mul", X, 2**33), 2**32)
    rounded = apply("round_to_int", half)
    values = (apply("floordiv", x, 4), apply("python_mod", x, 4), wide, quotient, rounded, third)
    kinds = ("i64", "i64", "i64", "fp64", "i64", "fp64")
    nodes = (*map(value_of, values, kinds), *(store(f"o{k}", k) for k in range(6)))
    outputs = tuple(out(f"o{k}", kind, 16) for k, kind in enumerate(kinds))
    x_all = np.arange(16)
    return _program((16,), {}, outputs, nodes, tiles(4), tiles(16, static=True),
                    expected=lambda i: {"o0": (x_all - 7) // 4, "o1": (x_all - 7) % 4, "o2": x_all * 2,
                                        "o3": (x_all + 16777217) / 3, "o4": np.rint(x_all / 2).astype(np.int64),
                                        "o5": x_all * (1 / 3)})


def folds() -> Program:
    """Every integer reduction at once, negative elements, then an epilogue that needs r again."""
    a = _ints(-90, -10, 6 * 37)
    kinds: tuple[Any, ...] = ("sum", "prod", "max", "min", "xor_sum", "any", "all", "argmax", "argmin")
    nodes = (load("a", row_major(37)), *(reduce(kind, 0) for kind in kinds), op("sub", 0, 3),
             store("rest", 10, row_major(37)), *(store(f"{kind}0", k + 1) for k, kind in enumerate(kinds)))
    dtypes = {"any": "i1", "all": "i1", "argmax": "i64", "argmin": "i64"}
    outputs = tuple(out(f"{kind}0", dtypes.get(kind, "i32"), 6) for kind in kinds)

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(6, 37)
        wrapped = {"sum0": rows.sum(1, dtype=np.int32), "prod0": rows.prod(1, dtype=np.int32)}
        return {**wrapped, "max0": rows.max(1), "min0": rows.min(1), "xor_sum0": np.bitwise_xor.reduce(rows, 1),
                "any0": rows.any(1).astype(np.int8), "all0": rows.all(1).astype(np.int8), "argmax0": rows.argmax(1),
                "argmin0": rows.argmin(1), "rest": (rows - rows.max(1)[:, None]).ravel()}

    return _program((6,), {"a": a}, (out("rest", "i32", 222), *outputs), nodes, *FOLDS, r=37, expected=expected)


def ties() -> Program:
    """argmax among few values, with NaN; all false rows; the element that equals the padding."""
    a = GENERATOR.choice(np.array([1, 2, -np.inf], np.float32), 6 * 37)
    a[37:74], a[80], a[140:143] = -np.inf, np.nan, np.nan
    nodes = (load("a", row_major(37)), reduce("argmax", 0), reduce("max", 0), op("isinf", 0), reduce("all", 3),
             store("o", 1), store("p", 2), store("q", 4))

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(6, 37)
        return {"o": rows.argmax(1), "p": rows.max(1), "q": np.isinf(rows).all(1).astype(np.int8)}

    return _program((6,), {"a": a}, (out("o", "i64", 6), out("p", "fp32", 6), out("q", "i1", 6)), nodes, *FOLDS, r=37,
                    expected=expected)


def variance() -> Program:
    """Welford's three results, and their recombination."""
    a = _floats(6 * 37) + 3
    nodes = (load("a", row_major(37)), reduce("welford", 0), part(1), part(1, 1), part(1, 2), constant("0.0", "fp32"),
             constant("1.0", "fp32"), reduce("welford_combine", 0, 5, 6), part(7, 1),
             *(store(f"o{k}", v) for k, v in enumerate((2, 3, 4, 8))))

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(6, 37).astype(np.float64)
        m2 = rows.var(1) * 37
        return {"o0": rows.mean(1), "o1": m2, "o2": np.full(6, 37.0), "o3": m2}

    return _program((6,), {"a": a}, [out(f"o{k}", "fp32", 6) for k in range(4)], nodes, *FOLDS, r=37, tolerance=1e-5,
                    expected=expected)


def scans() -> Program:
    """A sum, a non-commutative "second", affine maps, a running argmax; one combine function per body."""
    a, b = _ints(-9, 9, 3 * 37, np.int64), _ints(-2, 3, 3 * 37, np.int64)
    nodes = (load("a", row_major(37)), load("b", row_major(37)), scan("sum", 0), scan("second", 0),
             scan("affine", 1, 0), part(4, 1), value_of(R, "i64"), scan("argmax", 0, 6), part(7, 1),
             *(store(f"o{n}", v, row_major(37)) for n, v in enumerate((2, 3, 5, 8))))
    outputs = tuple(out(f"o{n}", "i64", 111) for n in range(4))

    def expected(i: Arrays) -> Arrays:
        rows, scale = i["a"].reshape(3, 37), i["b"].reshape(3, 37)
        shift = np.zeros((3, 37), np.int64)
        for place in range(37):
            before = shift[:, place - 1] if place else 0
            shift[:, place] = before * scale[:, place] + rows[:, place]
        best = np.array([[row[: place + 1].argmax() for place in range(37)] for row in rows])
        return {"o0": rows.cumsum(1).ravel(), "o1": i["a"], "o2": shift.ravel(), "o3": best.ravel()}

    return _program((3,), {"a": a, "b": b}, outputs, nodes, *ROWS, r=37, expected=expected)


def split_scan() -> Program:
    """Several programs per row, rows after one another; the last element of a row stored once."""
    a = _ints(-1000, 1000, 3 * 100)
    nodes = (load("a", row_major(100)), scan("sum", 0), load("a"), store("o", 1, row_major(100)),
             store("p", 2, apply("mul", X, 0), mode="atomic_add"))
    split = tiles(1, reduction="split", r_block=16)
    outputs = (out("o", "i32", 300), buffer("p", "i32", 1, "inout"))
    return _program((3,), {"a": a, "p": np.array([5], np.int32)}, outputs, nodes, split,
                    replace(split, r_block=32, static=True, index_dtype="i64"), LOOPED, r=100, expected=lambda i: {
        "o": i["a"].reshape(3, 100).cumsum(1, dtype=np.int32).ravel(), "p": i["p"] + i["a"][:3].sum()})


def sorting() -> Program:
    """Descending, few distinct keys, NaN first; positions; a length that is no power of two."""
    a = GENERATOR.choice(np.array([1, 2, 3, np.nan, -np.inf, 0], np.float32), 4 * 11)
    nodes = (load("a", row_major(11)), Sort(arg=0, descending=True), part(1), part(1, 1), store("o", 2, row_major(11)),
             store("p", 3, row_major(11)))

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(4, 11)
        order = np.array([sorted(range(11), key=lambda j, row=row: (
            not np.isnan(row[j]), 0.0 if np.isnan(row[j]) else -row[j], j)) for row in rows])
        return {"o": np.take_along_axis(rows, order, 1).ravel(), "p": order.astype(np.int16).ravel()}

    return _program((4,), {"a": a}, (out("o", "fp32", 44), out("p", "i16", 44)), nodes, tiles(2),
                    tiles(4, static=True), Schedule(no_x_dim=True), r=11, expected=expected)


def search() -> Program:
    """Both sides of equal boundaries."""
    a, b = _ints(-3, 9, 40), np.array([-1, 0, 0, 3, 3, 7], np.int32)
    nodes = (load("a"), Bucketize(arg=0, boundaries="b", size=6),
             Bucketize(arg=0, boundaries="b", size=6, right=True, dtype="i32"), store("o", 1), store("p", 2))
    return _program((40,), {"a": a, "b": b}, (out("o", "i64", 40), out("p", "i32", 40)), nodes,
                    tiles(16), tiles(64, static=True),
                    expected=lambda i: {"o": np.searchsorted(i["b"], i["a"]),
                                        "p": np.searchsorted(i["b"], i["a"], side="right").astype(np.int32)})


def random_numbers() -> Program:
    """randint64 of more offsets than 8 bits count, from the second of three seeds, in [0, 2)."""
    seeds = np.array([11, 22, 33], np.int64)
    nodes = (value_of(X, "i32"), Random(kind="randint64", seeds="s", slot=1, offset=0, low=0, high=2), store("o", 1))
    return _program((600,), {"s": seeds}, (out("o", "i64", 600),), nodes, tiles(256),
                    tiles(64, static=True, index_dtype="i64"),
                    expected=lambda i: {"o": randint64(22, np.arange(600), np.int64(0), np.int64(2))})


def in_place() -> Program:
    """A column read and overwritten by each row, whose sum is taken of something else; an addition from every point."""
    a, io, total = _ints(-9, 9, 6 * 37), _ints(-9, 9, 6), _ints(0, 5, 4)
    nodes = (load("a", row_major(37)), reduce("sum", 0), load("io"), op("add", 1, 2), store("io", 3), op("mul", 0, 2),
             store("o", 5, row_major(37)), store("total", 2, apply("mod", X, 4), mode="atomic_add"))

    def expected(i: Arrays) -> Arrays:
        rows = i["a"].reshape(6, 37)
        added = i["total"].copy()
        np.add.at(added, np.arange(6) % 4, i["io"])
        return {"io": (rows.sum(1) + i["io"]).astype(np.int32), "o": (rows * i["io"][:, None]).ravel(), "total": added}

    outputs = (buffer("io", "i32", 6, "inout"), out("o", "i32", 222), buffer("total", "i32", 4, "inout"))
    return _program((6,), {"a": a, "io": io, "total": total}, outputs, nodes, *FOLDS,
                    replace(LOOPED, lift_loads=False), r=37, expected=expected)


def halves() -> Program:
    """300 * 300 / 300 in fp16: 300 where halves are widened, infinity where every node rounds."""
    a = np.array([300, 2, 3, 60000], np.float16)
    nodes = (load("a"), op("mul", 0, 0), op("truediv", 1, 0), store("o", 2))
    return _program((4,), {"a": a}, (out("o", "fp16", 4),), nodes, tiles(4), expected=lambda i: {"o": i["a"]})


def tall() -> Program:
    """More rows than the grid axis y has programs."""
    a = _ints(-99, 99, 70000)
    nodes = (load("a"), op("neg", 0), store("o", 1))
    return _program((70000, 1), {"a": a}, (out("o", "i32", 70000),), nodes, tiles(1, 1),
                    expected=lambda i: {"o": -i["a"]})


PROGRAMS: dict[str, Callable[[], Program]] = {
    function.__name__: function for function in (
        pointwise, transposed, masked_body, gather, guarded_gather, constants, expressions, folds, ties, variance,
        scans, split_scan, sorting, search, random_numbers, in_place, halves)}
DEVICE_PROGRAMS: dict[str, Callable[[], Program]] = {"tall": tall}
"""Too many programs for the interpreter."""
