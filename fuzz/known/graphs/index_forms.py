"""Forms of index expressions: what is compiled wrong of the arithmetic that an expression over the axes makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tridiff.fuzz.known.graphs.form import Changes, Form, Result
from tridiff.fuzz.known.graphs.nodes import equal
from tridiff.kernels.codegen.domains import Analysis, expression, with_expression
from tridiff.kernels.codegen.graph import Apply, Expr, Index, Load, Num, Store

_EXTREMA = ("min", "max")


def _negated(expr: Expr) -> Expr | None:
    """What an expression is the negation of."""
    if not isinstance(expr, Apply):
        return None
    if expr.function == "neg":
        return expr.args[0]
    others = [one for one in expr.args if one != Num(value=-1)]
    return others[0] if expr.function == "mul" and len(others) == 1 and len(expr.args) == 2 else None


def _negations(expr: Expr) -> Iterator[Expr]:
    """The negations that come into an extremum of an extremum of the same kind."""
    if not isinstance(expr, Apply):
        return
    inner = [one for one in expr.args if isinstance(one, Apply) and one.function == expr.function]
    if expr.function in _EXTREMA and inner:
        yield from (one for outer in (expr, *inner) for one in outer.args if _negated(one) is not None)
    for one in expr.args:
        yield from _negations(one)


def _with(expr: Expr, new: Mapping[Expr, Expr]) -> Expr:
    if expr in new:
        return new[expr]
    if not isinstance(expr, Apply):
        return expr
    return Apply(function=expr.function, args=tuple(_with(one, new) for one in expr.args))


def _extremum_in_index(analysis: Analysis, node: Index | Load | Store) -> Result:
    """ptxas before 13.4 loses a negation in VIMNMX3 (pytorch#190973, triton#11032): ~x has none."""
    expr = expression(node)
    assert expr is not None
    found = {one: Apply(function="add", args=(one, Num(value=-1))) for one in _negations(expr)}
    return with_expression(node, _with(expr, found)) if found else None


def _negation_lost(analysis: Analysis, node: Index | Load | Store) -> Iterator[Changes]:
    """The operands themselves, all together or one of them."""
    expr = expression(node)
    assert expr is not None
    plain = {one: below for one in _negations(expr) if (below := _negated(one)) is not None}
    alone = [{one: below} for one, below in plain.items()] if len(plain) > 1 else []
    for new in (plain, *alone):
        yield dict.fromkeys(equal(analysis, node), with_expression(node, _with(expr, new)))


EXTREMUM_IN_INDEX = Form(label="extremum of three, one negated", kinds=(Index, Load, Store),
                         rewritten=_extremum_in_index, computed=_negation_lost)
