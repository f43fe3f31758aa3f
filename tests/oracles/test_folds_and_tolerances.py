"""Sums, products, Welford states and their bounds: sources agree, honest fp32 arithmetic passes, faults do
not.
"""

import math
from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import Tensor, tensor

from tests.oracles.agreement import on_torch, refused
from tests.oracles.grids import mixed_patterns, random_patterns
from tridiff.oracles import tolerances as tol
from tridiff.oracles.arrays import Array, array_of_bits, to_numpy, to_torch
from tridiff.oracles.bounded import RULES
from tridiff.oracles.by_exact import folds as by_exact
from tridiff.oracles.by_numpy import language as np_language, reductions as np_reductions, welford as np_welford
from tridiff.oracles.by_torch import (
    language as torch_language,
    reductions as torch_reductions,
    welford as torch_welford,
)
from tridiff.oracles.by_torch.reductions import tree
from tridiff.oracles.compare import compare, same
from tridiff.oracles.dtypes import FLOATS, INTEGERS
from tridiff.oracles.rules import BIT, NUM, SET

each = pytest.mark.parametrize


def small_floats(name: str, shape: tuple[int, ...], seed: int, spread: float = 4.0) -> Array:
    generator = np.random.default_rng(seed)
    values = np.exp2(generator.normal(0, spread, shape)) * np.where(generator.random(shape) < 0.5, -1, 1)
    return to_numpy(torch.from_numpy(values).to(to_torch(array_of_bits([0], name)).dtype))


def passes(actual: Tensor, expected: Tensor, name: str, bound: Tensor) -> bool:
    return compare(actual, expected, RULES[name], bound=bound).clean


def judge(expected: Tensor, name: str, bound: Tensor) -> Callable[[Tensor], bool]:
    return lambda actual: passes(actual, expected, name, bound)


@each("fold", ("sum", "prod"))
@each("name", INTEGERS)
def test_integer_folds_wrap_alike(name: str, fold: str):
    x = mixed_patterns(name, (24, 3, 7), seed=2)
    for axis in (0, 1, 2, -1):
        by_numpy = getattr(np_reductions, fold)(x, axis)
        assert by_numpy.dtype == x.dtype
        assert np.array_equal(on_torch(getattr(torch_reductions, fold), x, axis), by_numpy)
        assert np.array_equal(getattr(by_exact, fold)(x, axis), by_numpy)
    assert np.array_equal(on_torch(torch_reductions.cumsum, x, -1), np_reductions.cumsum(x, -1))


def test_integer_folds_keep_their_type_and_know_empty_axes():
    assert np_reductions.prod(np.array([100, 2], np.int8)).tolist() == -56
    for module, make in ((np_reductions, np.zeros), (torch_reductions, torch.zeros)):
        assert module.sum(make((2, 0))).tolist() == [0, 0]
        assert module.prod(make((2, 0))).tolist() == [1, 1]
    refused("i1", np_reductions.sum, np.zeros(3, bool))
    refused("i1", torch_reductions.prod, torch.zeros(3, dtype=torch.bool))


@each("name", ("i1", *INTEGERS))
def test_any_is_a_bitwise_or(name: str):
    x = mixed_patterns(name, (16, 5), seed=4)
    x[:8] &= x.dtype.type(1)
    by_numpy = np_reductions.any(x, -1)
    assert np.array_equal(on_torch(torch_reductions.any, x, -1), by_numpy)
    assert by_numpy[:8].astype(bool).tolist() == [any(row) for row in x[:8].tolist()]
    refused("compare with zero", torch_reductions.any, torch.zeros(3))
    assert np_reductions.any(np.array([2, 4], np.int32)) == 6


@each("name", FLOATS)
def test_float_sums_of_all_sources_agree_within_the_float64_bound(name: str):
    x = small_floats(name, (64, 33), seed=8)
    by_exact_sum = to_torch(by_exact.sum(x))
    bound = tol.sum_bound(to_torch(x), acc="fp64")
    assert passes(to_torch(np_reductions.sum(x)), by_exact_sum, "sum_bound", bound)
    assert passes(torch_reductions.sum(to_torch(x)), by_exact_sum, "sum_bound", bound)
    prefix = tol.prefix_sum_bound(to_torch(x), acc="fp64")
    sums = to_torch(np.stack([by_exact.sum(x[:, : i + 1]) for i in range(x.shape[1])], axis=1))
    assert passes(to_torch(np_reductions.cumsum(x)), sums, "prefix_sum_bound", prefix)
    assert passes(torch_reductions.cumsum(to_torch(x)), sums, "prefix_sum_bound", prefix)


def test_prefix_sums_begin_with_the_first_element_and_keep_its_sign():
    x = np.array([[-0.0, -0.0, 0.0, -0.0], [1.0, -1.0, -0.0, -0.0]])
    expected = np.array([[-0.0, -0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    for found in (np_reductions.cumsum(x), torch_reductions.cumsum(torch.from_numpy(x)).numpy(),
                  np_language.scan(x[None], kind="sum", axis=1, reverse=False)[0],
                  torch_language.scan(torch.from_numpy(x)[None], kind="sum", axis=1, reverse=False)[0].numpy()):
        assert found.tobytes() == expected.tobytes()


def test_every_order_of_float32_addition_passes_and_a_lost_element_does_not():
    x = to_torch(small_floats("fp32", (32, 256), seed=9, spread=1.0))
    expected, bound = torch_reductions.sum(x), tol.sum_bound(x)
    sequential = x[:, 0].clone()
    for i in range(1, 256):
        sequential = sequential + x[:, i]
    fits = judge(expected, "sum_bound", bound)
    for order in (sequential, tree(x, -1, torch.add), x.flip(1).sum(1)):
        assert fits(order)
    assert not fits(tree(x[:, 1:], -1, torch.add))
    twice = torch.cat([x, x[:, :1]], dim=1)
    assert not fits(tree(twice, -1, torch.add))
    in_halves = tree(x.to(torch.bfloat16), -1, torch.add).to(torch.float32)
    assert not fits(in_halves)


def test_special_values_make_the_bound_semantic_and_overflow_opens_it():
    x = tensor([[inf, 1], [nan, 1], [inf, -inf], [3e38, 3e38], [1, 2]])
    bound = tol.sum_bound(x)
    assert bound[:4].tolist() == [0, 0, 0, inf] and 0 < float(bound[4]) < 1e-5
    expected = torch_reductions.sum(x)
    right = tensor([inf, nan, nan, inf, 3])
    fits = judge(expected, "sum_bound", bound)
    assert fits(right)
    for row in (0, 1, 2, 4):
        wrong = right.clone()
        wrong[row] = -1.0
        assert not fits(wrong)
    assert tol.mean_bound(x)[:4].tolist() == [0, 0, 0, inf]


def test_mean_bound_is_the_sum_bound_over_n_and_catches_a_wrong_divisor():
    x = to_torch(np.abs(small_floats("fp32", (16, 100), seed=10, spread=1.0)))
    expected, bound = torch_reductions.sum(x) / 100, tol.mean_bound(x)
    fits = judge(expected, "mean_bound", bound)
    assert fits(x.mean(1))
    assert not fits(x.sum(1) / 99)
    assert not fits(x.sum(1) / 128)


def test_chain_depth_counts_the_longest_path():
    assert [tol.chain_depth(n, r) for n, r in ((1, 1), (1024, 1024), (5000, 1024), (7, 4))] == [1, 11, 15, 4]
    refused("count >= 1", tol.chain_depth, 0, 1)


@each("name", ("fp16", "bf16", "fp32", "fp64"))
def test_products_agree_inside_the_range_condition(name: str):
    x = small_floats(name, (64, 9), seed=12, spread=1.0)
    reference = to_torch(by_exact.prod(x))
    bound = tol.prod_bound(to_torch(x), reference, acc="fp64")
    assert torch.isfinite(bound).all()
    fits = judge(reference, "prod_bound", bound)
    assert fits(to_torch(np_reductions.prod(x)))
    assert fits(torch_reductions.prod(to_torch(x)))


def test_product_range_condition_and_faults():
    x = tensor([[2, 3, 0.5], [1e30, 1e30, 1e-30], [0, 5, 2], [inf, -2, 1], [inf, 0, 1]])
    expected = torch_reductions.prod(x)
    assert tol.prod_in_range(x).tolist() == [True, False, True, True, True]
    bound = tol.prod_bound(x, expected)
    right = tensor([3, inf, 0, -inf, nan])
    assert passes(right, expected, "prod_bound", bound)
    for row, wrong in ((0, 6.0), (2, -0.0), (3, inf), (4, 0.0)):
        faulty = right.clone()
        faulty[row] = wrong
        assert not passes(faulty, expected, "prod_bound", bound), row
    values = to_torch(np.abs(small_floats("fp32", (16, 16), seed=13, spread=0.5)))
    reference = torch_reductions.prod(values)
    limit = tol.prod_bound(values, reference)
    assert passes(values.prod(1), reference, "prod_bound", limit)
    assert not passes(values[:, 1:].prod(1), reference, "prod_bound", limit)
    assert not passes(values.half().prod(1).float(), reference, "prod_bound", limit)


def states(name: str, rows: int, columns: int, seed: int, offset: float = 0.0) -> tuple[Array, Array, Array]:
    generator = np.random.default_rng(seed)
    kind = {"fp32": np.float32, "fp64": np.float64}[name]
    weight = generator.integers(0, 5, (rows, columns)).astype(kind)
    mean = (generator.normal(0, 1, (rows, columns)) + offset).astype(kind)
    m2 = (generator.random((rows, columns)) * weight).astype(kind)
    garbage = np.where(generator.random((rows, columns)) < 0.5, np.nan, np.inf).astype(kind)
    return np.where(weight == 0, garbage, mean), np.where(weight == 0, garbage, m2), weight


@each("name", ("fp32", "fp64"))
@each("offset", (0.0, 1e3, 1e6))
def test_welford_sources_agree_and_empty_partners_never_contribute(name: str, offset: float):
    state = states(name, 40, 13, seed=14, offset=offset)
    by_torch = torch_welford.welford(*(to_torch(s) for s in state))
    by_numpy = tuple(to_torch(s) for s in np_welford.welford(*state))
    expected = tuple(to_torch(s) for s in by_exact.welford(*state))
    tensors = [to_torch(s) for s in state]
    mean_bound = tol.welford_mean_bound(tensors[0], tensors[2], depth=13, acc="fp64")
    m2_bound = tol.welford_m2_bound(*tensors, expected[1], depth=13, acc="fp64")
    assert torch.isfinite(expected[0]).all() and torch.isfinite(expected[1]).all()
    for found in (by_torch, by_numpy):
        assert passes(found[0], expected[0], "welford_mean_bound", mean_bound)
        assert passes(found[1], expected[1], "welford_m2_bound", m2_bound)
        assert same(found[2], expected[2], BIT)


def float32_chain(x: Tensor, *, forget_cross_term: bool = False) -> tuple[Tensor, Tensor]:
    """A plain fp32 Welford recurrence, as a subject."""
    mean, m2 = torch.zeros_like(x[:, 0]), torch.zeros_like(x[:, 0])
    for i in range(x.shape[1]):
        gap = x[:, i] - mean
        mean = mean + gap / (i + 1)
        m2 = m2 + gap * (gap if forget_cross_term else x[:, i] - mean)
    return mean, m2


@each("offset", (0.0, 10.0, 1e4, 1e6))
def test_float32_welford_passes_and_broken_ones_do_not(offset: float):
    x = torch.from_numpy((np.random.default_rng(15).normal(offset, 1, (32, 200))).astype(np.float32))
    zeros, ones = torch.zeros_like(x), torch.ones_like(x)
    mean, m2, weight = torch_welford.welford(x, zeros, ones)
    mean_bound = tol.welford_mean_bound(x, ones, depth=200)
    m2_bound = tol.welford_m2_bound(x, zeros, ones, m2, depth=200)
    found = float32_chain(x)
    assert weight.tolist() == [200] * 32
    mean_fits = judge(mean, "welford_mean_bound", mean_bound)
    assert mean_fits(found[0])
    m2_fits = judge(m2, "welford_m2_bound", m2_bound)
    assert m2_fits(found[1])
    if offset <= 10.0:
        assert not m2_fits(float32_chain(x, forget_cross_term=True)[1])
        assert not m2_fits(found[1] / 200 * 199)
        assert not mean_fits(found[0] * 199 / 200 - 0.05)
    # The textbook E[x^2] - E[x]^2 loses everything once the mean dominates.
    if offset >= 1e4:
        naive = (x * x).sum(1) - x.sum(1) ** 2 / 200
        assert not m2_fits(naive)


def test_constant_rows_have_a_floor_and_nothing_more():
    x = torch.full((1, 64), 1000.1)
    zeros, ones = torch.zeros_like(x), torch.ones_like(x)
    m2 = torch_welford.welford(x, zeros, ones)[1]
    bound = tol.welford_m2_bound(x, zeros, ones, m2, depth=64)
    fits = judge(m2, "welford_m2_bound", bound)
    assert fits(float32_chain(x)[1])
    assert 0 < float(bound[0]) < 100 and not fits(tensor([100.0]))


def test_special_slices_give_nan_variance_and_two_allowed_means():
    x = tensor([[inf, 1], [inf, inf], [inf, -inf], [nan, 1], [1, 3]])
    one, zero = torch.ones_like(x), torch.zeros_like(x)
    for module, values in ((torch_welford, (x, zero, one)), (np_welford, (x.numpy(), zero.numpy(), one.numpy()))):
        mean, m2, weight = (torch.as_tensor(t) for t in module.welford(*values))
        assert torch.isnan(m2[:4]).all() and m2[4] == 2.0
        assert torch.isnan(mean[:4]).all() and mean[4] == 2.0 and weight.tolist() == [2] * 5
        allowed = torch.as_tensor(module.mean_candidates(values[0], values[2]))
        assert compare(tensor([inf, inf, nan, nan, 2]).double(), allowed, SET(NUM)).clean
        wrong = tensor([-inf, 0, inf, 1, 2.5]).double()
        assert compare(wrong, allowed, SET(NUM)).mismatch.all()
    assert torch.isnan(to_torch(by_exact.welford(*(to_numpy(t) for t in (x, zero, one)))[1])[:4]).all()


def test_combine_and_reduce_handle_empty_partners():
    def t(*v: float) -> Tensor:
        return tensor(v)

    garbage = (t(1e30, nan), t(inf, 5.0), t(0.0, 0.0))
    state = (t(1.0, 2.0), t(0.5, 0.0), t(4.0, 1.0))
    for first, second in ((garbage, state), (state, garbage)):
        found = torch_welford.welford_combine(*first, *second)
        assert [f.tolist() for f in found] == [s.tolist() for s in state]
        found_numpy = np_welford.welford_combine(*(s.numpy() for s in first), *(s.numpy() for s in second))
        assert [f.tolist() for f in found_numpy] == [s.tolist() for s in state]
    empty = torch_welford.welford_combine(*garbage, *garbage)
    assert [e.tolist() for e in empty] == [[0.0, 0.0]] * 3
    for module, convert in ((torch_welford, lambda x: x), (np_welford, lambda x: x.numpy())):
        values = [convert(x) for x in (t(7.0, 3.0), *state)]
        first = module.welford_reduce(*values, first_iteration=True)
        assert [list(map(float, f)) for f in first] == [[7.0, 3.0], [0.0, 0.0], [1.0, 1.0]]
        later = module.welford_reduce(*values, first_iteration=False)
        assert [list(map(float, f)) for f in later] == [[2.2, 2.5], [29.3, 0.5], [5.0, 2.0]]


def test_variance_of_one_element_is_nan():
    for variance, _ in (
        torch_welford.var_mean(torch.ones(2, 1), correction=1),
        np_welford.var_mean(np.ones((2, 1), np.float32), correction=1),
    ):
        assert np.isnan(np.asarray(variance)).all()
    variance, mean = torch_welford.var_mean(tensor([[1.0, 3.0]]))
    assert (float(variance), float(mean)) == (1.0, 2.0)


def test_two_pass_bound_accepts_two_passes_and_rejects_one():
    x = torch.from_numpy(np.random.default_rng(16).normal(100, 1, (16, 300)).astype(np.float32))
    variance, mean = torch_welford.var_mean(x)
    bound = tol.two_pass_variance_bound(x, mean, variance)
    two_pass = ((x - x.mean(1, keepdim=True)) ** 2).mean(1)
    fits = judge(variance, "two_pass_variance_bound", bound)
    assert fits(two_pass)
    one_pass = (x * x).mean(1) - x.mean(1) ** 2
    assert not fits(one_pass)


def test_dot_bounds_separate_the_precisions():
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(32, 64, generator=generator), torch.randn(64, 16, generator=generator)
    expected = a.double() @ b.double()

    def truncated(x: Tensor, bits: int) -> Tensor:
        return (x.view(torch.int32) & ~((1 << bits) - 1)).view(torch.float32)

    full, tf32 = a @ b, truncated(a, 13) @ truncated(b, 13)
    bounds = {p: tol.dot_bound(a, b, precision=p) for p in ("ieee", "tf32x3", "tf32")}
    assert all(passes(full, expected, "dot_bound", bound) for bound in bounds.values())
    assert passes(tf32, expected, "dot_bound", bounds["tf32"])
    assert not passes(tf32, expected, "dot_bound", bounds["tf32x3"])
    coarse = truncated(a, 18) @ truncated(b, 18)
    assert not passes(coarse, expected, "dot_bound", bounds["tf32"])
    halves = a.half(), b.half()
    exact = halves[0].double() @ halves[1].double()
    half_bound = tol.dot_bound(*halves, precision="half")
    assert passes(halves[0].float() @ halves[1].float(), exact, "dot_bound", half_bound)
    assert not passes((halves[0] @ halves[1]).float(), exact, "dot_bound", half_bound)
    # Beside 13.6 a tensor core sums products with 2^-24, the smallest fp16, in steps of 2^-38.
    left, right = torch.tensor([[13.6, -0.8]], dtype=torch.float16), torch.full((2, 1), 2.0**-24, dtype=torch.float16)
    near = (left.double() @ right.double())
    allowed = tol.dot_bound(left, right, precision="half")
    assert passes((near + 2.0**-38).float(), near, "dot_bound", allowed)
    assert not passes((near + 2.0**-30).float(), near, "dot_bound", allowed)
    refused("unknown dot precision", tol.dot_bound, a, b, precision="fp16")


@each("precision", ("tf32", "tf32x3"))
def test_products_with_numbers_that_tf32_has_no_room_for_are_open_and_their_neighbours_are_not(precision: str):
    a = tensor([[0.25, 1.0], [nan, 1.0]])
    for large, opened in ((torch.finfo(torch.float32).max, True), (3.402e38, True), (3.4019e38, False)):
        columns = tensor([[1.0, large], [2.0, 0.0]])
        found = tol.dot_bound(a, columns, precision=precision)
        assert found.isinf().tolist() == [[False, opened], [False, False]], "a NaN decides its row"
        assert tol.dot_bound(columns.T, a.T, precision=precision).isinf().tolist() == [[False, False], [opened, False]]
        assert tol.dot_bound(a, columns, precision="ieee").isfinite().all()


def test_softmax_bound():
    x = torch.from_numpy(np.random.default_rng(17).normal(0, 10, (16, 128)).astype(np.float32))
    expected, bound = torch.softmax(x.double(), -1), tol.softmax_bound(x)
    fits = judge(expected, "softmax_bound", bound)
    assert fits(torch.softmax(x, -1))
    assert not fits(torch.softmax(x, -1) * (1 + 1e-3))
    assert not fits(torch.softmax(x.bfloat16(), -1).float())


def test_bounds_have_the_values_that_the_policy_states():
    """By hand on tiny inputs, so that a slip in a formula cannot hide behind the slack of the bound."""
    u, eps = 2.0**-24, 2.0**-23
    x, pair = tensor([1.0, -2.0, 4.0]), tensor([1.0, 3.0])
    ones, zeros = torch.ones(2), torch.zeros(2)
    a, b = tensor([[1.0, -2.0]]), tensor([[3.0], [4.0]])
    mean, m2 = tensor(2.0).double(), tensor(2.0).double()
    c = 8 * (1 + 4) * u
    even = torch.zeros(2)
    stated: list[tuple[Tensor, float]] = [
        (tol.sum_bound(x), 3 * eps * 7), (tol.sum_bound(x, acc="fp64"), 3 * 2.0**-52 * 7),
        (tol.mean_bound(x), (3 * eps * 7 + 2 * eps * 7) / 3), (tol.prefix_sum_bound(x)[0], eps * 1),
        (tol.prefix_sum_bound(x)[2], 3 * eps * 7),
        (tol.prod_bound(x, tensor(-8.0).double()), 3 * eps * 8), (tol.dot_bound(a, b), 2 * eps * 11),
        (tol.dot_bound(a, b, precision="tf32"), (2.0**-9 + 2 * eps) * 11),
        (tol.dot_bound(a, b, precision="tf32x3"), (2.0**-20 + 2 * eps) * 11),
        (tol.dot_bound(a, b, precision="half"), 4 * eps * 11),
        (tol.dot_bound(a, b, precision="fp8"), 2 * 2.0**-13 * 11),
        (tol.welford_mean_bound(tensor([1.0, -3.0]), tensor([1.0, 3.0]), depth=2), 8 * 6 * u * 3),
        (tol.welford_m2_bound(pair, zeros, ones, m2, depth=1), c * math.sqrt(2 * (2 + 2 * 9)) + c * c * 20),
        (tol.two_pass_variance_bound(pair, mean, m2 / 2), 2 * eps * 1 + (2 * u) ** 2 * 5),
        (tol.softmax_bound(even)[0], 2 * 0.5 * (7 + 7 + 4 + 4) * u + 2.0**-126),
        (
            tol.softmax_bound(tensor([0.0, -2.0]))[1],
            2 * (w := 1 / (1 + math.e**2)) * u * ((9.46 + 2) + (7 * (1 - w) + 11.46 * w) + 8) + 2.0**-126)]
    for row, (found, value) in enumerate(stated):
        assert float(found.reshape(-1)[0]) == pytest.approx(value, rel=1e-6), row


def test_bounds_open_exactly_where_something_may_overflow():
    ones, zeros = torch.ones(2), torch.zeros(2)
    far, near = tensor([3e38, -3e38]), tensor([1e38, -1e38])
    assert tol.welford_mean_bound(far, ones, depth=1).isinf()
    assert tol.welford_mean_bound(near, ones, depth=1).isfinite()
    for spread, opened in ((1e38, True), (0.8e38, False)):
        expected = tensor(spread, dtype=torch.float64)
        bound = tol.welford_m2_bound(tensor([1.0, -1.0]), zeros, ones, expected, depth=1)
        assert bool(bound.isinf()) == opened
    assert tol.welford_m2_bound(near, zeros, ones, torch.zeros((), dtype=torch.float64), depth=1).isinf()
    # An infinity beside finite values that may overflow to the other one: NaN and the infinity are both
    # right.
    assert tol.sum_bound(tensor([inf, -3e38, -3e38])).isinf()
    ignored = tensor([1, nan]), tensor([1.0, 0.0])
    assert float(tol.welford_mean_bound(*ignored, depth=0)) == pytest.approx(8 * 4 * 2.0**-24)
    state = tensor([1.0, 1.0]), tensor([0, inf]), tensor([1.0, 0.0])
    one = torch.ones((), dtype=torch.float64)
    assert tol.welford_m2_bound(*state, 0 * one, depth=0) > 0


def test_every_formula_has_a_rule_with_an_origin():
    for name, rule in RULES.items():
        assert callable(getattr(tol, name)) and rule.bound == name and "oracles.md §4" in rule.origin


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=12))
@settings(max_examples=150)
def test_float32_sums_of_any_bits_stay_inside_their_bound(raw: list[int]):
    x = to_torch(array_of_bits(raw, "fp32")).reshape(1, -1)
    expected = to_torch(by_exact.sum(to_numpy(x)))
    sequential = x[:, 0]
    for i in range(1, x.shape[1]):
        sequential = sequential + x[:, i]
    assert passes(sequential, expected, "sum_bound", tol.sum_bound(x))
    assert same(torch_reductions.sum(x).isnan(), expected.isnan(), BIT)


@each("name", FLOATS)
def test_exact_sums_know_special_values(name: str):
    x = random_patterns(name, (200, 3), seed=18)
    found, expected = torch_reductions.sum(to_torch(x)), to_torch(by_exact.sum(x))
    bound = tol.sum_bound(to_torch(x), acc="fp64")
    assert passes(found, expected, "sum_bound", bound)
