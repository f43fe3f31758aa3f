"""Idioms that optimising compilers get wrong, appended to a drawn program and stored beside its other results.

Each starts from a value of the program, or from its sizes, and ends where a wrong rewriting would show: in a sign, in
an infinity, in the last digit. They say nothing about how torch.compile treats them; the references do.
"""

import math
from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.addresses import apply, num, times
from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.fuzz.kinds.graphs.draft import inexact
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import (
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
    """Nodes that follow those of a graph, from one of its values on."""

    def __init__(self, graph: Graph, value: int, dtype: str) -> None:
        self.nodes: list[Node] = list(graph.nodes)
        self.value, self.dtype = value, dtype
        self.row = graph.r or 1
        """Length of a row."""
        self.size = Sym(name="rn" if graph.r is not None and graph.r > 1 else f"n{len(graph.outer) - 1}")
        """One of the program's sizes."""

    def add(self, node: Node) -> int:
        """Append a node; its position."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def with_number(self, op: str, number: str) -> int:
        """value op number."""
        return self.add(Pointwise(op=op, args=(self.value, self.add(Constant(value=number, dtype=self.dtype)))))

    def sign(self, value: int) -> int:
        """Whether a value is negative, zeros included."""
        return self.add(Pointwise(op="signbit", args=(value,)))

    def first_part(self, node: Node) -> int:
        """The first result of a node that has several."""
        return self.add(Part(of=self.add(node), item=0))

    def any_byte(self) -> int:
        """Whether any element of a row, cut to a byte, is not 0."""
        byte = self.value if self.dtype == "u8" else self.add(Cast(arg=self.value, dtype="u8"))
        return self.add(Reduce(kind="any", args=(byte,)))

    def mean_of_infinity(self) -> int:
        """The mean of a row whose last element is infinite. Only the last one: an infinity that other elements follow
        makes eager torch's running mean NaN."""
        last = self.add(Index(expr=apply("eq", Sym(name="r"), num(self.row - 1)), dtype="i1"))
        infinity = self.add(Constant(value="inf", dtype=self.dtype))
        row = self.add(Pointwise(op="where", args=(last, infinity, self.value)))
        return self.first_part(Reduce(kind="welford", args=(row,)))


Build = Callable[[Tail], int]

IDIOMS: Mapping[str, tuple[tuple[str, ...], str, Build]] = MappingProxyType({
    "floor_quotient": (("fp32", "fp64"), "", lambda tail: tail.with_number("floor_divide", "0.1")),
    "sign_of_zero_product": (("fp32",), "i1", lambda tail: tail.sign(tail.with_number("mul", "0"))),
    "sign_of_zero": (("fp64",), "i1", lambda tail: tail.sign(tail.with_number("mul", "-0.0"))),
    "sign_of_mantissa": (("fp32",), "i1", lambda tail: tail.sign(
        tail.first_part(Pointwise(op="frexp", args=(tail.with_number("mul", "-0.0"),))))),
    "next_value": (("fp16", "bf16"), "", lambda tail: tail.with_number("nextafter", "inf")),
    "beyond_fp8": (("fp32",), "fp8e5", lambda tail: tail.add(
        Cast(arg=tail.with_number("mul", "1e30"), dtype="fp8e5"))),
    "any_byte": (("i1", *INTEGERS), "u8", Tail.any_byte),
    "mean_of_infinity": (("fp32", "fp64"), "", Tail.mean_of_infinity),
    "size_quotient": ((), "fp64", lambda tail: tail.add(Index(dtype="fp64", expr=apply(
        "int_true_div", apply("mul", tail.size, num(16777259)), num(7))))),
    "size_product": ((), "i64", lambda tail: tail.add(Index(expr=apply("mul", tail.size, num(3_000_000_000))))),
    "rounded_size": ((), "fp64", lambda tail: tail.add(Index(dtype="fp64", expr=apply("round_decimal", apply(
        "float_true_div", apply("to_float", tail.size), Real(value="7.0")), num(2))))),
})
"""(dtypes of the value that an idiom starts from, any for none; dtype of the buffer for its result, "" for that of the
value; how it is built: the position of what is to be stored) by name."""

ALONG_R = ("any_byte", "mean_of_infinity")
"""Idioms that fold a row."""


def with_idiom(graph: Graph, chance: Choices) -> Graph:
    """The graph with one idiom after it, where there is room and a value that it can start from."""
    if chance.below(2) == 0:
        return graph
    stores = [node for node in graph.nodes if isinstance(node, Store) and node.mode == "set"
              and node.buffer.startswith("out")]
    if not stores or len(graph.nodes) + LONGEST > MAX_NODES:
        return graph
    analysis = Analysis(graph)
    # The sign or the last bit of what is known but for an error is often open: of such values one time in four.
    blurred = inexact(analysis) if chance.below(4) else frozenset()
    store = chance.of([one for one in stores if one.value not in blurred] or stores)
    dtype, in_rows = analysis.dtype(store.value), "r" in analysis.domains[store.value]
    fitting = [name for name, (dtypes, *_) in IDIOMS.items()
               if (dtype in dtypes or not dtypes) and (in_rows or name not in ALONG_R)]
    name = chance.of(fitting)
    starts, kind, build = IDIOMS[name]
    tail = Tail(graph, store.value, dtype)
    value = build(tail)
    index, length = store.index, next(one.length for one in graph.buffers if one.name == store.buffer)
    if name in ALONG_R or not starts:
        index, length = _outer(graph), math.prod(graph.outer)
    tail.add(Store(buffer=OUTPUT, index=index, value=value))
    return replace(graph, nodes=tuple(tail.nodes),
                   buffers=(*graph.buffers, Buffer(name=OUTPUT, dtype=kind or dtype, length=length, role="out")))


def _outer(graph: Graph) -> Expr:
    """One place for every point of the outer axes."""
    strides = [math.prod(graph.outer[k + 1:]) for k in range(len(graph.outer))]
    return reduce(lambda found, part: apply("add", found, part),
                  (times(Sym(name=f"x{k}"), stride) for k, stride in enumerate(strides)))
