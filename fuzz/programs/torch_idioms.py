"""Idioms that optimising compilers get wrong, appended to a drawn program and stored beside its other results.

Each starts from a value of the program, or from its sizes, and ends where a wrong rewriting would show: in a sign, in
an infinity, in the last digit. They say nothing about how torch.compile treats them; the references do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from fuzz.programs.addresses import apply, num
from fuzz.programs.chance import Chance
from kernels.codegen.domains import Analysis
from kernels.codegen.graph import (
    MAX_NODES,
    Buffer,
    Cast,
    Constant,
    Expr,
    Graph,
    Index,
    Node,
    Part,
    Pointwise,
    Real,
    Reduce,
    Store,
    Sym,
)

INTEGERS = ("i8", "i16", "i32", "i64", "u8")
OUTPUT = "out99"
"""Where the result of an idiom goes: one name, so that findings of one kind have one signature."""
LONGEST = 6
"""Nodes of the longest idiom, with its store."""


class Tail:
    """Nodes that follow those of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.nodes: list[Node] = list(graph.nodes)
        self.row = graph.r or 1
        """Length of a row."""
        self.size = Sym(name="rn" if graph.r is not None and graph.r > 1 else f"n{len(graph.outer) - 1}")
        """One of the program's sizes."""

    def add(self, node: Node) -> int:
        """Append a node; its position."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def with_number(self, op: str, value: int, number: str, dtype: str) -> int:
        """value op number."""
        return self.add(Pointwise(op=op, args=(value, self.add(Constant(value=number, dtype=dtype)))))

    def sign(self, value: int) -> int:
        """Whether a value is negative, zeros included."""
        return self.add(Pointwise(op="signbit", args=(value,)))

    def of_sizes(self, expr: Expr, dtype: str) -> int:
        """A number made of sizes."""
        return self.add(Index(expr=expr, dtype=dtype))


Build = Callable[[Tail, int, str], tuple[int, str]]
"""From the tail, a value and its dtype to (what is to be stored, dtype of the buffer for it)."""


def _floor_quotient(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    return tail.with_number("floor_divide", value, "0.1", dtype), dtype


def _sign_of_zero_product(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    return tail.sign(tail.with_number("mul", value, "0", dtype)), "i1"


def _sign_of_zero(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    return tail.sign(tail.with_number("mul", value, "-0.0", dtype)), "i1"


def _sign_of_mantissa(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    zero = tail.with_number("mul", value, "-0.0", dtype)
    parts = tail.add(Pointwise(op="frexp", args=(zero,)))
    return tail.sign(tail.add(Part(of=parts, item=0))), "i1"


def _next_value(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    return tail.with_number("nextafter", value, "inf", dtype), dtype


def _beyond_fp8(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    return tail.add(Cast(arg=tail.with_number("mul", value, "1e30", dtype), dtype="fp8e5")), "fp8e5"


def _any_byte(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    byte = value if dtype == "u8" else tail.add(Cast(arg=value, dtype="u8"))
    return tail.add(Reduce(kind="any", args=(byte,))), "u8"


def _mean_of_infinity(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    # Only the last one: an infinity that other elements follow makes eager torch's running mean NaN.
    last = tail.add(Index(expr=apply("eq", Sym(name="r"), num(tail.row - 1)), dtype="i1"))
    infinity = tail.add(Constant(value="inf", dtype=dtype))
    row = tail.add(Pointwise(op="where", args=(last, infinity, value)))
    return tail.add(Part(of=tail.add(Reduce(kind="welford", args=(row,))), item=0)), dtype


def _size_quotient(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    return tail.of_sizes(apply("int_true_div", apply("mul", tail.size, num(16777259)), num(7)), "fp64"), "fp64"


def _size_product(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    return tail.of_sizes(apply("mul", tail.size, num(3_000_000_000)), "i64"), "i64"


def _rounded_size(tail: Tail, value: int, dtype: str) -> tuple[int, str]:
    share = apply("float_true_div", apply("to_float", tail.size), Real(value="7.0"))
    return tail.of_sizes(apply("round_decimal", share, num(2)), "fp64"), "fp64"


IDIOMS: Mapping[str, tuple[tuple[str, ...], Build]] = MappingProxyType({
    "floor_quotient": (("fp32", "fp64"), _floor_quotient),
    "sign_of_zero_product": (("fp32",), _sign_of_zero_product),
    "sign_of_zero": (("fp64",), _sign_of_zero),
    "sign_of_mantissa": (("fp32",), _sign_of_mantissa),
    "next_value": (("fp16", "bf16"), _next_value),
    "beyond_fp8": (("fp32",), _beyond_fp8),
    "any_byte": (("i1", *INTEGERS), _any_byte),
    "mean_of_infinity": (("fp32", "fp64"), _mean_of_infinity),
    "size_quotient": ((), _size_quotient), "size_product": ((), _size_product), "rounded_size": ((), _rounded_size),
})
"""(dtypes of the value that an idiom starts from, any for none; how it is built) by name."""

ALONG_R = ("any_byte", "mean_of_infinity")
"""Idioms that fold a row."""


def with_idiom(graph: Graph, chance: Chance) -> Graph:
    """The graph with one idiom after it, where there is room and a value that it can start from."""
    if chance.below(2) == 0:
        return graph
    stores = [node for node in graph.nodes if isinstance(node, Store) and node.mode == "set"
              and node.buffer.startswith("out")]
    if not stores or len(graph.nodes) + LONGEST > MAX_NODES:
        return graph
    analysis = Analysis(graph)
    store = chance.of(stores)
    dtype, in_rows = analysis.dtype(store.value), "r" in analysis.domains[store.value]
    fitting = [name for name, (dtypes, _) in IDIOMS.items()
               if (dtype in dtypes or not dtypes) and (in_rows or name not in ALONG_R)]
    name = chance.of(fitting)
    tail = Tail(graph)
    value, kind = IDIOMS[name][1](tail, store.value, dtype)
    index, length = store.index, _length(graph, store.buffer)
    if name in ALONG_R or not IDIOMS[name][0]:
        index, length = _outer(graph)
    tail.add(Store(buffer=OUTPUT, index=index, value=value))
    return replace(graph, nodes=tuple(tail.nodes),
                   buffers=(*graph.buffers, Buffer(name=OUTPUT, dtype=kind, length=length, role="out")))


def _length(graph: Graph, name: str) -> int:
    """Elements of a buffer."""
    return next(one.length for one in graph.buffers if one.name == name)


def _outer(graph: Graph) -> tuple[Expr, int]:
    """One place for every point of the outer axes, and how many there are."""
    found: Expr | None = None
    for k in range(len(graph.outer)):
        stride = math.prod(graph.outer[k + 1:])
        part: Expr = Sym(name=f"x{k}") if stride == 1 else apply("mul", Sym(name=f"x{k}"), num(stride))
        found = part if found is None else apply("add", found, part)
    assert found is not None
    return found, math.prod(graph.outer)
