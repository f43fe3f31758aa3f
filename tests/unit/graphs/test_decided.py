"""What rules decide of values that are known within bounds: any value within them, computed in its type, in any order
that the contract allows, lies within the bound of the result, and a fault does not."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from tests.oracles.grids import inside
from tridiff.kernels.pointwise.table import OPS
from tridiff.oracles.by_numpy import bounded_folds as folds, pointwise
from tridiff.oracles.by_numpy.bounded import Array, Real, Whole, exact_real
from tridiff.oracles.by_numpy.bounded_ops import apply
from tridiff.oracles.by_numpy.bounded_scans import scan
from tridiff.oracles.dtypes import dtype, numpy_dtype

each = pytest.mark.parametrize
NUMBER = 4000
KINDS = ("fp32", "fp64")


def values(rng: np.random.Generator, name: str, low: int = -6, high: int = 12) -> Array:
    """Numbers of these exponents, many of them whole."""
    drawn = np.ldexp(rng.uniform(-2, 2, NUMBER), rng.integers(low, high, NUMBER))
    drawn = np.where(rng.random(NUMBER) < 0.4, np.rint(drawn), drawn)
    return drawn.astype(numpy_dtype(name)).astype(np.float64)


def blurred(rng: np.random.Generator, name: str, value: Array) -> tuple[Real, Array]:
    """Half of the values with an error, up to a hundredth or so; and what a subject may have in their place."""
    error = np.where(rng.random(NUMBER) < 0.5, 0.0, np.abs(value) * 2.0 ** -rng.integers(6, 20, NUMBER) + 1e-3)
    moved = (value + error * rng.uniform(-0.99, 0.99, NUMBER)).astype(numpy_dtype(name)).astype(np.float64)
    moved = np.where(np.abs(moved - value) <= error, moved, value)
    return Real(name, value, error), np.where(error == 0, value, moved)


def mod_operator(x: Array, y: Array) -> Array:
    return np.asarray(pointwise.evaluate("fma", -np.trunc(x / y), y, x))


TWO: dict[str, Callable[[Array, Array], Array]] = {
    "fmod": np.fmod, "remainder": lambda x, y: np.where(np.fmod(x, y) * y < 0, np.fmod(x, y) + y, np.fmod(x, y)),
    "floor_divide": np.floor_divide, "trunc_divide": lambda x, y: np.trunc(x / y), "mod_operator": mod_operator,
    "copysign": np.copysign, "nextafter": np.nextafter}
ONE: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint, "sign": np.sign,
    "frexp_mantissa": lambda x: np.frexp(x)[0], "sqrt_rn": np.sqrt, "div_rn_one": np.reciprocal}


REALS = sorted(op.name for op in OPS.values() if op.name.partition("_")[0] not in ("to", "bitcast") and any(
    signature in (("fp64",), ("fp64", "fp64")) for form in op.forms for signature in form.signatures))


@each("op", REALS)
def test_an_open_operand_may_be_any_number(op: str):
    """Whatever it is held as: the result allows, or leaves open, what the operation gives for every number."""
    numbers = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -7.25, np.inf, -np.inf, np.nan, 1e30, 2.0**-1060)
    for place in range(OPS[op].arity):
        rows = np.array(list(itertools.product(numbers, repeat=OPS[op].arity + 1))).T
        *taken, held_as = rows
        exact = [exact_real("fp64", one) for one in taken]
        known = [Real("fp64", held_as, np.full(held_as.shape, np.inf)) if k == place else one
                 for k, one in enumerate(exact)]
        right, found = apply(op, exact), apply(op, known)
        if isinstance(found, Whole):
            assert isinstance(right, Whole)
            assert (found.open | (found.value == right.value)).all()
        else:
            assert isinstance(right, Real)
            assert inside(right.value, Real("fp64", found.value, found.error + right.error)).all()


@each("name", KINDS)
@each("op", sorted(TWO))
def test_two_operands_within_their_errors(op: str, name: str):
    rng, typed = np.random.default_rng(1), numpy_dtype(name)
    (a, x), (b, y) = (blurred(rng, name, values(rng, name)) for _ in range(2))
    with np.errstate(all="ignore"):
        own = TWO[op](x.astype(typed), y.astype(typed)).astype(np.float64)
        found = apply(op, (a, b))
    assert isinstance(found, Real)
    assert inside(own, found).all()
    assert np.isinf(found.error).mean() < 0.2, "open: where the divisor may be zero"
    scale = np.abs(x) + np.abs(y) + (np.abs(x / np.where(y == 0, 1, y)) if "divide" in op else 0.0)
    known = np.isfinite(found.error) & np.isfinite(found.value)
    assert not inside(own + 8 * scale + 4, found)[known].any()
    assert not inside(np.full(NUMBER, np.nan), found)[known].any()


@each("name", KINDS)
@each("op", sorted(set(ONE) - {"div_rn_one"}))
def test_one_operand_within_its_error(op: str, name: str):
    rng, typed = np.random.default_rng(2), numpy_dtype(name)
    a, x = blurred(rng, name, values(rng, name))
    with np.errstate(all="ignore"):
        own = ONE[op](x.astype(typed)).astype(np.float64)
    found = apply(op, (a,))
    assert isinstance(found, Real)
    assert inside(own, found).all()
    assert np.isinf(found.error).mean() < 0.1
    known = np.isfinite(found.error) & np.isfinite(found.value)
    assert not inside(own + 8 * np.abs(x) + 4, found)[known].any()


def test_nothing_outside_of_a_domain_is_a_number():
    for op, x in (("sqrt", -767.2), ("log10", -1.03), ("rsqrt", -1.0), ("acosh", -0.8), ("asin", 2.0), ("acos", -1.5),
                  ("atanh", 3.0), ("log1p", -4.0)):
        found = apply(op, (Real("fp32", np.array([x]), np.array([1e-5])),))
        assert isinstance(found, Real) and found.nan.all(), op
    across = apply("asin", (Real("fp32", np.array([1.5]), np.array([4.0])),))
    edge = apply("sqrt", (Real("fp32", np.array([-1e-6]), np.array([1e-5])),))
    assert isinstance(across, Real) and isinstance(edge, Real) and np.isinf([across.error, edge.error]).all()


def test_what_is_not_a_number_stays_so_and_a_quotient_by_zero_is_infinite():
    nan, anything = exact_real("fp32", np.array([np.nan])), Real("fp32", np.array([1.0]), np.array([np.inf]))
    for op in ("add", "sub", "mul"):
        found = apply(op, (nan, anything))
        assert isinstance(found, Real) and found.nan.all(), op
    fused = apply("fma", (anything, nan, anything))
    assert isinstance(fused, Real) and fused.nan.all()
    by_zero = apply("truediv", (Real("fp32", np.array([-2.0]), np.array([1e-6])), exact_real("fp32", np.array([0.0]))))
    assert isinstance(by_zero, Real) and (by_zero.value.item(), by_zero.error.item()) == (-np.inf, 0.0)
    unsure = apply("truediv", (Real("fp32", np.array([1e-7]), np.array([1e-6])), exact_real("fp32", np.array([0.0]))))
    assert isinstance(unsure, Real) and np.isinf(unsure.error).all()


def test_an_open_choice_is_one_of_its_arms():
    condition = Whole("i1", np.array([True, False, True]), np.array([True, True, True]))
    first, second = (exact_real("fp32", np.array(one)) for one in ([1.0, 5.0, np.inf], [3.0, 5.0, 1.0]))
    found = apply("where", (condition, first, second))
    assert isinstance(found, Real)
    assert inside(np.array([1.0, 5.0, 1.0]), found).all() and inside(np.array([3.0, 5.0, np.inf]), found).all()
    assert not inside(np.array([4.0, 6.0, 0.0]), found)[:2].any()


def trees(rng: np.random.Generator, parts: list[Array], combine: Callable[[Array, Array], Array]) -> Array:
    """Neighbours combined in some order, down to one."""
    while len(parts) > 1:
        at = int(rng.integers(0, len(parts) - 1))
        parts = [*parts[:at], combine(parts[at], parts[at + 1]), *parts[at + 2:]]
    return parts[0]


@each("spread", (3, 20, 60))
def test_running_products_and_recurrences_in_any_association(spread: int):
    """Of factors that leave the range of fp32 on their way up, on their way down, or not; with zeros."""
    rng = np.random.default_rng(spread)
    factor = np.ldexp(rng.uniform(1, 2, (300, 9)), rng.integers(-spread, spread, (300, 9))).astype(np.float32)
    factor = np.where(rng.random(factor.shape) < 0.05, 0, factor * rng.choice([-1, 1], factor.shape)).astype(np.float32)
    shift = (rng.uniform(-2, 2, factor.shape) * (rng.random(factor.shape) < 0.8)).astype(np.float32)
    real, more = exact_real("fp32", factor), exact_real("fp32", shift)
    products, (_, shifts) = folds.scan_prod(real), scan("affine", (real, more))
    assert isinstance(shifts, Real)
    with np.errstate(all="ignore"):
        for last in range(1, 10):
            for _ in range(4):
                parts = [np.stack([factor[:, k], shift[:, k]]) for k in range(last)]
                whole = trees(rng, parts, lambda one, two: np.stack([one[0] * two[0], one[1] * two[0] + two[1]]))
                for own, found in ((whole[0], products), (whole[1], shifts)):
                    limit = Real("fp32", found.value[:, last - 1], found.error[:, last - 1])
                    assert inside(own.astype(np.float64), limit).all()
                    sharp = limit.error < 1e-3 * np.abs(limit.value)
                    assert not inside(own.astype(np.float64) * 1.1 + 1e-30, limit)[sharp & np.isfinite(own)].any()
    if spread == 3:
        assert np.isfinite(products.error).all() and np.isfinite(shifts.error).all()
    assert np.isfinite(products.error).mean() > 0.5 and np.isfinite(shifts.error).mean() > 0.5


@each("spread", (3, 20, 40))
def test_products_of_any_subsets(spread: int):
    rng = np.random.default_rng(spread)
    factor = np.ldexp(rng.uniform(1, 2, (300, 9)), rng.integers(-spread, spread, (300, 9))).astype(np.float32)
    found = folds.reduce_prod(exact_real("fp32", factor))
    with np.errstate(all="ignore"):
        for _ in range(30):
            order = rng.permutation(9)
            own = trees(rng, [factor[:, k] for k in order], np.multiply).astype(np.float64)
            assert inside(own, found).all()
    assert not inside(np.zeros(300), found)[np.isinf(found.value)].any()
    assert np.isfinite(found.error).any()


def test_sums_of_one_sign_that_are_too_large():
    largest = float(dtype("fp32").max)
    rows = exact_real("fp32", np.array([
        [largest, largest, 1.0], [largest, -largest, largest], [-largest, -largest, 0.0], [largest, 1e30, 0.0]]))
    found = folds.reduce_sum(rows)
    assert found.value[[0, 2]].tolist() == [np.inf, -np.inf] and found.error[[0, 2]].tolist() == [0, 0]
    assert np.isinf(found.error[[1, 3]]).all(), "a partial sum may overflow, or not quite"


@each("name", KINDS)
def test_a_product_of_the_largest_number_and_one_is_not_known_to_be_infinite(name: str):
    largest = float(dtype(name).max)
    with np.errstate(all="ignore"):
        found = folds.scan_prod(exact_real(name, np.array([[largest, 1.0, -4.0]])))
    assert inside(np.array([[largest, largest, -np.inf]]), found).all()
    assert found.value[0, 2] == -np.inf and found.exact[0, 2]
