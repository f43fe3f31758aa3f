"""Index expressions at many points equal Python's own arithmetic at each."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tridiff.fuzz.kinds.graphs import expressions
from tridiff.fuzz.kinds.graphs.addresses import Expressions, apply, num
from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.kernels.codegen.graph import Apply, Expr, Num, Real, Sym
from tridiff.kernels.codegen.ranges import Facts
from tridiff.oracles.by_numpy.bounded import Real as Reals

AXES = {"x0": 7, "x1": 5, "r": 4}


def python(expr: Expr, at: dict[str, int]) -> Any:
    """The expression at one point, by Python."""
    if isinstance(expr, Sym):
        return at[expr.name]
    if isinstance(expr, Num):
        return expr.value
    if isinstance(expr, Real):
        return float.fromhex(expr.value) if "0x" in expr.value else float(expr.value)
    args = [python(one, at) for one in expr.args]
    return _FUNCTIONS[expr.function](*args)


def _fold(function: Any) -> Any:
    def folded(*args: Any) -> Any:
        result = args[0]
        for one in args[1:]:
            result = function(result, one)
        return result
    return folded


_FUNCTIONS: dict[str, Any] = {
    "add": _fold(lambda a, b: a + b), "mul": _fold(lambda a, b: a * b), "neg": lambda a: -a, "abs": abs,
    "floordiv": lambda a, b: a // b, "cleandiv": lambda a, b: a // b, "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b, "python_mod": lambda a, b: a % b, "modular_indexing": lambda a, b, c: a // b % c,
    "int_true_div": lambda a, b: a / b, "float_true_div": lambda a, b: a / b, "to_float": float,
    "floor": math.floor, "floor_to_int": math.floor, "ceiling": math.ceil, "ceil_to_int": math.ceil,
    "trunc_to_int": math.trunc, "round_to_int": round, "round_decimal": round, "sqrt": math.sqrt,
    "float_pow": pow, "pow_by_natural": pow, "where": lambda a, b, c: b if a else c,
    "min": min, "max": max, "log2": math.log2, "not": lambda a: not a,
    "and": _fold(lambda a, b: a and b), "or": _fold(lambda a, b: a or b),
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    **{name: getattr(math, name) for name in ("cos", "cosh", "acos", "sin", "sinh", "asin", "tan", "tanh", "atan")}}


def symbols() -> dict[str, Any]:
    found = {}
    for place, (name, length) in enumerate(AXES.items()):
        shape = [1, 1, 1]
        shape[place] = length
        found[name] = expressions.integers(np.arange(length).reshape(shape))
    return found


@st.composite
def drawn(draw: st.DrawFn) -> Expr:
    chance = Choices(draw)
    free = Expressions(chance, Facts({name: (0, length - 1) for name, length in AXES.items()}), list(AXES))
    kind = chance.below(3)
    depth = chance.between(1, 5)
    return free.integer(depth) if kind == 0 else free.condition(depth) if kind == 1 else free.real(min(depth, 3))


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(drawn(), st.integers(0, 6), st.integers(0, 4), st.integers(0, 3))
def test_every_point_equals_pythons_answer(expr: Expr, x0: int, x1: int, r: int):
    found = expressions.evaluate(expr, symbols())
    wanted = python(expr, {"x0": x0, "x1": x1, "r": r})
    value = np.broadcast_to(found.value, (7, 5, 4))[x0, x1, r]
    if isinstance(found, Reals):
        error = np.broadcast_to(found.error, (7, 5, 4))[x0, x1, r]
        assert np.isinf(error) or abs(value - wanted) <= error
    elif not np.broadcast_to(found.open, (7, 5, 4))[x0, x1, r]:
        assert value == wanted


@pytest.mark.parametrize("expr, wanted", [
    (apply("int_true_div", num(2**53 + 1), num(1)), float(2**53)),
    (apply("int_true_div", num(2**62 + 1), num(3)), (2**62 + 1) / 3), (apply("mul", num(2**40), num(2**40)), 2**80),
    (apply("pow_by_natural", num(3), num(39)), 3**39),
    (apply("floordiv", num(-7), num(2)), -4), (apply("mod", num(-7), num(2)), 1), (apply("mod", num(7), num(-2)), -1),
    (apply("round_to_int", Real(value="2.5")), 2), (apply("round_decimal", Real(value="2.675"), num(2)), 2.67),
    (Apply(function="min", args=(Real(value="inf"), num(3))), 3.0)])
def test_edges(expr: Expr, wanted: float):
    assert expressions.evaluate(expr, {}).value.item() == wanted


def test_a_step_of_a_blurred_real_is_open():
    sine = apply("sin", Real(value="0.5"))
    expr = apply("floor_to_int", apply("add", sine, apply("neg", sine)))
    found = expressions.evaluate(apply("add", expr, num(0)), {})
    assert bool(np.asarray(found.open).all())
