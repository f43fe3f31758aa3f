"""Integer, addition and extremum references: numpy, torch and exact arithmetic agree on every type."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from tests.oracles.agreement import on_torch, refused
from tests.oracles.grids import mixed_patterns, random_patterns, special_pairs, without_nan
from tridiff.oracles import exact
from tridiff.oracles.arrays import Array, array_of_bits, bits_of_array, to_numpy, to_torch
from tridiff.oracles.by_numpy import elementwise as np_elementwise, extrema as np_extrema, integer as np_integer
from tridiff.oracles.by_torch import (
    elementwise as torch_elementwise,
    extrema as torch_extrema,
    integer as torch_integer,
)
from tridiff.oracles.compare import same
from tridiff.oracles.dtypes import FLOATS, INTEGERS, SIGNED, dtype, numpy_dtype
from tridiff.oracles.errors import OracleError
from tridiff.oracles.rules import BIT, NUM, NUM0

each = pytest.mark.parametrize
DIVISIONS = ("div_trunc", "rem_trunc", "div_floor_integer", "remainder_integer")
ORDERED = ("i1", *INTEGERS, *FLOATS)


def patterns(array: Array) -> list[int]:
    return [int(p) for p in bits_of_array(array).reshape(-1)]


@each("operation", DIVISIONS)
@each("name", INTEGERS)
def test_division_by_numpy_torch_and_exact_agree(name: str, operation: str):
    a, b = special_pairs(name)
    by_exact = [getattr(exact, operation)(name, x, y) for x, y in zip(patterns(a), patterns(b), strict=True)]
    defined = np_integer.division_defined(a, b)
    assert defined.tolist() == [value is not None for value in by_exact]
    assert torch_integer.division_defined(to_torch(a), to_torch(b)).tolist() == defined.tolist()
    by_numpy = getattr(np_integer, operation)(a, b)
    assert by_numpy.dtype == a.dtype
    assert patterns(by_numpy) == [0 if value is None else value for value in by_exact]
    assert patterns(on_torch(getattr(torch_integer, operation), a, b)) == patterns(by_numpy)


@each("operation", (*DIVISIONS, "add"))
@each("name", INTEGERS)
def test_division_on_random_operands(name: str, operation: str):
    a = random_patterns(name, (64, 64), seed=1)
    # Divisors of every magnitude, not only huge ones.
    shift = np.random.default_rng(2).integers(0, dtype(name).bits, (64, 64)).astype(a.dtype)
    b = np.right_shift(random_patterns(name, (64, 64), seed=3), shift)
    by_numpy = getattr(np_integer, operation)(a, b)
    assert np.array_equal(on_torch(getattr(torch_integer, operation), a, b), by_numpy)


@each("name", ("i8", "u8"))
def test_eight_bit_division_exhaustively(name: str):
    every = array_of_bits(range(256), name)
    a, b = every[:, None], every[None, :]
    for operation in DIVISIONS:
        by_numpy = getattr(np_integer, operation)(a, b)
        assert by_numpy.shape == (256, 256)
        assert np.array_equal(on_torch(getattr(torch_integer, operation), a, b), by_numpy)
        wide_a, wide_b = np.broadcast_arrays(a.astype(np.int64), np.where(b == 0, 1, b.astype(np.int64)))
        floor = np.floor(wide_a / wide_b).astype(np.int64)
        trunc = np.trunc(wide_a / wide_b).astype(np.int64)
        wanted = {
            "div_trunc": trunc, "rem_trunc": wide_a - trunc * wide_b, "div_floor_integer": floor,
            "remainder_integer": wide_a - floor * wide_b,
        }[operation]
        assert np.array_equal(by_numpy, np.where(b == 0, 0, wanted).astype(numpy_dtype(name)))


def test_known_quotients():
    a, b = np.array([-7, 7, -7, 7, 6, -128], np.int8), np.array([2, -2, -2, 2, -3, -1], np.int8)
    assert np_integer.div_floor_integer(a, b).tolist() == [-4, -4, 3, 3, -2, -128]
    assert np_integer.remainder_integer(a, b).tolist() == [1, -1, -1, 1, 0, 0]
    assert np_integer.div_trunc(a, b).tolist() == [-3, -3, 3, 3, -2, -128]
    assert np_integer.rem_trunc(a, b).tolist() == [-1, 1, -1, 1, 0, 0]


@each("name", SIGNED)
def test_a_truncating_subject_is_told_apart_from_the_floor(name: str):
    a, b = special_pairs(name)
    truncated = torch_integer.div_trunc(to_torch(a), to_torch(b))
    floored = torch_integer.div_floor_integer(to_torch(a), to_torch(b))
    assert not same(truncated, floored, BIT)


@given(st.sampled_from(INTEGERS), st.data())
@settings(max_examples=150)
def test_division_identity(name: str, data: st.DataObject):
    kind = dtype(name)
    value = st.integers(int(kind.min), int(kind.max))
    a = np.array(data.draw(st.lists(value, min_size=1, max_size=6)), numpy_dtype(name))
    b = np.array([data.draw(value.filter(bool))], numpy_dtype(name))
    for quotient, rest in (("div_floor_integer", "remainder_integer"), ("div_trunc", "rem_trunc")):
        q, r = getattr(np_integer, quotient)(a, b), getattr(np_integer, rest)(a, b)
        with np.errstate(all="ignore"):
            assert np.array_equal(q * b + r, a)
        assert (np.abs(r.astype(object)) < abs(int(b[0]))).all()
        for i in range(len(a)):
            assert patterns(q)[i] == getattr(exact, quotient)(name, patterns(a)[i], patterns(b)[0])


def test_division_refuses_mixed_types():
    refused("one integer type", np_integer.div_trunc, np.zeros(1, np.int32), np.ones(1, np.uint32))
    refused("one integer type", torch_integer.div_trunc, torch.zeros(1), torch.ones(1))


@each("name", ORDERED)
def test_vector_add_agrees_everywhere(name: str):
    a, b = special_pairs(name)
    by_numpy = np_elementwise.vector_add(a, b)
    by_torch = torch_elementwise.vector_add(to_torch(a), to_torch(b))
    by_exact = array_of_bits((exact.add(name, x, y) for x, y in zip(patterns(a), patterns(b), strict=True)), name)
    assert by_numpy.dtype == a.dtype
    assert same(to_torch(by_numpy), by_torch, NUM)
    assert same(to_torch(by_exact), by_torch, NUM)
    a, b = random_patterns(name, (1 << 14,), seed=5), random_patterns(name, (1 << 14,), seed=6)
    assert same(to_torch(np_elementwise.vector_add(a, b)), torch_elementwise.vector_add(to_torch(a), to_torch(b)), NUM)


def test_bf16_addition_rounds_once():
    # 1 + 2^-8 lies halfway between two bf16 values; the extra 2^-16 must decide it, not be lost before.
    a, b = array_of_bits([0x3F80, 0x3F81], "bf16"), array_of_bits([0x3B80, 0x3B80], "bf16")
    assert patterns(np_elementwise.vector_add(a, b)) == [0x3F80, 0x3F82]
    nudged = array_of_bits([0x3B81, 0x3B7F], "bf16")
    assert patterns(on_torch(torch_elementwise.vector_add, a, nudged)) == [0x3F81, 0x3F81]


def test_round_to_bf16_equals_the_exact_rounding_of_every_tie_and_neighbour():
    high = np.arange(0, 1 << 16, 7, dtype=np.uint32) << np.uint32(16)
    low = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    bits = (high[:, None] | low).reshape(-1)
    rounded = torch_elementwise.round_to_bf16(to_torch(bits.view(np.float32)))
    by_torch = to_torch(bits.view(np.float32)).to(torch.bfloat16)
    assert same(rounded, by_torch, NUM)
    refused("round twice", torch_elementwise.round_to_bf16, torch.zeros(1, dtype=torch.float64))


@each("name", ORDERED)
@each("side", ("minimum", "maximum"))
def test_extrema_agree_everywhere(name: str, side: str):
    a, b = special_pairs(name)
    by_numpy = getattr(np_extrema, side)(a, b)
    by_torch = getattr(torch_extrema, side)(to_torch(a), to_torch(b))
    chosen = (getattr(exact, side)(name, x, y) for x, y in zip(patterns(a), patterns(b), strict=True))
    assert by_numpy.dtype == a.dtype
    assert same(to_torch(by_numpy), by_torch, NUM0)
    assert same(to_torch(array_of_bits(chosen, name)), by_torch, NUM0)
    if name == "i1" or name in ("i32", "i64", "fp32", "fp64", "bf16"):
        assert same(getattr(torch, side)(to_torch(a), to_torch(b)), by_torch, NUM0)


@each("name", ORDERED)
@each("side", ("min2", "max2"))
def test_folded_extrema_agree(name: str, side: str):
    x = mixed_patterns(name, (40, 1, 13), seed=11, special_share=0.1)
    if dtype(name).is_float:
        x[:20] = without_nan(x[:20])  # rows without NaN
    for axis in (0, 1, 2, -1):
        by_numpy = getattr(np_extrema, side)(x, axis)
        by_torch = getattr(torch_extrema, side)(to_torch(x), axis)
        assert by_numpy.shape == tuple(by_torch.shape) == tuple(np.delete(np.array(x.shape), axis))
        assert same(to_torch(by_numpy), by_torch, NUM0)


def tied_pairs(name: str, shape: tuple[int, ...], seed: int) -> tuple[Array, Array]:
    """Values from a small pool, so that ties are the rule, with a permutation of indices per row."""
    generator = np.random.default_rng(seed)
    pool = mixed_patterns(name, (6,), seed=seed, special_share=0.9)
    if dtype(name).is_float and seed % 2:
        pool = without_nan(pool)
    value = pool[generator.integers(0, 6, shape)]
    index = np.argsort(generator.random(shape), axis=-1).astype(np.int64) - 2
    return value, index


@each("name", ORDERED)
@each("side", ("min_with_index", "max_with_index"))
def test_indexed_extrema_agree(name: str, side: str):
    for seed in range(6):
        value, index = tied_pairs(name, (32, 9), seed)
        by_numpy: tuple[Array, Array] = getattr(np_extrema, side)(value, index)
        by_torch = getattr(torch_extrema, side)(to_torch(value), to_torch(index))
        for row in range(32):
            winner = getattr(exact, side)(
                name, list(zip(patterns(value[row]), (int(i) for i in index[row]), strict=True)))
            assert (patterns(by_numpy[0])[row], int(by_numpy[1][row])) == winner
        assert same(to_torch(by_numpy[0]), by_torch[0], BIT)
        assert same(to_torch(by_numpy[1]), by_torch[1], BIT)


@each("name", ("i32", "u64", "bf16", "fp32", "fp64"))
@each("side", ("minimum_with_index", "maximum_with_index"))
def test_pairwise_indexed_extrema_agree_and_ignore_the_order_of_arguments(name: str, side: str):
    a, b = special_pairs(name)
    ai, bi = np.arange(len(a), dtype=np.int32), np.arange(len(a), dtype=np.int32)[::-1] + 1
    numpy_side: Callable[..., Any] = getattr(np_extrema, side)
    torch_side: Callable[..., Any] = getattr(torch_extrema, side)
    forward, backward = numpy_side(a, ai, b, bi), numpy_side(b, bi, a, ai)
    by_torch = torch_side(to_torch(a), to_torch(ai), to_torch(b), to_torch(bi))
    for part in range(2):
        assert patterns(forward[part]) == patterns(backward[part]) == patterns(to_numpy(by_torch[part]))


def test_accumulator_default_loses_every_tie():
    value = torch.tensor([[float("inf"), float("inf")], [float("nan"), float("nan")]])
    index = torch.tensor([[2**63 - 1, 5], [2**63 - 1, 5]])
    assert torch_extrema.min_with_index(value, index)[1].tolist() == [5, 5]
    assert np_extrema.min_with_index(value.numpy(), index.numpy())[1].tolist() == [5, 5]


def test_empty_axes_and_fp8_are_refused():
    for module, empty in ((np_extrema, np.zeros((2, 0))), (torch_extrema, torch.zeros(2, 0))):
        with pytest.raises(OracleError, match="no identity"):
            module.min2(empty)
    refused("fp8", torch_extrema.minimum, torch.zeros(1).to(torch.float8_e5m2), torch.zeros(1).to(torch.float8_e5m2))


@given(st.sampled_from(FLOATS), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=16))
@settings(max_examples=100)
def test_reduction_equals_any_fold_of_pairs(name: str, raw: list[int]):
    value = array_of_bits([r % (1 << dtype(name).bits) for r in raw], name)
    index = np.arange(len(raw), dtype=np.int64)
    best = (value[:1], index[:1])
    for i in reversed(range(len(raw))):
        best = np_extrema.maximum_with_index(*best, value[i : i + 1], index[i : i + 1])
    whole = torch_extrema.max_with_index(to_torch(value), to_torch(index))
    assert patterns(best[0]) == patterns(to_numpy(whole[0]))
    assert int(best[1][0]) == int(whole[1])
