"""Bounds where numbers are subnormal or their squares are: a kernel's own formula, in its own order of operations,
lies within them for every exponent, and a fault does not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from tests.oracles.grids import inside
from tridiff.oracles import tolerances as tol
from tridiff.oracles.arrays import Array, to_torch
from tridiff.oracles.bounded import RULES
from tridiff.oracles.by_numpy import bounded_folds, welford_answers
from tridiff.oracles.by_numpy.bounded import Real, exact_real, settle, whole
from tridiff.oracles.by_numpy.bounded_ops import apply
from tridiff.oracles.by_torch import bounds, welford_answers as torch_answers
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import dtype, numpy_dtype
from tridiff.oracles.rules import SET

State = tuple[Array, Array, Array]
KINDS = ("fp32", "fp64")
each = pytest.mark.parametrize


def combine(first: State, second: State, *, fault: str = "") -> State:
    """kernels/helpers/welford.py:welford_combine in the type of its operands; fault: a planted error."""
    (mean_1, m2_1, weight_1), (mean_2, m2_2, weight_2) = first, second
    with np.errstate(all="ignore"):
        delta, weight = mean_2 - mean_1, weight_1 + weight_2
        ratio = (weight_1 if fault == "weights_swapped" else weight_2) / weight
        mean = mean_1 + delta * ratio
        cross = delta * delta * weight_1 * ratio
        m2 = m2_1 + m2_2 + (0 * cross if fault == "cross_term_missing" else cross)
    empty_1, empty_2 = weight_1 == 0, weight_2 == 0
    mean = np.where(empty_1, mean_2, np.where(empty_2, mean_1, mean))
    m2 = np.where(empty_1, m2_2, np.where(empty_2, m2_1, m2))
    none = empty_1 & empty_2
    return np.where(none, 0, mean).astype(mean_1.dtype), np.where(none, 0, m2).astype(mean_1.dtype), weight


def step(value: Array, state: State, *, fault: str = "") -> State:
    """kernels/helpers/welford.py:welford_reduce, not in the first iteration."""
    mean, m2, weight = state
    with np.errstate(all="ignore"):
        more = weight + value.dtype.type(1)
        delta = value - mean
        moved = mean + delta / more
        if fault == "mean_over_old_weight":
            moved = mean + delta / weight
        m2 = m2 + delta * (value - (mean if fault == "m2_with_old_mean" else moved))
    return moved, m2, more


def accepted(found: State, answers: tuple[Any, ...], limits: tuple[Any, ...]) -> tuple[Array, Array]:
    """Per element, whether mean and m2 are within their bounds of one of the admissible answers."""
    masks = []
    for part, rule in ((0, "welford_mean_bound"), (1, "welford_m2_bound")):
        expected = torch.as_tensor(answers[part])
        wrong = compare(to_torch(found[part]), expected, SET(RULES[rule]), bound=limits[part]).mismatch
        masks.append(~wrong.numpy())
    return masks[0], masks[1]


def judged_pairs(first: State, second: State, **fault: str) -> tuple[Array, Array]:
    found = combine(first, second, **fault)
    tensors = [to_torch(one) for one in (*first, *second)]
    by_numpy = accepted(found, welford_answers.pairs(*first, *second), bounds.welford_pairs(*tensors))
    by_torch = accepted(found, torch_answers.pairs(*tensors), bounds.welford_pairs(*tensors))
    return by_numpy[0] & by_torch[0], by_numpy[1] & by_torch[1]


def judged_step(value: Array, state: State, **fault: str) -> tuple[Array, Array]:
    found = step(value, state, **fault)
    tensors = [to_torch(one) for one in (value, *state)]
    return accepted(found, welford_answers.step(value, *state, first=False),
                    bounds.welford_step(*tensors, first=False))


def one_state(mean: float, weight: float) -> State:
    """m2 is 0."""
    return np.array([mean]), np.zeros(1), np.array([weight])


def test_a_mean_of_subnormal_size_from_a_larger_one():
    """The bound of the mean was a product of its own that vanished in float64, and nothing was left of it."""
    first, second = one_state(-2.7682268153220884e-306, 3.0), one_state(-1e-323, 16777215.0)
    found = combine(first, second)[0]
    exact = np.longdouble(-2.7682268153220884e-306) * 3 / 16777218
    assert abs(found[0] - exact) > 20 * 5e-324, "the formula itself is off by many steps"
    assert all(mask.all() for mask in judged_pairs(first, second))
    assert not judged_pairs(first, second, fault="weights_swapped")[0].any()


def test_a_sum_of_squares_whose_own_square_vanishes():
    """The bound of m2 was the root of a product below the smallest double."""
    state, value = one_state(1.49e-104, 1.0), np.array([1.96e-104])
    m2 = step(value, state)[1][0]
    assert 1e-209 < m2 < 3e-209 and m2 * m2 == 0
    assert all(mask.all() for mask in judged_step(value, state))
    assert not judged_step(value, state, fault="m2_with_old_mean")[1].any()


def drawn(rng: np.random.Generator, name: str, low: int, spread: int, shape: tuple[int, ...]) -> Array:
    """Numbers of exponents low to low + spread, either sign; subnormal ones keep the bits that they have."""
    exponents = rng.integers(low, low + spread + 1, shape)
    return (np.ldexp(rng.uniform(1, 2, shape), exponents) * rng.choice([-1, 1], shape)).astype(numpy_dtype(name))


def counts(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    """Weights as the targets draw them."""
    return rng.choice(np.array([0, 1, 2, 3, 4, 16777215, 16777216, 16777217]), shape).astype(numpy_dtype(name))


EXPONENTS = st.tuples(st.sampled_from(KINDS), st.floats(0, 0.45), st.integers(0, 60), st.integers(0, 2**32 - 1))


@settings(max_examples=60)
@given(EXPONENTS)
def test_merges_of_states_of_every_exponent(term: tuple[str, float, int, int]):
    """From subnormal numbers up to those whose squares times 2^25 are finite."""
    name, share, spread, seed = term
    kind, rng = dtype(name), np.random.default_rng(seed)
    lowest = 1 - kind.bias - kind.mantissa_bits
    low = int(lowest + share * (kind.bias - lowest))
    first, second = ((drawn(rng, name, low, spread, (200,)), np.abs(drawn(rng, name, 2 * low, spread, (200,))),
                      counts(rng, name, (200,))) for _ in range(2))
    assert all(mask.all() for mask in judged_pairs(first, second))
    some = (first[0], first[1], np.maximum(first[2], 1))
    assert all(mask.all() for mask in judged_step(drawn(rng, name, low, spread, (200,)), some))


@each("fault", ("weights_swapped", "cross_term_missing", "m2_with_old_mean", "mean_over_old_weight"))
@each("name", KINDS)
@each("low", (-2, -70))
def test_faults_are_seen_in_every_size_of_number(name: str, fault: str, low: int):
    """2^-70 squared is subnormal in fp32, where the fault of a square may be a few steps: half of them suffice."""
    rng = np.random.default_rng(6)
    first, second = ((drawn(rng, name, low, 8, (400,)), np.zeros(400, numpy_dtype(name)),
                      rng.integers(1, 5, 400).astype(numpy_dtype(name))) for _ in range(2))
    if fault in ("weights_swapped", "cross_term_missing"):
        masks, concerned = judged_pairs(first, second, fault=fault), first[2] != second[2]
    else:
        masks, concerned = judged_step(second[0], first, fault=fault), first[2] > 0
    caught = ~(masks[0] & masks[1])
    assert caught[concerned].mean() > (0.9 if low == -2 else 0.5)


@settings(max_examples=40)
@given(EXPONENTS, st.integers(2, 40))
def test_trees_of_states_and_of_elements(term: tuple[str, float, int, int], columns: int):
    name, share, spread, seed = term
    kind, rng = dtype(name), np.random.default_rng(seed)
    lowest = 1 - kind.bias - kind.mantissa_bits
    low = int(lowest + share * (kind.bias - lowest))
    shape = (20, columns)
    mean, m2 = drawn(rng, name, low, spread, shape), np.abs(drawn(rng, name, 2 * low, spread, shape))
    for weight in (counts(rng, name, shape), np.ones(shape, numpy_dtype(name))):
        states = [(mean[:, i], m2[:, i], weight[:, i]) for i in range(columns)]
        chain = states[0]
        for one in states[1:]:
            chain = combine(chain, one)
        while len(states) > 1:
            half = len(states) // 2
            states = [combine(states[i], states[i + half]) for i in range(half)] + states[2 * half:]
        tensors = [to_torch(one) for one in (mean, m2, weight)]
        for found in (chain, states[0]):
            for answers in (welford_answers.states(mean, m2, weight), torch_answers.states(*tensors)):
                assert all(mask.all() for mask in accepted(found, answers, bounds.welford_states(*tensors)))
            for part, real in zip(found, bounded_folds.welford(*(exact_real(name, one) for one in (mean, m2, weight))),
                                  strict=True):
                assert inside(part, real).all()


def test_a_light_state_with_a_large_mean_in_a_program():
    """mean_1 + delta * ratio is off by a rounding of mean_1, however little that one weighs."""
    mean, weight = np.array([[1.1, 1e-7]], np.float32), np.array([[1.0, 9999999.0]], np.float32)
    state = tuple(exact_real("fp32", one) for one in (mean, 0 * mean, weight))
    found = combine((mean[:, 0], 0 * mean[:, 0], weight[:, 0]), (mean[:, 1], 0 * mean[:, 1], weight[:, 1]))
    real = bounded_folds.welford(*state)[0]
    assert abs(float(found[0][0]) - float(real.value[0])) > 1e-9 and inside(found[0], real).all()
    swapped = combine((mean[:, 0], 0 * mean[:, 0], weight[:, 0]), (mean[:, 1], 0 * mean[:, 1], weight[:, 1]),
                      fault="weights_swapped")
    assert not inside(swapped[0], real).any()


@each("name", KINDS)
def test_means_products_and_variances_of_subnormal_numbers(name: str):
    rng, kind = np.random.default_rng(3), dtype(name)
    lowest = 1 - kind.bias - kind.mantissa_bits
    x = drawn(rng, name, lowest, kind.mantissa_bits + 3, (50, 7))
    wide = to_torch(x.astype(np.longdouble).mean(-1).astype(np.float64))
    fits = judged("mean_bound", wide, tol.mean_bound(to_torch(x), acc=name))
    assert fits(x.sum(-1) / x.dtype.type(7))
    assert not fits(x.sum(-1) / x.dtype.type(6))
    y = drawn(rng, name, lowest // 2, 3, (50, 7))
    centre = y.mean(-1, keepdims=True)
    variance = to_torch(y.astype(np.longdouble).var(-1).astype(np.float64))
    fits = judged("two_pass_variance_bound", variance, tol.two_pass_variance_bound(
        to_torch(y), to_torch(centre[:, 0].astype(np.float64)), variance, acc=name))
    assert fits(((y - centre) ** 2).sum(-1) / y.dtype.type(7))
    larger = y * y.dtype.type(64)
    assert not fits(((larger - 64 * centre) ** 2).sum(-1) / y.dtype.type(7))


def judged(rule: str, expected: torch.Tensor, bound: torch.Tensor) -> Callable[[Array], bool]:
    return lambda actual: compare(to_torch(actual), expected, RULES[rule], bound=bound).clean


def test_products_of_rows_and_columns_that_vanish():
    rng = np.random.default_rng(4)
    a, b = drawn(rng, "fp32", -74, 3, (8, 16)), drawn(rng, "fp32", -74, 3, (16, 8))
    exact = to_torch(a.astype(np.float64) @ b.astype(np.float64))
    total = np.zeros((8, 8), np.float32)
    for k in range(16):
        total = total + a[:, k, None] * b[None, k]
    fits = judged("dot_bound", exact, tol.dot_bound(to_torch(a), to_torch(b)))
    assert fits(total)
    assert not fits(total * np.float32(2))
    # An operand that is subnormal has no 2^-11 of itself in tf32, where it may be flushed.
    small, large = np.full((1, 1), 1e-40, np.float32), np.full((1, 1), 1e30, np.float32)
    flushed = judged("dot_bound", to_torch(small.astype(np.float64) * large), tol.dot_bound(
        to_torch(small), to_torch(large), precision="tf32"))
    assert flushed(np.zeros((1, 1), np.float32))
    assert not judged("dot_bound", to_torch(small.astype(np.float64) * large), tol.dot_bound(
        to_torch(small), to_torch(large)))(np.zeros((1, 1), np.float32))


@each("name", ("fp16", "bf16", "fp32", "fp64"))
def test_chains_of_operations_on_tiny_numbers(name: str):
    """a*b, its product with a third and a quotient, each rounded in its type: within the derived bound of the chain."""
    rng, kind = np.random.default_rng(5), dtype(name)
    lowest = 1 - kind.bias - kind.mantissa_bits
    held = "fp32" if name in ("fp16", "bf16") else name
    a, b = (drawn(rng, name, lowest // 2 - 3, 19, (3000,)).astype(np.float64) for _ in range(2))
    c = drawn(rng, name, -9, 9, (3000,)).astype(np.float64)
    typed = numpy_dtype(held)
    parts = [exact_real(held, one) for one in (a, b, c)]
    product = apply("mul", parts[:2])
    assert isinstance(product, Real)
    blurred = settle(held, product.value, np.abs(product.value) * 2.0**-20)
    for op, own in (("mul", blurred.value.astype(typed) * c.astype(typed)),
                    ("div_rn", blurred.value.astype(typed) / c.astype(typed)),
                    ("add", blurred.value.astype(typed) + c.astype(typed))):
        found = apply(op, (blurred, parts[2]))
        assert isinstance(found, Real)
        assert inside(own.astype(np.float64), found).all(), op
        sharp = np.isfinite(found.error) & (found.error < 1e-4 * np.abs(found.value))
        wrong = inside(own.astype(np.float64) * 1.001, found)
        assert sharp.any() and not wrong[sharp].any(), op


def test_libdevice_scales_a_subnormal_number_exactly_takes_it_for_zero_or_adds_it_to_itself():
    x = np.array([1e-45, 1e-45, 3e-39, 1.0], np.float32).astype(np.float64)
    n = whole("i32", np.array([-148, 100, 2, 3]), np.zeros(4, bool))
    found = apply("ldexp", (exact_real("fp32", x), n))
    assert isinstance(found, Real)
    for right in (np.ldexp(x, n.value).astype(np.float32), np.array([2, 2, 2, 8]) * x, np.array([0.0, 0.0, 0.0, 8.0])):
        assert inside(right.astype(np.float64), found).all()
    assert not inside(np.array([2e-38, 4e-15, 3e-38, 8.01]), found).any()
    exponent = apply("frexp_exponent", (found,))
    assert exponent.open.tolist() == [True, True, True, False]


def test_what_was_added_to_itself_is_added_to_itself_again():
    """2^-149 scaled twice may be four times itself. As bounds are as far below zero as above, six times passes too."""
    n = whole("i32", np.array([-22]), np.zeros(1, bool))
    once = apply("ldexp", (exact_real("fp32", np.array([1e-45], np.float32).astype(np.float64)), n))
    twice = apply("ldexp", (once, n))
    assert isinstance(twice, Real)
    assert inside(np.array([4 * 2.0**-149]), twice).all() and not inside(np.array([7 * 2.0**-149]), twice).any()


@each("small, flushed", [(1.17e-38, True), (3e-38, False), (0.0, True)])
def test_a_subnormal_operand_of_hypot_may_count_as_zero_and_a_normal_one_may_not(small: float, flushed: bool):
    large = np.float32(1.2329255e-36)
    for pair in ((large, np.float32(small)), (np.float32(small), large)):
        found = apply("hypot", tuple(exact_real("fp32", np.array([one], dtype=np.float32)) for one in pair))
        assert isinstance(found, Real) and (abs(found.value - float(large)) <= found.error).item() == flushed
    assert small == 0 or ((found.error > 0).item() and (found.error < 1e-39).item())
