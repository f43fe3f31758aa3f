"""What is known although something is open: NaN in any order, one truth value that decides, zeros of either sign, and
numbers held against themselves. What another subject may rightly have stays right, and a fault is none."""

import math

import numpy as np
import pytest

from tests.oracles.grids import inside
from tests.unit.graphs.graphs import X, apply as call, load, matrix, num, op, store
from tests.unit.graphs.test_decided import blurred, trees, values
from tridiff.fuzz.kinds.graphs.evaluate import Interpreter
from tridiff.fuzz.kinds.graphs.expressions import evaluate
from tridiff.kernels.codegen.graph import Expr, Node
from tridiff.oracles.by_numpy import bounded_folds as folds
from tridiff.oracles.by_numpy.bounded import TINY, Real, Whole, exact_real
from tridiff.oracles.by_numpy.bounded_ops import apply
from tridiff.oracles.by_numpy.bounded_scans import scan

each = pytest.mark.parametrize
INF, NAN = math.inf, math.nan


def reals(*numbers: float, error: float | tuple[float, ...] = 0.0) -> Real:
    value = np.array(numbers)
    return Real("fp32", value, np.broadcast_to(np.array(error), value.shape).copy())


@each("row", [[1.0, NAN, 3e38], [3e38, 3e38, NAN], [INF, 1.0, -INF], [NAN, INF, 0.0], [INF, 0.0, 2.0],
              [3e38, -3e38, 3e38], [INF, 1.0, 2.0]])
def test_sums_and_products_are_nan_where_every_order_gives_nan(row: list[float]):
    real = exact_real("fp32", np.array([row]))
    total, product = folds.reduce_sum(real), folds.reduce_prod(real)
    rng = np.random.default_rng(1)
    for fold, found in ((np.add, total), (np.multiply, product)):
        with np.errstate(all="ignore"):
            given = [trees(rng, [np.float32(row[k]) for k in rng.permutation(3)], fold) for _ in range(40)]
        every = all(map(np.isnan, given))
        assert bool(found.nan.item()) == every, (fold, row)
        held = Real("fp32", np.full(40, found.value), np.full(40, found.error))
        assert inside(np.array(given, dtype=np.float64), held).all()


def test_a_nan_is_certain_beside_what_is_open():
    row = Real("fp32", np.array([[2.0, NAN, 5.0]]), np.array([[INF, 0.0, INF]]))
    for found in (folds.reduce_sum(row), folds.reduce_prod(row), folds.reduce_extremum(row, largest=True)):
        assert found.nan.all()
    for op_ in ("minimum", "maximum"):
        both = apply(op_, (reals(NAN), reals(1.0, error=INF)))
        assert isinstance(both, Real) and both.nan.all()
    running = folds.scan_prod(row)
    assert np.isinf(running.error[0, 0]) and running.nan[0, 1:].all()
    assert folds.reduce_sum(Real("fp32", np.array([[2.0, NAN]]), np.array([[0.0, INF]]))).error.item() == INF, "or not"


def test_the_first_nan_is_found_whatever_is_behind_it():
    row = Real("fp32", np.array([[2.0, NAN, 5.0], [2.0, NAN, 5.0]]), np.array([[0.5, 0.0, INF], [INF, 0.0, 0.0]]))
    found = folds.arg_extremum(row, largest=True)
    assert found.value.tolist() == [1, 1] and found.open.tolist() == [False, True]


def test_a_recurrence_begins_with_its_first_summand_and_keeps_a_nan():
    scale = exact_real("fp64", np.array([[NAN, 3e200, 2.0, 0.0]]))
    shift = exact_real("fp64", np.array([[-INF, 3e200, NAN, 1.0]]))
    _, found = scan("affine", (scale, shift))
    assert isinstance(found, Real)
    assert (found.value[0, 0], found.error[0, 0]) == (-INF, 0)
    assert found.nan[0, 2:].all() and np.isinf(found.error[0, 1])
    ones = exact_real("fp64", np.array([[1.0, 1.0]]))
    _, factor = scan("affine", (exact_real("fp64", np.array([[1.0, NAN]])), ones))
    assert isinstance(factor, Real) and factor.nan[0, 1]


@each("high", (0, 1, 3))
def test_products_of_numbers_that_may_be_zero(high: int):
    """No relative error is known of them; they are no larger than the product of their ends."""
    rng = np.random.default_rng(high)
    value = np.where(rng.random((400, 7)) < 0.3, 0.0, np.ldexp(rng.uniform(-1, 1, (400, 7)), high)).astype(np.float32)
    error = np.where(rng.random(value.shape) < 0.5, np.abs(value) + 0.25, 0.0)
    own = (value + error * rng.uniform(-0.99, 0.99, value.shape)).astype(np.float32)
    found = folds.reduce_prod(Real("fp32", value.astype(np.float64), error))
    for _ in range(10):
        given = trees(rng, [own[:, k] for k in rng.permutation(7)], np.multiply).astype(np.float64)
        assert inside(given, found).all()
    ends = np.prod(np.abs(value) + error, axis=-1)
    assert np.isfinite(found.error).all() and not inside(2.1 * ends + 1e-30, found).any()
    assert not inside(np.full(400, NAN), found).any()


def test_a_zero_divided_and_a_number_over_an_infinity_are_zeros_of_a_known_sign():
    found = apply("truediv", (reals(0.0, -0.0, 3.0, 0.0, 0.0), reals(5.0, 7.0, -INF, 1e-40, 0.0)))
    assert isinstance(found, Real)
    assert found.error[:3].tolist() == [0, 0, 0] and np.signbit(found.value[:3]).tolist() == [False, True, True]
    assert found.error[3] > 0, "a subnormal divisor may be flushed"
    blurry = apply("truediv", (reals(0.0, 0.0), reals(5.0, 5.0, error=(1.0, 6.0))))
    assert isinstance(blurry, Real) and blurry.exact[0] and not blurry.exact[1]


def test_what_is_scaled_far_below_the_smallest_number_vanishes_and_a_flushed_operand_gives_zero():
    scale = Whole("i32", np.array([-200, -2147483648, 10, 10]), np.zeros(4, bool))
    found = apply("ldexp", (reals(-3.0, 1e30, 1e-40, 3.0), scale))
    assert isinstance(found, Real)
    assert found.error[:2].tolist() == [0, 0] and found.value[:2].tolist() == [0, 0] and np.signbit(found.value[0])
    right = float(np.float32(1e-40)) * 2.0**10
    held = Real("fp32", np.full(3, found.value[2]), np.full(3, found.error[2]))
    assert inside(np.array([0.0, right, 3 * right]), held).tolist() == [True, True, False]
    assert found.error[3] == 0


def test_zeros_of_either_sign_have_steps_and_exponents():
    zero = reals(0.0, error=TINY)
    for op_ in ("floor", "ceil", "trunc", "round"):
        found = apply(op_, (zero,))
        assert isinstance(found, Real) and (found.value.item(), found.error.item()) == (0, TINY), op_
    exponent, mantissa = apply("frexp_exponent", (zero,)), apply("frexp_mantissa", (zero,))
    assert isinstance(exponent, Whole) and isinstance(mantissa, Real)
    assert (exponent.value.item(), exponent.open.item(), mantissa.error.item()) == (0, False, TINY)


def test_a_negative_number_has_no_power_that_is_no_whole_number():
    exponent = reals(0.5, 2.0, 0.5, 2.5, error=(0.2, 0.2, 0.2, 0.5))
    found = apply("pow", (reals(-2.0, -2.0, 2.0, -2.0, error=0.1), exponent))
    assert isinstance(found, Real) and found.nan.tolist() == [True, False, False, False]
    assert np.isinf(found.error[[1, 3]]).all()


@each("places", (0, 2))
def test_a_decimal_of_a_number_within_its_error(places: int):
    """sinh and log2 are known within an ulp: their decimals mostly exactly, those of halves within a step."""
    symbols = {"x0": Whole("i64", np.arange(1, 9), np.zeros(8, bool))}
    for name in ("sinh", "log2"):
        function = getattr(np, name)(np.arange(1, 9).astype(np.float64))
        found = evaluate(_decimal(name, places), symbols)
        assert isinstance(found, Real)
        right = np.array([round(float(one), places) for one in function])
        assert inside(right, found).all() and found.exact.sum() >= 7
        assert not inside(right + 10.0**-places, found).any()


def _decimal(name: str, places: int) -> Expr:
    return call("round_decimal", call(name, call("to_float", X)), num(places))


def _truths(*nodes: Node, of: list[float]) -> Whole:
    graph = matrix(*nodes, rows=len(of), in0=("fp32", len(of)), out0=("i1", len(of)))
    found = Interpreter(graph, {"in0": np.array(of, dtype=np.float32)}).run()["out0"]
    assert isinstance(found, Whole)
    return found


@each("name, right", [("lt", False), ("gt", False), ("ne", False), ("le", True), ("ge", True), ("eq", True)])
def test_a_number_is_itself_however_little_is_known_of_it(name: str, right: bool):
    """log of a number is known within an ulp; of one that may be flushed to zero it is open."""
    given = [2.0, 3.5, NAN, 1e-40]
    found = _truths(load("in0"), op("log", 0), op(name, 1, 1), store("out0", X, 2), of=given)
    assert found.value[:2].tolist() == [right, right] and found.open.tolist() == [False, False, False, True]
    assert bool(found.value[2]) == (name == "ne")
    other = _truths(load("in0"), op("log", 0), op("log", 0), op(name, 1, 2), store("out0", X, 3), of=given)
    assert other.open[:2].all(), "two values that are alike are another matter"


@each("kind, row, right", [
    ("argmax", (None, True, False), None), ("argmax", (False, True, None), 1), ("argmin", (True, False, None), 1),
    ("max", (None, True), 1), ("max", (None, False), None), ("min", (None, False), 0), ("prod", (None, False), 0),
    ("sum", (None, True), None)])
def test_one_truth_value_decides(kind: str, row: tuple[bool | None, ...], right: int | None):
    truth = Whole("i1", np.array([[bool(one) for one in row]]), np.array([[one is None for one in row]]))
    found = (folds.arg_extremum(truth, largest=kind == "argmax") if kind.startswith("arg") else
             folds.integer_fold(kind, truth, "i32"))
    assert (None if found.open.item() else found.value.item()) == right


def test_one_side_decides_a_logical_operation():
    sides = [Whole("i1", np.array(one), np.array(unsure)) for one, unsure in (
        ([False, True, False, True], [True] * 4), ([False, False, True, True], [False] * 4))]
    for op_, decided in (("logical_and", [True, True, False, False]), ("logical_or", [False, False, True, True]),
                         ("logical_xor", [False] * 4), ("bitwise_and", [True, True, False, False])):
        found = apply(op_, sides)
        assert isinstance(found, Whole) and (~found.open).tolist() == decided, op_
        assert found.value[~found.open].tolist() == [op_ == "logical_or"] * sum(decided)


@each("name", ["fp32", "fp64"])
def test_blurred_quotients_and_scalings_hold_what_any_subject_may_give(name: str):
    rng = np.random.default_rng(5)
    (a, x), (b, y) = (blurred(rng, name, np.where(rng.random(4000) < 0.2, 0.0, values(rng, name))) for _ in range(2))
    typed = np.float32 if name == "fp32" else np.float64
    with np.errstate(all="ignore"):
        own = (x.astype(typed) / y.astype(typed)).astype(np.float64)
        found = apply("truediv", (a, b))
    assert isinstance(found, Real) and inside(own, found).all()
    scale = rng.integers(-400, 40, 4000).astype(np.int32)
    given = np.ldexp(x.astype(typed), scale).astype(np.float64)
    scaled = apply("ldexp", (a, Whole("i32", scale, np.zeros(4000, bool))))
    assert isinstance(scaled, Real) and inside(given, scaled).all()


def test_the_mean_of_states_without_weight_is_not_decided_by_them():
    """Our reading: a state of weight 0 does not count, whatever it holds."""
    def mean(weights: list[float]) -> Real:
        real = [exact_real("fp32", np.array([one])) for one in ([NAN, 2.0], [0.0, 0.0], weights)]
        return folds.welford(*real)[0]

    assert mean([1.0, 1.0]).nan.all() and not mean([0.0, 1.0]).nan.any()


@each("largest", ["argmax", "argmin"])
def test_of_zeros_with_one_index_either_may_be_kept_and_of_others_the_first(largest: str):
    """(value, index) pairs: the order is total only where indices differ."""
    def kept(zeros: list[float], places: list[int]) -> list[bool]:
        index = Whole("i32", np.array(places, dtype=np.int32), np.zeros(len(places), dtype=bool))
        value, place = scan(largest, (reals(*zeros), index))
        assert isinstance(value, Real) and isinstance(place, Whole) and not place.open.any()
        return (value.error == TINY).tolist()

    assert kept([0.0, -0.0, -0.0], [1, 1, 1]) == [False, True, True]
    assert kept([0.0, -0.0, -0.0], [0, 1, 2]) == [False] * 3
    assert kept([0.0, -0.0, 0.0], [1, 1, 0]) == [False, True, False], "the last has the smallest index"
    assert kept([0.0, 0.0], [1, 1]) == [False] * 2, "one sign"
