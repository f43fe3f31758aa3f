"""What torch.compile computes of coordinates as one exact expression.

Inductor carries integer arithmetic on `torch.arange` on as an index expression (`IndexPropagation`), through
conversions to any type: none of them wraps or rounds, nor does what comes after, until an operation that it does not
carry makes a tensor of it.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.dead_code import with_operands
from tridiff.fuzz.kinds.graphs.rebuild import rebuilt
from tridiff.fuzz.known.graphs.form import analysis_of
from tridiff.fuzz.known.graphs.nodes import below
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.constants import integer_limits, is_float
from tridiff.kernels.codegen.domains import Analysis, expression, indirect, value_operands
from tridiff.kernels.codegen.graph import Apply, Cast, Constant, Expr, Graph, Index, Node, Num, Pointwise, Store, Sym
from tridiff.kernels.codegen.points import evaluate
from tridiff.kernels.codegen.ranges import Facts, IllegalExpression, symbols
from tridiff.kernels.codegen.symbolic import NotExact, to_sympy
from tridiff.oracles.dtypes import dtype as dtype_info

Interval = tuple[int, int]
INT32 = (-(2**31), 2**31 - 1)
_ANY = (-(2**64), 2**64)


@dataclass(frozen=True)
class Carried:
    """ranges: of the values that are carried on, exact integers, by position; moving: those that vary along axes;
    symbolic: those and what is computed of sizes that a kernel is told when it is launched."""

    ranges: dict[int, Interval]
    moving: frozenset[int]
    symbolic: frozenset[int]


def cell_of_a_sum(graph: Graph, node: Store) -> int | None:
    """The one element to which every point adds atomically; None if the node is no such sum. Any index into a buffer of
    one element is 0, and torch.compile makes it that; it knows sizes, and between which numbers an index lies."""
    if node.mode != "atomic_add":
        return None
    if next(one.length for one in graph.buffers if one.name == node.buffer) == 1:
        return 0
    by_sizes = _by_sizes(graph, node.index)
    ranges = carried_on(graph).ranges
    if by_sizes is not None or not indirect(node.index) <= ranges.keys():
        return by_sizes
    low, high = interval(analysis_of(graph), node.index, ranges)
    return low if low == high else _left(_over_axes(graph, node.index))


def _left(expr: Expr) -> int | None:
    """The number that an expression is once its terms have cancelled, as sympy has it; None if it is none."""
    try:
        found = to_sympy(expr).expand()
    except NotExact:
        return None
    return int(found) if found.is_Integer else None


def _over_axes(graph: Graph, expr: Expr) -> Expr:
    """An expression with those of the values in it that are sums and products of others."""
    if isinstance(expr, Apply):
        return Apply(function=expr.function, args=tuple(_over_axes(graph, one) for one in expr.args))
    if not isinstance(expr, Sym) or not expr.name.startswith("v"):
        return expr
    match graph.nodes[int(expr.name[1:])]:
        case Constant() as node:
            return Num(value=int(node.value))
        case Index() as node:
            return _over_axes(graph, node.expr)
        case Cast() as node:
            return _over_axes(graph, Sym(name=f"v{node.arg}"))
        case Pointwise(op="add" | "sub" | "mul" | "neg") as node:
            args = [_over_axes(graph, Sym(name=f"v{k}")) for k in node.args]
            if node.op == "sub":
                args[1] = Apply(function="neg", args=(args[1],))
            return Apply(function="mul" if node.op == "mul" else "neg" if node.op == "neg" else "add", args=tuple(args))
    return expr


def _by_sizes(graph: Graph, expr: Expr) -> int | None:
    """The value of an expression that depends on the graph's sizes alone; None of another one."""
    values: dict[str, int] = {}
    for name in symbols(expr):
        found, number = None, int(name[1:]) if name[1:].isdigit() else -1
        if name.startswith("v") and isinstance(one := graph.nodes[number], Index):
            found = _by_sizes(graph, one.expr)
        elif name.startswith("n") and 0 <= number < len(graph.outer):
            found = graph.outer[number]
        if found is None:
            return None
        values[name] = found
    return int(evaluate(expr, {name: np.asarray(value) for name, value in values.items()}))


def within(inner: Interval, outer: Interval) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


@lru_cache(maxsize=8)
def carried_on(graph: Graph) -> Carried:
    """What is carried on of a graph's values."""
    analysis = analysis_of(graph)
    ranges: dict[int, Interval] = {}
    moving, symbolic, axes = set[int](), set[int](), set(analysis.axes)
    names = axes if all(one.static for one in graph.schedules) else axes | analysis.sizes.keys()
    for position, node in enumerate(graph.nodes):
        found, read = None, set(value_operands(node))
        match node:
            case Constant() if node.dtype != "i1" and not is_float(node.dtype):
                found = (int(node.value),) * 2
            case Index() if node.dtype != "i1":
                read = indirect(node.expr)
                if read <= ranges.keys() and without_doubles(analysis, node.expr):
                    found = interval(analysis, node.expr, ranges)
            case Cast() if not node.bitcast and node.dtype != "i1":
                found = ranges.get(node.arg)
            case Pointwise() if read <= ranges.keys():
                found = _computed(function(node), [ranges[k] for k in node.args])
        if found is not None:
            ranges[position] = found
            named = symbols(node.expr) if isinstance(node, Index) else set()
            moving |= {position} if named & axes or read & moving else set()
            symbolic |= {position} if named & names or read & symbolic else set()
    return Carried(ranges, frozenset(moving), frozenset(symbolic))


def function(node: Pointwise) -> str:
    """The operation, whichever of Triton's functions it is asked of."""
    return node.op.partition("_tl")[0].partition("_libdevice")[0]


def interval(analysis: Analysis, expr: Expr, ranges: dict[int, Interval]) -> Interval:
    known = {f"v{k}": ranges[k] for k in indirect(expr) if k in ranges}
    try:
        return Facts({**analysis.ranges, **known}).of(expr).interval
    except IllegalExpression:
        return _ANY


def without_doubles(analysis: Analysis, expr: Expr) -> bool:
    """Whether an expression is one of integers throughout. What was a double in between is a tensor."""
    inner = expr.args if isinstance(expr, Apply) else ()
    try:
        return analysis.facts.of(expr).kind == "int" and all(without_doubles(analysis, one) for one in inner)
    except IllegalExpression:
        return False


def _computed(op: str, args: list[Interval]) -> Interval | None:
    (low, high), *others = args
    match op, others:
        case "neg", []:
            return -high, -low
        case "abs", []:
            return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
        case "add", [other]:
            return low + other[0], high + other[1]
        case "sub", [other]:
            return low - other[1], high - other[0]
        case "mul", [other]:
            ends = [a * b for a in (low, high) for b in other]
            return min(ends), max(ends)
        case "mul_add", [other, (least, most)]:
            ends = [a * b for a in (low, high) for b in other]
            return min(ends) + least, max(ends) + most
        case "minimum", [other]:
            return min(low, other[0]), min(high, other[1])
        case "maximum", [other]:
            return max(low, other[0]), max(high, other[1])
    return None


def _unconverted(analysis: Analysis) -> set[int]:
    """Values of coordinates and sizes whose type does not hold what is carried on for them."""
    carried = carried_on(analysis.graph)
    nodes = analysis.nodes
    read = {k for position in carried.symbolic for k in value_operands(nodes[position])}
    read |= {k for node in nodes if (expr := expression(node)) is not None for k in indirect(expr)}
    return {k for k in carried.symbolic if _loses(analysis, carried, k, read=k in read)}


def _loses(analysis: Analysis, carried: Carried, position: int, *, read: bool) -> bool:
    dtype, range_ = analysis.dtype(position), carried.ranges[position]
    node = analysis.nodes[position]
    if dtype == "i64":
        return False
    if not within(range_, INT32):
        return isinstance(node, Pointwise) or read
    if not is_float(dtype):
        return read and not within(range_, integer_limits(dtype))
    # Nor is there a -0.0.
    signed = isinstance(node, Pointwise) and node.op in ("mul", "neg") and range_[0] < 0 <= range_[1]
    return signed or (read and max(map(abs, range_)) > 2 ** dtype_info(dtype).precision)


def keeps_coordinates(case: Case) -> bool:
    """Whether a conversion of coordinates or sizes wraps or rounds, or arithmetic on them in another type than i64."""
    return isinstance(case.program, Graph) and bool(_unconverted(analysis_of(case.program)))


def with_tensors_of_coordinates(case: Case) -> Case | None:
    """The same program, whose coordinates are tensors before anything is computed of them: `v | v`."""
    graph = case.program
    assert isinstance(graph, Graph)
    analysis = analysis_of(graph)
    symbolic = carried_on(graph).symbolic
    made = below(analysis, _unconverted(analysis), into_loads=True)
    nodes: list[Node] = []
    place: dict[int, int] = {}
    for position, node in enumerate(graph.nodes):
        moved = with_operands(node, place.__getitem__)
        if isinstance(moved, Index) and position in symbolic and position in made:
            first = len(nodes)
            nodes += replace(moved, dtype="i64"), Pointwise(op="bitwise_or", args=(first, first))
            if moved.dtype != "i64":
                nodes.append(Cast(arg=first + 1, dtype=moved.dtype))
        else:
            nodes.append(moved)
        place[position] = len(nodes) - 1
    return rebuilt(case, replace(graph, nodes=tuple(nodes)))
