"""Illegal and hostile graphs are refused in one line, before anything is computed (codegen.md §3 to §8)."""

import functools
import time
from typing import Any

import pytest
from msgspec.structs import replace

from tests.kernels.codegen.catalogue import row_major
from tests.kernels.codegen.nodes import (
    X,
    apply,
    asm,
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
    value_of,
)
from tridiff.kernels.codegen.graph import Bucketize, Expr, Graph, Node, Num, Random, Schedule, Sort, Sym
from tridiff.kernels.codegen.legality import IllegalGraph, check, types

each = pytest.mark.parametrize
ROW = row_major(4)
BUFFERS = (buffer("a", "fp32", 64), buffer("k", "i64", 64), buffer("h", "fp16", 64), buffer("b", "i1", 64))
OUT = out("o", "fp32", 64)


def graph(*nodes: Node, stored: int | None = None, index: Expr = X, r: int | None = None, **more: Any) -> Graph:
    last = store("o", len(nodes) - 1 if stored is None else stored, index)
    return Graph(outer=(8,), r=r, buffers=(*BUFFERS, OUT), nodes=(*nodes, last), **more)


A, K, H, B = (load(name) for name in "akhb")
C = constant("1", "fp32")
T = value_of(apply("lt", X, 3), "i1")

LEGAL: dict[str, tuple[Graph, tuple[str, ...]]] = {
    "cast": (graph(A, cast(0, "bf16")), ("fp32", "bf16")),
    "sum of halves": (graph(H, reduce("sum", 0), r=4), ("fp16", "fp32")),
    "scan of halves": (graph(H, scan("sum", 0), index=ROW, r=4), ("fp16", "fp16")),
    "comparison": (graph(A, op("lt", 0, 0)), ("fp32", "i1")),
    "argmax": (graph(A, reduce("argmax", 0), r=4), ("fp32", "i64")),
    "any of Booleans": (graph(B, reduce("any", 0), r=4), ("i1", "i1")),
    "max of Booleans": (graph(B, reduce("max", 0), r=4), ("i1", "i1")),
    "sum of Booleans": (graph(B, reduce("sum", 0), r=4), ("i1", "i32")),
    "shifted under a mask": (graph(T, load("a", apply("add", X, 61), mask=0)), ("i1", "fp32")),
    "shifted in a body": (graph(T, load("a", apply("add", X, 61)), masked(0, 1)), ("i1", "fp32", "fp32")),
    "not affine, but a permutation": (graph(A, index=apply("mod", apply("mul", X, 3), 8)), ("fp32",)),
    "read backwards": (graph(load("a", apply("add", 63, apply("neg", X)))), ("fp32",))}


@each("name", LEGAL)
def test_legal(name: str):
    subject, expected = LEGAL[name]
    check(subject)
    assert tuple(one[0] for one in types(subject) if one) == expected


def far(distance: int) -> Expr:
    return apply("add", X, distance)


ILLEGAL: dict[str, tuple[Graph, str]] = {
    "a later node": (graph(op("neg", 3)), "does not come before"),
    "itself": (graph(op("neg", 0)), "does not come before"), "no such buffer": (graph(load("zz")), "no buffer 'zz'"),
    "no such operation": (graph(A, op("digamma", 0)), "digamma does not take"),
    "wrong operand types": (graph(A, K, op("add", 0, 1)), "add does not take"),
    "halves that need a cast": (graph(A, H, op("mul", 0, 1)), "mul does not take"),
    "constant out of range": (graph(constant("256", "u8")), "integer from 0 to 255"),
    "constant of words": (graph(constant("__import__('os')", "fp32")), "is no fp32"),
    "unknown dtype": (graph(A, cast(0, "i128")), "unknown dtype"),
    "bitcast of another width": (graph(A, cast(0, "i64", bitcast=True)), "widths differ"),
    "mask that is no condition": (graph(A, masked(0, 0)), "mask is fp32"),
    "index out of range": (graph(load("a", far(57))), "may leave buffer a"),
    "index below zero": (graph(load("a", far(-1))), "may leave buffer a"),
    "mask too wide": (graph(value_of(apply("lt", X, 5), "i1"), load("a", far(60), mask=0)), "may leave buffer a"),
    "mask by data": (graph(B, load("a", far(60), mask=0)), "may leave buffer a"),
    "indirect without a check": (graph(K, load("a", Sym("v0"))), "depends on data"),
    "indirect by a float": (graph(A, load("a", Sym("v0"), checked=True)), "not an integer"),
    "index that is real": (graph(load("a", apply("to_float", X))), "integer expression"),
    "division by zero": (graph(value_of(apply("floordiv", 1, X))), "never 0"),
    "two points to one element": (graph(A, index=Num(0)), "store to one element"),
    "all points but one apart": (graph(A, index=apply("min", X, 6)), "store to one element"),
    "store without an output": (graph(A, store("a", 0), stored=0), "is an input"),
    "two stores to one output": (graph(A, store("o", 0), stored=0), "exactly one store"),
    "reading an output": (graph(load("o")), "only its store"),
    "a store as operand": (graph(A, store("o", 0), op("neg", 1)), "no value"),
    "no reduction axis": (graph(A, reduce("sum", 0)), "no axis r"),
    "largest of nothing": (graph(A, reduce("max", 0), r=0), "empty axis"),
    "all results at once": (graph(A, reduce("welford", 0), r=2), "take one of them with a Part"),
    "third of two results": (graph(A, scan("affine", 0, 0), part(1, 2), r=2), "has 2 results"),
    "part of one": (graph(A, part(0)), "takes nodes with several"),
    "xor of floats": (graph(A, reduce("xor_sum", 0), r=2), "takes integers"),
    "sum scan of Booleans": (graph(B, scan("sum", 0), r=2), "no sum scan of i1"),
    "affine of two types": (graph(A, K, scan("affine", 0, 1), r=2), "one dtype"),
    "long sort": (graph(A, Sort(arg=0), part(1), r=513), "at most 512"),
    "boundaries of another type": (graph(A, Bucketize(arg=0, boundaries="k", size=3)), "holds i64, not fp32"),
    "more boundaries than elements": (graph(K, Bucketize(arg=0, boundaries="k", size=65)), "not 65"),
    "seeds of another type": (graph(K, Random(kind="rand", seeds="a", slot=0, offset=0)), "holds fp32"),
    "empty range": (graph(K, Random(kind="randint64", seeds="k", slot=0, offset=0, low=4, high=4)), "below high"),
    "assembly of floats": (graph(A, asm("popc", 0)), "takes 1 operands of type i32"),
    "deep expression": (graph(value_of(functools.reduce(lambda e, _: apply("neg", e), range(13), X))), "too large")}


@each("name", ILLEGAL)
def test_refused_in_one_line(name: str):
    subject, reason = ILLEGAL[name]
    with pytest.raises(IllegalGraph) as caught:
        check(subject)
    assert reason in str(caught.value) and "\n" not in str(caught.value), str(caught.value)


def refused(reason: str, subject: Graph) -> None:
    with pytest.raises(IllegalGraph, match=reason):
        check(subject)


def test_in_place_reads_have_the_index_of_the_store():
    inout = replace(OUT, role="inout")
    same, other = (Graph(outer=(8,), buffers=(inout,), nodes=(load("o"), store("o", 0, index)))
                   for index in (X, far(1)))
    check(same)
    refused("index of its store", other)


def test_additions_and_reads_do_not_mix():
    nodes = (load("o"), store("o", 0, Num(0), mode="atomic_add"))
    refused("cannot be loaded", Graph(outer=(8,), buffers=(replace(OUT, role="inout"),), nodes=nodes))
    small = replace(OUT, dtype="i8", role="inout")
    refused("no atomic_add on i8", Graph(outer=(8,), buffers=(small,), nodes=(constant("1", "i8"), nodes[1])))


def test_work_is_bounded():
    """A graph of 2^93 points, and an index that would have to be tried at 2^30 points, are refused at once."""
    start = time.perf_counter()
    refused("points", replace(graph(A), outer=(2**31, 2**31, 2**31)))
    refused(r"cannot be told|may leave", replace(graph(C, index=apply("mod", apply("mul", X, 3), 64)), outer=(2**30,)))
    assert time.perf_counter() - start < 5


def test_a_schedule_that_does_not_fit_is_named():
    refused("schedule 1: blocks must be powers of two", graph(A, schedules=(Schedule(), Schedule(x_blocks=(3,)))))


def test_sorts_need_persistent_schedules_and_scans_no_cooperation():
    sort = graph(A, Sort(arg=0), part(1), index=ROW, r=4, schedules=(Schedule(reduction="looped", x_blocks=(1,)),))
    refused("sort needs a persistent schedule", sort)
    scans: dict[Any, tuple[tuple[Node, ...], str]] = {
        "cooperative": ((A, scan("sum", 0)), "cannot be cooperative"),
        "split": ((A, scan("affine", 0, 0), part(1)), "one argument")}
    for kind, (nodes, reason) in scans.items():
        refused(reason, graph(*nodes, index=ROW, r=4, schedules=(Schedule(reduction=kind, x_blocks=(1,)),)))
