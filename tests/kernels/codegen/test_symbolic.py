"""sympy as the second opinion on index expressions: both sides mean the same, point by point."""

import random

import pytest
import sympy

from tests.kernels.codegen.expression_trees import Trees, evaluate
from tridiff.kernels.codegen.graph import Apply, Expr, Num, Real, Sym
from tridiff.kernels.codegen.ranges import Facts
from tridiff.kernels.codegen.symbolic import NotExact, from_sympy, to_sympy

each = pytest.mark.parametrize
KNOWN = {"x0": (0, 40), "x1": (0, 3), "n0": (41, 41), "v7": (-100, 100)}
ROUNDING = {"floor", "ceiling", "trunc_to_int", "round_to_int", "floor_to_int", "ceil_to_int", "to_float",
            "int_true_div", "float_true_div", "sqrt", "round_decimal"}


def functions(expr: Expr) -> set[str]:
    if not isinstance(expr, Apply):
        return {"real"} if isinstance(expr, Real) else set()
    return {expr.function}.union(*(functions(one) for one in expr.args))


def exact_trees(count: int) -> list[Expr]:
    trees = Trees(11, Facts(KNOWN), tuple(KNOWN))
    found: list[Expr] = []
    while len(found) < count:
        tree = trees.tree("int", 4)
        if not functions(tree) & (ROUNDING | {"real"}):
            found.append(tree)
    return found


def points(count: int) -> list[dict[str, int]]:
    draw = random.Random(5)
    return [{name: draw.randint(*limits) for name, limits in KNOWN.items()} for _ in range(count)]


def test_both_ways_mean_what_the_expression_means():
    returned = 0
    for tree in exact_trees(150):
        symbolic = to_sympy(tree)
        try:
            back: Expr | None = from_sympy(symbolic)
            returned += 1
        except NotExact:
            back = None  # sympy has rearranged it into rational numbers
        for point in points(4):
            want = evaluate(tree, point)
            there = symbolic.subs({sympy.Symbol(name, integer=True): value for name, value in point.items()})
            assert there == want, (tree, point)
            assert back is None or evaluate(back, point) == want, (tree, back, point)
    assert returned > 120


class FloorDiv(sympy.Function):
    """Stands for Inductor's node of that name."""

    nargs = (2,)


def test_nodes_of_inductor_are_known_by_their_names():
    x = sympy.Symbol("x0", integer=True)
    assert from_sympy(FloorDiv(x, sympy.Integer(4))) == Apply("floordiv", (Sym("x0"), Num(4)))


@each("expression", [
    sympy.Rational(1, 2), sympy.sin(sympy.Symbol("x0")), sympy.Symbol("x0") ** -1, sympy.oo,
    sympy.Piecewise((1, sympy.Symbol("x0") > 3))])
def test_what_is_not_exact_is_refused(expression: sympy.Basic):
    with pytest.raises(NotExact):
        from_sympy(expression)


@each("expr", [Real("0.5"), Apply("sqrt", (Real("2.0"),)), Apply("int_true_div", (Num(1), Num(3)))])
def test_doubles_stay_here(expr: Expr):
    with pytest.raises(NotExact):
        to_sympy(expr)
