"""Illegal and hostile graphs are refused in one line, before anything is computed (codegen.md §3 to §8)."""

import functools
import time
from typing import Any

import pytest
from msgspec.structs import replace

from kernels.codegen.graph import (
    Apply,
    Asm,
    Bucketize,
    Buffer,
    Cast,
    Constant,
    Expr,
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
from kernels.codegen.legality import IllegalGraph, check, types

X = Sym("x0")
ROW = Apply("add", (Apply("mul", (X, Num(4))), Sym("r")))
BUFFERS = (Buffer(name="a", dtype="fp32", length=64), Buffer(name="k", dtype="i64", length=64),
           Buffer(name="h", dtype="fp16", length=64), Buffer(name="b", dtype="i1", length=64))
OUT = Buffer(name="o", dtype="fp32", length=64, role="out")


def graph(*nodes: Node, store: int | None = None, index: Expr = X, r: int | None = None, **more: Any) -> Graph:
    stores = (Store(buffer="o", index=index, value=len(nodes) - 1 if store is None else store),)
    return Graph(outer=(8,), r=r, buffers=(*BUFFERS, OUT), nodes=(*nodes, *stores), **more)


A, K, H, B = (Load(buffer=name, index=X) for name in "akhb")
C = Constant(value="1", dtype="fp32")
T = Index(expr=Apply("lt", (X, Num(3))), dtype="i1")

LEGAL: dict[str, tuple[Graph, tuple[str, ...]]] = {
    "cast": (graph(A, Cast(arg=0, dtype="bf16")), ("fp32", "bf16")),
    "sum of halves": (graph(H, Reduce(kind="sum", args=(0,)), r=4), ("fp16", "fp32")),
    "scan of halves": (graph(H, Scan(combine="sum", args=(0,)), index=ROW, r=4), ("fp16", "fp16")),
    "comparison": (graph(A, Pointwise(op="lt", args=(0, 0))), ("fp32", "i1")),
    "argmax": (graph(A, Reduce(kind="argmax", args=(0,)), r=4), ("fp32", "i64")),
    "any of Booleans": (graph(B, Reduce(kind="any", args=(0,)), r=4), ("i1", "i1")),
    "max of Booleans": (graph(B, Reduce(kind="max", args=(0,)), r=4), ("i1", "i1")),
    "sum of Booleans": (graph(B, Reduce(kind="sum", args=(0,)), r=4), ("i1", "i32")),
    "shifted under a mask": (graph(T, Load(buffer="a", index=Apply("add", (X, Num(61))), mask=0)), ("i1", "fp32")),
    "shifted in a body": (graph(T, Load(buffer="a", index=Apply("add", (X, Num(61)))), Masked(mask=0, arg=1)),
                          ("i1", "fp32", "fp32")),
    "not affine, but a permutation": (graph(A, index=Apply("mod", (Apply("mul", (X, Num(3))), Num(8)))), ("fp32",)),
    "read backwards": (graph(Load(buffer="a", index=Apply("add", (Num(63), Apply("neg", (X,)))))), ("fp32",)),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal(name: str) -> None:
    subject, expected = LEGAL[name]
    check(subject)
    assert tuple(one[0] for one in types(subject) if one) == expected


def far(distance: int) -> Expr:
    return Apply("add", (X, Num(distance)))


ILLEGAL: dict[str, tuple[Graph, str]] = {
    "a later node": (graph(Pointwise(op="neg", args=(3,))), "does not come before"),
    "itself": (graph(Pointwise(op="neg", args=(0,))), "does not come before"),
    "no such buffer": (graph(Load(buffer="zz", index=X)), "no buffer 'zz'"),
    "no such operation": (graph(A, Pointwise(op="digamma", args=(0,))), "digamma does not take"),
    "wrong operand types": (graph(A, K, Pointwise(op="add", args=(0, 1))), "add does not take"),
    "halves that need a cast": (graph(A, H, Pointwise(op="mul", args=(0, 1))), "mul does not take"),
    "constant out of range": (graph(Constant(value="256", dtype="u8")), "integer from 0 to 255"),
    "constant of words": (graph(Constant(value="__import__('os')", dtype="fp32")), "is no fp32"),
    "unknown dtype": (graph(A, Cast(arg=0, dtype="i128")), "unknown dtype"),
    "bitcast of another width": (graph(A, Cast(arg=0, dtype="i64", bitcast=True)), "widths differ"),
    "mask that is no condition": (graph(A, Masked(mask=0, arg=0)), "mask is fp32"),
    "index out of range": (graph(Load(buffer="a", index=far(57))), "may leave buffer a"),
    "index below zero": (graph(Load(buffer="a", index=far(-1))), "may leave buffer a"),
    "mask too wide": (graph(Index(expr=Apply("lt", (X, Num(5))), dtype="i1"), Load(buffer="a", index=far(60), mask=0)),
                      "may leave buffer a"),
    "mask by data": (graph(B, Load(buffer="a", index=far(60), mask=0)), "may leave buffer a"),
    "indirect without a check": (graph(K, Load(buffer="a", index=Sym("v0"))), "depends on data"),
    "indirect by a float": (graph(A, Load(buffer="a", index=Sym("v0"), checked=True)), "not an integer"),
    "index that is real": (graph(Load(buffer="a", index=Apply("to_float", (X,)))), "integer expression"),
    "division by zero": (graph(Index(expr=Apply("floordiv", (Num(1), X)))), "never 0"),
    "two points to one element": (graph(A, index=Num(0)), "store to one element"),
    "all points but one apart": (graph(A, index=Apply("min", (X, Num(6)))), "store to one element"),
    "store without an output": (graph(A, Store(buffer="a", index=X, value=0), store=0), "is an input"),
    "two stores to one output": (graph(A, Store(buffer="o", index=X, value=0), store=0), "exactly one store"),
    "reading an output": (graph(Load(buffer="o", index=X)), "only its store"),
    "a store as operand": (graph(A, Store(buffer="o", index=X, value=0), Pointwise(op="neg", args=(1,))), "no value"),
    "no reduction axis": (graph(A, Reduce(kind="sum", args=(0,))), "no axis r"),
    "largest of nothing": (graph(A, Reduce(kind="max", args=(0,)), r=0), "empty axis"),
    "all results at once": (graph(A, Reduce(kind="welford", args=(0,)), r=2), "take one of them with a Part"),
    "third of two results": (graph(A, Scan(combine="affine", args=(0, 0)), Part(of=1, item=2), r=2), "has 2 results"),
    "part of one": (graph(A, Part(of=0, item=0)), "takes nodes with several"),
    "xor of floats": (graph(A, Reduce(kind="xor_sum", args=(0,)), r=2), "takes integers"),
    "sum scan of Booleans": (graph(B, Scan(combine="sum", args=(0,)), r=2), "no sum scan of i1"),
    "affine of two types": (graph(A, K, Scan(combine="affine", args=(0, 1)), r=2), "one dtype"),
    "long sort": (graph(A, Sort(arg=0), Part(of=1, item=0), r=513), "at most 512"),
    "boundaries of another type": (graph(A, Bucketize(arg=0, boundaries="k", size=3)), "holds i64, not fp32"),
    "more boundaries than elements": (graph(K, Bucketize(arg=0, boundaries="k", size=65)), "not 65"),
    "seeds of another type": (graph(K, Random(kind="rand", seeds="a", slot=0, offset=0)), "holds fp32"),
    "empty range": (graph(K, Random(kind="randint64", seeds="k", slot=0, offset=0, low=4, high=4)), "below high"),
    "assembly of floats": (graph(A, Asm(body="popc", args=(0,))), "takes 1 operands of type i32"),
    "deep expression": (graph(Index(expr=functools.reduce(
        lambda e, _: Apply("neg", (e,)), range(13), X))), "too large"),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_refused_in_one_line(name: str) -> None:
    subject, reason = ILLEGAL[name]
    with pytest.raises(IllegalGraph) as caught:
        check(subject)
    assert reason in str(caught.value) and "\n" not in str(caught.value), str(caught.value)


def test_in_place_reads_have_the_index_of_the_store() -> None:
    inout = replace(OUT, role="inout")
    load = Load(buffer="o", index=X)
    for index, reason in ((X, None), (far(1), "index of its store")):
        subject = Graph(outer=(8,), buffers=(inout,), nodes=(load, Store(buffer="o", index=index, value=0)))
        if reason is None:
            check(subject)
        else:
            with pytest.raises(IllegalGraph, match=reason):
                check(subject)


def test_additions_and_reads_do_not_mix() -> None:
    nodes = (Load(buffer="o", index=X), Store(buffer="o", index=Num(0), value=0, mode="atomic_add"))
    with pytest.raises(IllegalGraph, match="cannot be loaded"):
        check(Graph(outer=(8,), buffers=(replace(OUT, role="inout"),), nodes=nodes))
    small = replace(OUT, dtype="i8", role="inout")
    with pytest.raises(IllegalGraph, match="no atomic_add on i8"):
        check(Graph(outer=(8,), buffers=(small,), nodes=(
            Constant(value="1", dtype="i8"), Store(buffer="o", index=Num(0), value=0, mode="atomic_add"))))


def test_work_is_bounded() -> None:
    """A graph of 2^93 points, and an index that would have to be tried at 2^30 points, are refused at once."""
    start = time.perf_counter()
    with pytest.raises(IllegalGraph, match="points"):
        check(replace(graph(A), outer=(2**31, 2**31, 2**31)))
    with pytest.raises(IllegalGraph, match=r"cannot be told|may leave"):
        check(replace(graph(C, index=Apply("mod", (Apply("mul", (X, Num(3))), Num(64)))), outer=(2**30,)))
    assert time.perf_counter() - start < 5


def test_a_schedule_that_does_not_fit_is_named() -> None:
    with pytest.raises(IllegalGraph, match="schedule 1: blocks must be powers of two"):
        check(graph(A, schedules=(Schedule(), Schedule(x_blocks=(3,)))))


def test_sorts_need_persistent_schedules_and_scans_no_cooperation() -> None:
    sort = graph(A, Sort(arg=0), Part(of=1, item=0), index=ROW, r=4,
                 schedules=(Schedule(reduction="looped", x_blocks=(1,)),))
    with pytest.raises(IllegalGraph, match="sort needs a persistent schedule"):
        check(sort)
    for combine, args, kind, reason in (("sum", (0,), "cooperative", "cannot be cooperative"),
                                        ("affine", (0, 0), "split", "one argument")):
        scan = Scan(combine=combine, args=args)  # type: ignore[arg-type]
        nodes: tuple[Node, ...] = (A, scan) if len(args) == 1 else (A, scan, Part(of=1, item=0))
        with pytest.raises(IllegalGraph, match=reason):
            check(graph(*nodes, index=ROW, r=4,
                        schedules=(Schedule(reduction=kind, x_blocks=(1,)),)))  # type: ignore[arg-type]
