"""Integers beyond 32 bits that torch.compile forms of coordinates.

Inductor carries arithmetic on `torch.arange` on as an index expression, whatever the type of the tensor, and the kernel
computes that in the type of its coordinates, int32 for all but huge tensors; only the result is converted to int64
(pytorch#175966). Values that were loaded are tensors of their own type, and so is what is computed of them. torch 2.11
does not convert the result either: sums, products and folds of it are int32 as well, until a constant or a loaded value
of 64 bits comes in.
"""

from math import log2

from msgspec.structs import replace

from tridiff.fuzz.known.coordinates import INT32, Carried, carried_on, function, interval, within, without_doubles
from tridiff.fuzz.known.rewriting import Changes
from tridiff.kernels.codegen.domains import Analysis, expression, indirect, with_expression
from tridiff.kernels.codegen.graph import Apply, Cast, Expr, Index, Node, Num, Pointwise, Reduce
from tridiff.kernels.codegen.ranges import IllegalExpression, symbols

_AS_WIDE = ("add", "sub", "neg", "abs", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
            "where")
"""Operations whose result is at most twice their largest operand."""
_COMPUTED = ("add", "sub", "mul", "mul_add", "neg", "abs", "minimum", "maximum")
"""Operations that go on an index expression."""
_OF_NUMBERS = ("add", "mul", "min", "max", "ceildiv")
"""Functions that go on beside a number of any size."""
_TENSORS = {1: "bitwise_not", 2: "bitwise_xor", 3: "bitwise_xor"}
"""Operations that do not, by their operands."""


def beyond_int32(analysis: Analysis, position: int, node: Node) -> Changes:
    """The node without what may leave int32: of an expression the first operand of that, and an operation that is
    computed on tensors."""
    carried = carried_on(analysis.graph)
    expr = expression(node)
    if expr is not None:
        narrow = _narrowed(analysis, carried, expr)
        return {position: with_expression(node, narrow)} if narrow != expr else {}
    if not isinstance(node, Pointwise | Reduce) or analysis.dtype(position) != "i64":
        return {}
    left = position in carried.moving and not all(
        within(carried.ranges[k], INT32) for k in (position, *node.args))
    if not left and (_largest(analysis, carried, position) or 0) <= INT32[1]:
        return {}
    if isinstance(node, Reduce):
        return {position: replace(node, kind="max")} if node.kind in ("sum", "prod") else {}
    computed = {position: replace(node, op=_TENSORS[len(node.args)], args=node.args[:2])}
    return computed if function(node) in _COMPUTED else {}


def _largest(analysis: Analysis, carried: Carried, position: int) -> float | None:
    """The largest absolute value of an integer that torch 2.11 computes in int32, as it comes of coordinates and sizes
    alone; None of another."""
    node = analysis.nodes[position]
    if isinstance(node, Index):
        named = symbols(node.expr)
        try:
            fact = analysis.facts.of(node.expr)
        except IllegalExpression:
            return None
        alone = named and not any(name[0] == "v" for name in named) and fact.kind == "int"
        return float(max(map(abs, fact.interval))) if alone else None
    if position in carried.moving and analysis.dtype(position) == "i64":
        return float(max(map(abs, carried.ranges[position])))
    if isinstance(node, Cast):
        return None if node.bitcast else _largest(analysis, carried, node.arg)
    if not isinstance(node, Pointwise | Reduce) or analysis.dtype(position) not in ("i32", "i64"):
        return None
    args = [_largest(analysis, carried, one) for one in node.args[getattr(node, "op", "") == "where":]]
    known = [one for one in args if one is not None]
    if len(known) < len(args):
        return None
    if isinstance(node, Reduce):
        length = analysis.graph.r or 0
        product = known[0] if known[0] <= 1 or length < 2 else 2.0 ** min(length * log2(known[0]), 99)
        return {"sum": known[0] * length, "prod": product, "max": known[0], "min": known[0]}.get(node.kind)
    if node.op == "mul":
        return known[0] * known[1]
    return 2 * max(known) if node.op in _AS_WIDE else None


def _leaves(analysis: Analysis, carried: Carried, expr: Expr) -> bool:
    """Whether an integer of coordinates may be beyond int32, or is one of a number that is. One that was a double in
    between is a tensor, and so is what was loaded."""
    read = indirect(expr)
    if not (symbols(expr) & set(analysis.axes) or read & carried.moving) or not read <= carried.ranges.keys():
        return False
    if not without_doubles(analysis, expr):
        return False
    beyond = isinstance(expr, Apply) and expr.function in _OF_NUMBERS and any(
        isinstance(one, Num) and not within((one.value, one.value), INT32) for one in expr.args)
    return beyond or not within(interval(analysis, expr, carried.ranges), INT32)


def _numbers(expr: Apply) -> tuple[Expr, ...]:
    """The operands, without the condition of a choice."""
    return expr.args[expr.function == "where":]


def _narrowed(analysis: Analysis, carried: Carried, expr: Expr) -> Expr:
    if not isinstance(expr, Apply):
        return expr
    smaller: Expr = replace(expr, args=tuple(_narrowed(analysis, carried, one) for one in expr.args))
    while isinstance(smaller, Apply) and _leaves(analysis, carried, smaller):
        smaller = next(one for one in _numbers(smaller) if not isinstance(one, Num))
    return smaller
