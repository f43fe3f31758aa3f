"""Interpreter checks of printed index expressions against exact arithmetic."""

import itertools
import math
from typing import Any

from tests.kernels.codegen.expression_trees import Trees, evaluate
from tests.kernels.codegen.graph_runs import run
from tests.kernels.codegen.nodes import X, Y, apply, cast, out, store, tiles, value_of
from tridiff.fuzz.interpreter import repaired
from tridiff.kernels.codegen.graph import Expr, Graph, Node, Real, Schedule, Sym
from tridiff.kernels.codegen.launch import check, plan
from tridiff.kernels.codegen.ranges import Facts

OUTER = (5, 4, 3)
KNOWN = {"x0": (0, 4), "x1": (0, 3), "x2": (0, 2), "n0": (5, 5), "n1": (4, 4), "n2": (3, 3)}
DENSE = apply("add", apply("mul", X, 12), apply("mul", Y, 3), Sym("x2"))
KINDS = {"int": "i64", "real": "fp64", "bool": "i1"}
SCHEDULES = (tiles(64), tiles(64, static=True),
             tiles(16, 4, index_dtype="i64"),
             tiles(4, 4, 8, static=True, unspecialised=True))


def graph_of(trees: list[Expr], facts: Facts) -> Graph:
    """One kernel that stores the value of each tree at every point."""
    nodes: list[Node] = []
    buffers = []
    for number, tree in enumerate(trees):
        dtype = KINDS[facts.of(tree).kind]
        buffers.append(out(f"out{number}", dtype, 60))
        nodes.append(value_of(tree, dtype))
        nodes.append(store(f"out{number}", len(nodes) - 1, DENSE))
    return Graph(outer=OUTER, buffers=tuple(buffers), nodes=tuple(nodes))


def points() -> list[dict[str, int]]:
    sizes = {"n0": 5, "n1": 4, "n2": 3}
    return [{"x0": x0, "x1": x1, "x2": x2, **sizes} for x0, x1, x2 in itertools.product(range(5), range(4), range(3))]


def same(got: Any, want: Any, ulps: int = 0) -> bool:
    if want is None:
        return True
    if isinstance(want, float):
        if math.isnan(want) or math.isnan(got):
            return math.isnan(want) == math.isnan(got)
        return (got == want and math.copysign(1, got) == math.copysign(1, want)) or bool(
            0 < abs(got - want) <= ulps * math.ulp(want))
    return int(got) == int(want)


def compare(trees: list[Expr], schedule: Schedule, *, ulps: int = 0) -> None:
    facts = Facts(KNOWN)
    graph = graph_of(trees, facts)
    with repaired():
        outputs = run(graph, schedule, {})
    for number, tree in enumerate(trees):
        for place, values in enumerate(points()):
            got, want = outputs[f"out{number}"][place], evaluate(tree, values)
            assert same(got, want, ulps), f"{tree} at {values}: {got!r}, exactly {want!r}"


def check_random_trees():
    """Depth up to 6, all kinds, sizes as literals and as arguments, int32 and int64."""
    facts = Facts(KNOWN)
    for seed in range(4):
        source = Trees(seed, facts, tuple(KNOWN))
        trees = [source.tree(kind, depth) for kind in ("int", "int", "real", "bool") for depth in range(1, 7)]
        compare(trees[:20], SCHEDULES[seed % len(SCHEDULES)])


def check_every_elementary_function():
    x = apply("to_float", apply("add", DENSE, 1))
    small = apply("float_true_div", apply("to_float", DENSE), Real("60.0"))
    trees = [apply(name, x) for name in ("cos", "sin", "tan", "atan", "log2", "sqrt", "tanh")]
    trees += [apply(name, small) for name in ("acos", "asin", "cosh", "sinh", "tanh")]
    trees += [apply("float_pow", x, small)]
    facts = Facts(KNOWN)
    with repaired():
        outputs = run(graph_of(trees, facts), SCHEDULES[0], {})
    functions = {**vars(math), "float_pow": math.pow}
    for number, tree in enumerate(trees):
        for place, values in enumerate(points()):
            args = [evaluate(one, values) for one in tree.args]
            want = functions[tree.function](*args)
            assert same(float(outputs[f"out{number}"][place]), want, 2), (tree, args)


def check_quotients_beyond_the_precision_of_doubles():
    """Correctly rounded, where converting the operands first would not be (codegen.md §1, IntTrueDiv)."""
    numerators = (2**53 + 1, 2**62 - 1, -(2**53) - 3, 2**61 + 12345, 0, 1, 3)
    divisors = (1, 3, -7, 2**53 + 1, 2**62 - 3, 10**18)
    trees = [apply("int_true_div", apply("add", DENSE, a), b) for a in numerators for b in divisors]
    for start in range(0, len(trees), 21):
        compare(trees[start:start + 21], SCHEDULES[0])


def check_decimal_rounding_is_that_of_python():
    """2.675 rounds to 2.67: the double is a little less than the tie; 0.5, 1.5 and 2.5 are real ties."""
    scaled = [("0.001", 3), ("0.005", 2), ("0.5", 0), ("1e15", 2), ("2.675", 2), ("0.125", 2), ("1e300", 5),
              ("1e-9", 8)]
    whole = apply("to_float", apply("add", DENSE, -30))
    trees = [apply("round_decimal", apply("mul", whole, Real(text)), digits) for text, digits in scaled]
    compare(trees, SCHEDULES[0])


def check_minimum_and_maximum_of_infinities():
    """The arithmetic form a*(a<=b) + b*(b<a) would give NaN (codegen.md §1)."""
    inf, x = Real("inf"), apply("to_float", DENSE)
    compare([apply("min", inf, x), apply("max", apply("neg", inf), x), apply("max", inf, x)], SCHEDULES[1])


def check_products_beyond_32_bits():
    trees = [apply("mul", Sym("n0"), 2**40), apply("mul", X, 2**30, 8),
                         apply("floordiv", apply("mul", X, 2**31), -(2**31)),
                         apply("where", apply("lt", Y, 2), 2**33, -1)]
    for schedule in SCHEDULES:
        compare(trees, schedule)


def check_32_bit_kernels_stay_in_32_bits():
    """Nothing is widened without need: that would hide overflow elsewhere."""
    graph = Graph(outer=OUTER, buffers=(out("out0", "i32", 60),),
                  nodes=(value_of(DENSE, "i32"), store("out0", 0, DENSE)))
    check(graph)
    assert "int64" not in plan(graph, SCHEDULES[0]).source
    assert "tl.int64" in plan(graph, tiles(64, index_dtype="i64")).source


def check_integer_values_of_narrow_types_as_indices():
    """The value of an i8 node is widened before it is multiplied."""
    graph = Graph(outer=(5,), buffers=(out("out0", "i64", 5),),
                  nodes=(
        value_of(X, "i32"), cast(0, "i8"), value_of(apply("mul", Sym("v1"), 1000)), store("out0", 2)))
    with repaired():
        assert run(graph, Schedule(), {})["out0"].tolist() == [0, 1000, 2000, 3000, 4000]
