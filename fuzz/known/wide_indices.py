"""Integers beyond 32 bits that torch.compile forms of coordinates.

Inductor carries arithmetic on `torch.arange` on as an index expression, whatever the type of the tensor, and the kernel
computes that in the type of its coordinates, int32 for all but huge tensors; only the result is converted to int64
(pytorch#175966). Values that were loaded are tensors of their own type, and so is what is computed of them. torch 2.11
does not convert the result either: sums, products and folds of it are int32 as well, until a constant or a loaded value
of 64 bits comes in.
"""

from math import log2

from msgspec.structs import replace

from tridiff.fuzz.known.rewriting import Changes
from tridiff.kernels.codegen.domains import Analysis, expression
from tridiff.kernels.codegen.graph import Apply, Cast, Constant, Expr, Index, Load, Node, Num, Pointwise, Reduce, Store
from tridiff.kernels.codegen.ranges import IllegalExpression, symbols

INT32 = (-(2**31), 2**31 - 1)
_CARRIED_ON = {"add": "add", "mul": "mul", "neg": "neg", "minimum": "min", "maximum": "max"}
"""Operations on integers that go on an index expression, as functions of one."""
_AS_WIDE = ("add", "sub", "neg", "abs", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
            "where")
"""Operations whose result is at most twice their largest operand."""
_TENSORS = {1: "bitwise_not", 2: "bitwise_xor"}
"""Operations that do not, by their operands."""


def beyond_int32(analysis: Analysis, position: int, node: Node) -> Changes:
    """The node without what may leave int32: of an expression the first operand of that, and an operation that is
    computed on tensors."""
    expr = expression(node)
    if expr is not None:
        narrow = _narrowed(analysis, expr)
        if narrow == expr:
            return {}
        return {position: replace(node, expr=narrow) if isinstance(node, Index) else replace(node, index=narrow)}
    if not isinstance(node, Pointwise | Reduce) or analysis.dtype(position) != "i64":
        return {}
    found = _carried_on(analysis, position)
    if (found is None or not _leaves(analysis, found)) and (_largest(analysis, position) or 0) <= INT32[1]:
        return {}
    if isinstance(node, Reduce):
        return {position: replace(node, kind="max")} if node.kind in ("sum", "prod") else {}
    return {position: replace(node, op=_TENSORS[len(node.args)])} if node.op in (*_CARRIED_ON, "sub") else {}


def _largest(analysis: Analysis, position: int) -> float | None:
    """The largest absolute value of an integer that torch 2.11 computes in int32, as it comes of coordinates and sizes
    alone; None of another."""
    node = analysis.graph.nodes[position]
    expr = node.expr if isinstance(node, Index) else _carried_on(analysis, position)
    if expr is not None:
        named = symbols(expr)
        try:
            fact = analysis.facts.of(expr)
        except IllegalExpression:
            return None
        alone = named and not any(name[0] == "v" for name in named) and fact.kind == "int"
        return float(max(map(abs, fact.interval))) if alone else None
    if isinstance(node, Cast):
        return None if node.bitcast else _largest(analysis, node.arg)
    if not isinstance(node, Pointwise | Reduce) or analysis.dtype(position) not in ("i32", "i64"):
        return None
    args = [_largest(analysis, one) for one in node.args[getattr(node, "op", "") == "where":]]
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


def _leaves(analysis: Analysis, expr: Expr) -> bool:
    """Whether an integer of coordinates may be beyond int32. One that was a double in between is a tensor."""
    named = symbols(expr)
    if not named & set(analysis.axes) or any(name[0] == "v" for name in named):
        return False
    try:
        fact = analysis.facts.of(expr)
    except IllegalExpression:
        return False
    if fact.kind != "int" or (INT32[0] <= fact.interval[0] and fact.interval[1] <= INT32[1]):
        return False
    return _without_doubles(analysis, expr)


def _without_doubles(analysis: Analysis, expr: Expr) -> bool:
    within = expr.args if isinstance(expr, Apply) else ()
    return analysis.facts.of(expr).kind != "real" and all(_without_doubles(analysis, one) for one in within)


def _numbers(expr: Apply) -> tuple[Expr, ...]:
    """The operands, without the condition of a choice."""
    return expr.args[expr.function == "where":]


def _narrowed(analysis: Analysis, expr: Expr) -> Expr:
    if not isinstance(expr, Apply):
        return expr
    smaller = replace(expr, args=tuple(_narrowed(analysis, one) for one in expr.args))
    while isinstance(smaller, Apply) and _leaves(analysis, smaller):
        smaller = next(one for one in _numbers(smaller) if not isinstance(one, Num))
    return smaller


def _carried_on(analysis: Analysis, position: int) -> Expr | None:
    """A value of 64 bits as an expression of coordinates, if torch.compile takes it for one."""
    node = analysis.graph.nodes[position]
    if analysis.dtype(position) != "i64" or isinstance(node, Load | Store):
        return None
    if isinstance(node, Constant):
        return Num(value=int(node.value))
    if isinstance(node, Index):
        return node.expr
    if not isinstance(node, Pointwise) or node.op not in _CARRIED_ON:
        return None
    args = [_carried_on(analysis, one) for one in node.args]
    known = tuple(one for one in args if one is not None)
    return Apply(function=_CARRIED_ON[node.op], args=known) if len(known) == len(args) else None
