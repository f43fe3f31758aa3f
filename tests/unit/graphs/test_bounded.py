"""Values with error bounds: what one type computes lies within, what is certain is exact, what may jump is open."""

import itertools
from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest
import torch

from tridiff.oracles import philox
from tridiff.oracles.by_numpy import bounded_folds as folds, bounded_ops as ops
from tridiff.oracles.by_numpy.bounded import (
    TINY,
    Real,
    Whole,
    cast_real,
    exact_real,
    rounded,
    select,
    settle,
    spacing,
    whole,
)
from tridiff.oracles.by_numpy.bounded_scans import scan
from tridiff.oracles.by_numpy.special import SPECIAL as SPECIAL_FUNCTIONS
from tridiff.oracles.dtypes import torch_dtype

each = pytest.mark.parametrize
RNG = np.random.default_rng(7)


def single(x: np.ndarray) -> np.ndarray:
    """Rounded to fp32, as float64."""
    return x.astype(np.float32).astype(np.float64)


def singles(count: int) -> np.ndarray:
    """fp32 numbers of many magnitudes, as float64."""
    return single(RNG.standard_normal(count) * np.exp2(RNG.integers(-20, 20, count)))


SPECIAL = single(np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, inf, -inf, nan, 1e-40, 1e30, 3e38, 16777216.0, -7.25]))


def sure(x: np.ndarray) -> Real:
    """Certain numbers of single precision."""
    return exact_real("fp32", x)


def fp32(*values: float) -> Real:
    return sure(np.array(values))


def about(values: list[float], errors: list[float]) -> Real:
    """Numbers of single precision that may be off."""
    return Real("fp32", np.array(values), np.array(errors))


def within(found: Real, results: np.ndarray | list[float]) -> np.ndarray:
    """Whether results of the type are allowed."""
    got = np.asarray(results)
    with np.errstate(all="ignore"):
        same = (got == found.value) | (np.isnan(got) & np.isnan(found.value))
        return same | (np.abs(got - found.value) <= found.error) | np.isinf(found.error)


FUNCTIONS = {"exp": np.exp, "exp2": np.exp2, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin,
             "cos": np.cos, "tanh": np.tanh, "atan": np.arctan, "asinh": np.arcsinh, "expm1": np.expm1, "cosh": np.cosh}
INACCURATE = ("expm1", "log", "log1p")
"""Those that numpy computes for fp32 with errors of two units in the last place: here they are rounded from fp64."""


@each("op", FUNCTIONS)
def test_functions_of_single_precision_lie_within(op: str):
    x = np.concatenate([SPECIAL, singles(200)])
    with np.errstate(all="ignore"):
        got = single(FUNCTIONS[op](x if op in INACCURATE else x.astype(np.float32)))
    found = ops.apply(op, (sure(x),))
    assert within(found, got).all()
    # The bound is a few ulps wide, not a licence.
    regular = (np.abs(found.value) > 1e-30) & (np.abs(x) > 1e-30)
    finite = np.isfinite(found.value) & np.isfinite(found.error) & regular
    assert (found.error[finite] <= 12 * spacing(found.value[finite], "fp32")).all()


@each("op", FUNCTIONS)
def test_errors_of_operands_are_carried(op: str):
    x = np.abs(singles(100)) % 8 + 0.1
    found = ops.apply(op, (Real("fp32", x, np.abs(x) * 1e-4),))
    for step in (-1e-4, 1e-4, 5e-5):
        assert (np.abs(FUNCTIONS[op](x * (1 + step)) - found.value) <= found.error).all()


@each("op, of", [("add", np.add), ("sub", np.subtract), ("mul", np.multiply)])
def test_arithmetic_on_certain_values_is_certain(op: str, of: np.ufunc):
    a, b = (np.array(side) for side in zip(*itertools.product(SPECIAL, SPECIAL), strict=True))
    with np.errstate(all="ignore"):
        got = of(a.astype(np.float32), b.astype(np.float32)).astype(np.float64)
    found = ops.apply(op, (fp32(*a), fp32(*b)))
    assert (found.error == 0).all()
    assert np.array_equal(got, found.value, equal_nan=True)
    zeros = got == 0
    assert np.array_equal(np.signbit(got[zeros]), np.signbit(found.value[zeros])), "the sign of zero is certain too"


def test_a_product_in_a_sum_may_be_fused():
    a, b, c = (fp32(value) for value in (1.0 + 2.0**-12, 1.0 + 2.0**-12, -1.0))
    found = ops.add(ops.mul(a, b), c)
    separate = np.float32(np.float32(a.value[0] * b.value[0]) - 1)
    fused = np.float32(a.value[0] * b.value[0] - 1)
    assert separate != fused
    assert all(within(found, [float(got)]).all() for got in (separate, fused))
    whole_numbers = ops.add(ops.mul(fp32(3.0), fp32(5.0)), c)
    assert whole_numbers.error[0] == 0, "a product without rounding leaves nothing to fuse"


def test_steps_near_a_jump_are_open_and_certain_elsewhere():
    near = about([2.9999999, 2.5, -1e-9, 7.0], [1e-6, 1e-6, 1e-8, 0.0])
    found = ops.apply("floor", (near,))
    assert found.error.tolist() == [1, 0, 1, 0] and found.value.tolist() == [2, 2, -1, 7]
    truth = ops.apply("lt", (near, fp32(3.0, 3.0, 0.0, 7.0)))
    assert truth.open.tolist() == [True, False, True, False]
    integer = ops.to_integer(fp32(3e9, nan, 5.7, -0.3), "i32")
    assert integer.open.tolist() == [True, True, False, False] and integer.value[2:].tolist() == [5, 0]


@each("name", ["fp16", "bf16", "fp8e5", "fp8e4nv", "fp32"])
def test_conversions_round_to_nearest_even(name: str):
    x = np.concatenate([SPECIAL, singles(300)])
    x = x[np.abs(x) < 40000] if name == "fp8e5" else x
    found = cast_real(sure(x), name)
    got = torch.from_numpy(x.astype(np.float32)).to(torch_dtype(name)).to(torch.float64).numpy()
    certain = found.error == 0
    assert certain.all() or name == "fp8e5"
    assert np.array_equal(found.value[certain], got[certain], equal_nan=True)


@each("name", ["fp8e4nv", "fp8e5", "bf16", "fp16"])
def test_ends_of_a_bound_lie_within_it_once_they_are_rounded(name: str):
    # 2^32 % (1/256 - 1) is 1/256, and -254 where the quotient is rounded, of which fp8e4nv makes -256.
    x = np.concatenate([[2.0**-8], RNG.uniform(-30, 30, 200)])
    error = np.concatenate([[2.0**-8 + 254], RNG.uniform(0, 300, 200)])
    found = cast_real(Real("fp32", x, error), name)
    for end in (x - error, x + error):
        assert within(found, torch.from_numpy(end).to(torch_dtype(name)).to(torch.float64).numpy()).all()
    assert not within(found, x + error + 40).any(), "the bound is no licence"


@each("name, tie, below, above", [
    ("fp8e5", 26.0, 24.0, 28.0), ("fp8e4nv", -25.0, -24.0, -26.0), ("bf16", 257.0, 256.0, 258.0)])
def test_doubles_near_a_tie_may_round_twice(name: str, tie: float, below: float, above: float):
    # What exp(-26) adds to 26 is lost on the way by fp32, which meets the tie; 2^-13 fp32 keeps: truncation is wrong.
    x = np.copysign(np.abs(tie) + np.array([5e-12, 2.0**-13]), tie)
    found = cast_real(Real("fp64", x, np.full(2, 1e-13)), name)
    assert within(found, np.full(2, above)).all() and within(found, np.full(2, below)).tolist() == [True, False]


def test_sums_in_any_order_lie_within_and_whole_numbers_are_certain():
    x = singles(64)
    found = folds.reduce_sum(sure(x))
    for _ in range(50):
        total = np.float32(0)
        for value in RNG.permutation(x):
            total = np.float32(total + np.float32(value))
        assert within(found, np.array(float(total))).all()
    assert found.error < 1e-4 * np.abs(x).sum(), "the bound is no licence"
    counted = folds.reduce_sum(sure(np.arange(-50.0, 60.0)))
    assert (counted.value, counted.error) == (np.arange(-50.0, 60.0).sum(), 0.0)
    large = folds.reduce_sum(fp32(2.0**24, 1.0, 1.0))
    assert large.error > 0, "2^24 + 1 rounds in one order and not in another"


@each("row, value, is_open", [
    ([1.0, nan], nan, False), ([inf, -inf], nan, False), ([inf, 1.0], inf, False),
    ([3e38, 3e38, -3e38], None, True), ([-0.0, 0.0], 0.0, False)])
def test_special_sums(row: list[float], value: float | None, is_open: bool):
    found = folds.reduce_sum(sure(rounded(np.array(row), "fp32")))
    assert bool(np.isinf(found.error)) is is_open
    if value is not None:
        assert np.array_equal(found.value, value, equal_nan=True) and found.error == 0
        assert not np.signbit(found.value) or np.isnan(value)


def test_a_sum_of_negative_zeros_has_either_sign():
    assert folds.reduce_sum(fp32(-0.0, -0.0)).error == TINY


def test_extremes_keep_certainty_where_ranges_do_not_meet():
    x = about([1.0, 5.0, 4.9], [0.0, 0.2, 0.2])
    assert folds.arg_extremum(x, largest=True).open and not folds.arg_extremum(x, largest=False).open
    assert folds.reduce_extremum(x, largest=False).error == 0
    assert folds.reduce_extremum(x, largest=True).error == pytest.approx(0.2)
    ties = fp32(2.0, nan, 5.0, nan)
    assert (folds.arg_extremum(ties, largest=True).value, folds.arg_extremum(ties, largest=True).open) == (1, False)


def test_scans_of_pairs():
    a, b = whole("i8", np.array([3, 100, -7])), whole("i8", np.array([1, 2, 3]))
    scale, shift = scan("affine", (a, b))
    assert scale.value.tolist() == [3, 44, -52] and shift.value.tolist() == [1, 102, 57]
    value, position = scan("argmax", (fp32(1.0, 4.0, 4.0, nan, 9.0), whole("i64", np.array([9, 7, 5, 3, 1]))))
    assert position.value.tolist() == [9, 7, 5, 3, 3] and np.isnan(value.value[3:]).all()
    assert not position.open.any()


def test_settling_near_overflow():
    top = 3.4028235677973366e38
    values = np.array([top * (1 + 1e-9), 3.4e38, top * (1 - 1e-9)])
    found = settle("fp32", values, np.array([0.0, 0.0, 1e31]), rounds=True)
    assert found.value[0] == inf and found.error.tolist()[:2] == [0.0, 0.0] and np.isinf(found.error[2])


def _fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of fp32 numbers with one rounding: the product is exact in float64, the sum nearly so."""
    return single(a * b + c)


def test_a_drawn_number_may_enter_a_sum_unrounded():
    # rand is an integer times 2^-31 (nearly): compilers contract that product with a following sum.
    offset = np.arange(4096)
    number, product = philox.rand(5, offset).astype(np.float64), philox.unrounded_rand(5, offset)
    other = singles(4096)
    drawn = Real("fp32", number, np.zeros(4096), np.abs(product - number))
    assert (product.astype(np.float32) == number).all() and (product != number).any()
    contracted = single(product + other)
    assert (contracted != (number + other).astype(np.float32)).any()
    assert within(ops.add(drawn, sure(other)), contracted).all()
    # As it is, it stays certain.
    assert drawn.exact.all()


@pytest.mark.parametrize("op", ["maximum", "fmin"])
def test_the_larger_of_a_product_and_itself_is_that_product(op: str):
    product = ops.mul(fp32(1.0 + 2.0**-12), fp32(1.0 + 2.0**-12))
    found, whole = ops.add(ops.apply(op, (product, product)), fp32(-1.0)), ops.add(product, fp32(-1.0))
    assert (found.value, found.error) == (whole.value, whole.error) and found.error > 0


@each("op, others, fuses", [
    ("maximum", (0.5,), True), ("minimum", (3.0,), True), ("fmax", (0.5,), True), ("fmin", (3.0,), True),
    ("relu", (), True), ("clamp", (0.5, 3.0), True), ("maximum", (3.0,), False), ("clamp", (0.5, 0.75), False),
    ("maximum_tl", (0.5,), False), ("minimum_nan_tl", (3.0,), False)])
def test_an_extremum_that_is_a_product_enters_a_sum_unrounded_where_it_is_a_choice(
        op: str, others: tuple[float, ...], fuses: bool):
    """max(a * b, 0.5) + 1.25 has one arm that is an fma in the PTX of 3.6.0 and 3.9.0."""
    a, c = fp32(1.0 + 2.0**-12), fp32(-1.0)
    found = ops.apply(op, (ops.mul(a, a), *map(fp32, others)))
    assert isinstance(found, Real) and found.exact.all()
    total = ops.add(found, c)
    fused = float(np.float32(a.value[0] ** 2 - 1))
    assert within(total, [float(np.float32(found.value[0]) - 1)]).all()
    assert within(total, [fused]).all() == fuses and total.exact.all() != fuses


ONE, MINUS_ZERO = fp32(1.0), fp32(-0.0)
ROOT = fp32(1.0 + 2.0**-12)
SQUARE = ROOT.value[0] ** 2


@each("factor, fuses", [(1.0, True), (-1.0, True), (0.5, False), (3.0, False)])
def test_a_product_times_one_is_that_product(factor: float, fuses: bool):
    for found in (ops.mul(ops.mul(ROOT, ROOT), fp32(factor)), ops.mul(fp32(factor), ops.mul(ROOT, ROOT))):
        assert found.exact.all()
        total = ops.add(found, fp32(-factor))
        assert within(total, [float(np.float32(factor * SQUARE - factor))]).all() == fuses


def test_a_product_times_a_loaded_one_is_rounded():
    """It is not known to be 1."""
    product = ops.mul(ROOT, ROOT)
    several = Real("fp32", product.value.repeat(2), np.zeros(2), product.fused.repeat(2))
    assert (ops.mul(several, fp32(1.0, 1.0)).fused == 0).all()
    assert (ops.apply("mul", (several, ONE)).fused > 0).all()


@each("made", [
    lambda product: ops.apply("fma", (product, ONE, fp32(-1.0))),
    lambda product: ops.apply("fma", (ONE, fp32(-1.0), product)),
    lambda product: ops.add(ops.apply("fma", (ROOT, ROOT, MINUS_ZERO)), fp32(-1.0)),
    lambda product: ops.add(cast_real(cast_real(product, "fp64"), "fp32"), fp32(-1.0)),
    lambda product: ops.add(ops.apply("mul_add", (product, ONE, MINUS_ZERO)), fp32(-1.0))])
def test_what_compilers_know_to_be_a_product_enters_a_sum_unrounded(made: Callable[[Real], Real]):
    found = made(ops.mul(ROOT, ROOT))
    assert within(found, [float(np.float32(SQUARE - 1))]).all()
    assert within(found, [float(np.float32(np.float32(SQUARE) - np.float32(1)))]).all() and (found.error < 1e-6).all()


def test_a_double_over_one_is_that_double():
    a, b = (exact_real("fp64", np.array([value])) for value in (1.0 + 2.0**-30, 3.0))
    product = ops.mul(a, a)
    assert product.fused > 0
    assert (ops.apply("truediv", (product, exact_real("fp64", np.ones(1)))).fused == product.fused).all()
    assert (ops.apply("truediv", (product, b)).fused == 0).all()


def test_a_product_of_halves_enters_a_sum_of_halves_unrounded():
    """As `fma.rn.f16`, to which LLVM compiles a product rounded to fp16 and then added."""
    a, c = fp32(48.75, 3.0), fp32(1.0, 1.0)
    rounded_product = cast_real(ops.mul(a, a), "fp16")
    assert rounded_product.exact.all() and rounded_product.value.tolist() == [2376, 9]
    total = cast_real(ops.add(cast_real(rounded_product, "fp32"), c), "fp16")
    assert within(total, [2378.0, 10.0]).all()  # 2376.5625 + 1, and what two roundings give, 2376 (even)
    assert within(total, [2376.0, 10.0]).all() and total.exact.tolist() == [False, True]
    assert not within(total, [2384.0, 10.0]).all()


@each("op, x, exact", [
    ("y1", 2.3058430059924685e+18, 5.252127370075698e-10), ("j0", 1e17, -2.408723548367383e-09),
    ("j1", -12345678901.5, 5.108069764903033e-06), ("y0", 50.0, -0.09806499547007708),
    ("i0", 713.5, 1.1051012081178279e+308), ("i1", -710.25, -4.2917138199695865e+306),
    ("erfcx", -23.9876543, 1.5752795496309673e+250)])
def test_special_functions_of_doubles_where_scipy_loses_them(op: str, x: float, exact: float):
    """Exact values by mpmath at 300 bits."""
    near, wide = (1e-15 / np.sqrt(abs(x)), 6e-12) if op[0] in "jy" else (1e-15 * abs(exact), 2e-14 * abs(exact))
    assert abs(float(SPECIAL_FUNCTIONS[op](np.array([x]))[0]) - exact) < near
    found = ops.apply(op, (exact_real("fp64", np.array([x])),))
    assert within(found, [exact]).all() and (found.error < wide).all()


def test_products_reach_sums_through_conversions_and_choices():
    a, b, c = singles(512), singles(512), singles(512)
    product = ops.mul(sure(a), sure(b))
    chosen = select(Whole("i1", np.ones(512, dtype=bool), np.zeros(512, dtype=bool)), product, sure(np.zeros(512)))
    plain = ops.add(sure(product.value), sure(c))
    assert not within(plain, _fma(a, b, c)).all()
    for one in (product, chosen, cast_real(product, "fp32")):
        assert within(ops.add(one, sure(c)), _fma(a, b, c)).all()


def test_only_documented_values_at_zero_are_certain():
    zero = sure(np.zeros(1))
    for op, certain in {"exp": True, "cos": True, "cosh": True, "exp2": True, "j0": False, "erfcx": False}.items():
        found = ops.apply(op, (zero,))
        assert found.value == 1 and bool(found.exact[0]) is certain, op
    # What the device library's j0f(0) gives.
    assert within(ops.apply("j0", (zero,)), [1.0 + 2.0**-23]).all()


def test_a_zero_of_unknown_sign_stays_one_however_small_the_factor():
    nil = about([-0.0], [TINY])
    for factor in (0.25, 0.5, 3.0):
        other = fp32(factor)
        for found in (ops.apply("mul", (nil, other)), ops.apply("mul", (other, nil))):
            assert found.value[0] == 0
            assert found.error[0] == TINY and found.loose()[0] == TINY
    # A quotient that rounds correctly is certain for certain operands only; so is a scaled zero.
    for op, other in (("div_rn", fp32(4.0)), ("ldexp", whole("i32", np.array([-3])))):
        found = ops.apply(op, (nil, other))
        assert not found.exact[0]
    # A certain zero times a number of unknown sign has none either; times one of known sign it has.
    zero = fp32(0.0, 0.0)
    found = ops.apply("mul", (zero, about([1.0, 1.0], [2.0, 0.5])))
    assert found.error.tolist() == [TINY, 0]
    # An error that underflows is still one.
    tiny = np.array([1e-200])
    small = ops.apply("mul", (Real("fp64", tiny, np.array([1e-216])), exact_real("fp64", tiny)))
    assert small.error[0] > 0


def test_an_open_infinity_stays_open_where_it_saturates():
    x = about([-inf, -inf, 500.0, 500.0], [inf, 0.0, inf, 1.0])
    found = cast_real(x, "fp8e4nv")
    assert found.error.tolist() == [inf, 0, inf, 0]
    assert found.value[[1, 3]].tolist() == [-448, 448]


def test_steps_of_libdevice_may_flush():
    step, normal = 2.0**-149, 2.0**-126
    x = np.array([0.0, 0.0, 0.0, step, step, normal, normal, 1.0, nan, -0.0])
    y = np.array([1.0, -1.0, step, 1.0, -1.0, 0.0, 1.0, 2.0, 1.0, 0.0])
    # What the code of libdevice gives under flushing: see the formula in its PTX.
    flushed = np.array([normal, -normal, 0.0, normal, -normal, 0.0, normal + step, 1 + 2.0**-23, nan, 0.0])
    found = ops.apply("nextafter_libdevice", (sure(x), sure(y)))
    true = np.nextafter(x.astype(np.float32), y.astype(np.float32)).astype(np.float64)
    assert within(found, flushed).all() and within(found, true).all()
    assert found.error[6:].tolist() == [0] * 4 and found.error.max() == 2 * normal
    exact = ops.apply("nextafter", (sure(x), sure(y)))
    wide = ops.apply("nextafter_libdevice", (exact_real("fp64", x), exact_real("fp64", y)))
    assert isinstance(exact, Real) and isinstance(wide, Real) and exact.exact.all() and wide.exact.all()


def test_long_products_of_odd_numbers_are_not_certain():
    # 3^15 has 24 bits and 3^33 has 53; longer products round, in every order otherwise.
    for name, certain in (("fp32", 15), ("fp64", 33)):
        assert int(folds.scan_prod(exact_real(name, np.full((1, 60), 3.0))).exact.sum()) == certain


def test_a_choice_by_an_open_condition_is_open_if_one_arm_is():
    either = Whole("i1", np.array([True]), np.array([True]))
    arms = [Whole("i1", np.array([True]), np.array([is_open])) for is_open in (False, True)]
    assert [bool(select(either, one, other).open[0]) for one, other in (
        (arms[0], arms[1]), (arms[1], arms[0]), (arms[0], arms[0]))] == [True, True, False]


def test_references_of_doubles_at_the_ends_of_their_range():
    def real(*values: float) -> Real:
        return exact_real("fp64", np.array(values))

    big = -2.7430620343968437e303
    over = ops.apply("fma", (real(big, 1e200), real(big, 1e200), real(1.0, -inf)))
    assert over.value[0] == inf and over.exact[0] and np.isinf(over.error[1])
    near = ops.apply("fma", (real(-1.0 - 2.0**-52), real(2.0**31 - 1), real(2.0**31 - 1)))
    assert within(near, [-(2.0**-52) * (2.0**31 - 1)]).all()
    assert ops.apply("lgamma", (real(1e306),)).value[0] == inf
    quiet = ops.apply("hypot", (real(-inf), exact_real("fp64", np.array([0x7FF0000000000001]).view(np.float64))))
    assert quiet.value[0] == inf


def test_bounds_below_the_normal_numbers_and_near_the_poles():
    mean = folds.welford(*(exact_real("fp64", np.full((1, 3), v)) for v in (5e-324, 0.0, 1.0)))[0]
    assert mean.error[0] >= 2.0**-1022
    x = about([0.0162], [1e-6])
    found = ops.apply("y1", (x,))
    assert found.error[0] > 2000 * 1e-6


def test_an_empty_row_is_sorted():
    values, positions = folds.sort(sure(np.zeros((2, 0))), descending=True, stable=True)
    assert values.shape == positions.shape == (2, 0)


def test_a_quotient_is_open_where_the_divisor_may_be_zero():
    divisor = about([1e-30, 1.0], [1e-20, 0.5])
    found = ops.apply("truediv", (sure(np.zeros(2)), divisor))
    assert np.isinf(found.error[0]) and found.error[1] < 1e-44


def test_a_remainder_is_what_the_lowering_gives_or_the_exact_one():
    """Triton: the quotient rounded and cut, one fma. Measured on a GPU: 1842789.125 % 0.00069763832 = 0.08429958."""
    with np.errstate(all="ignore"):
        a = np.array([1842789.125, 7.5, 6.0, 4e5, inf, 2.5, -3.0], dtype=np.float32)
        b = np.array([0.0006976383156143129, 2.0, 0.1, 0.3, 2.0, inf, 1.5], dtype=np.float32)
        found = ops.apply("mod_operator", (sure(a), sure(b)))
        cut = np.trunc(a / b).astype(np.float64)
        lowered = np.where(np.isinf(b), a, (a.astype(np.float64) - cut * b).astype(np.float32)).astype(np.float64)
        assert within(found, lowered).all() and within(found, np.fmod(a, b).astype(np.float64)).all()
    np.testing.assert_allclose(lowered[0], 0.08429958, rtol=1e-6)
    assert not within(found, np.where(lowered == 0, 0.5, 2 * lowered))[[0, 1, 3, 5]].any()
    assert found.nan[4] and found.error[1] == found.error[5] == 0 and found.error[6] == TINY


def test_an_overflowed_product_of_halves_may_be_fused_into_one_of_their_sums():
    product = cast_real(ops.apply("mul", (fp32(325.0, 300.0, 325.0), fp32(325.0, 200.0, 325.0))), "fp16")
    assert product.value.tolist() == [inf, 60000, inf] and (product.error == 0).all()
    total = ops.apply("add", (product, Real("fp16", np.array([-inf, -inf, 1.0]), np.zeros(3))))
    assert np.isinf(total.error).tolist() == [True, False, False]


def test_an_overflowed_product_may_meet_a_summand_before_it_is_rounded():
    product = ops.apply("mul", (fp32(3e19, 3e19, 3e19, -3e19), fp32(*[3e19] * 4)))
    total = ops.apply("add", (product, fp32(-inf, -3e38, 1.0, inf)))
    assert np.isinf(total.error).tolist() == [True, True, False, True]
    assert total.value[2] == inf and total.error[2] == 0
    assert np.isinf(folds.reduce_sum(product).error)  # of both signs
    assert folds.reduce_sum(Real("fp32", *(part[:3] for part in (product.value, product.error)))).error == 0
