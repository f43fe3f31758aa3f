"""Bucketize, sort, selection, frexp, scans, packing and probes: three sources agree; faults differ."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from tests.oracles.agreement import on_torch, refused, same_bits
from tests.oracles.grids import mixed_patterns, random_patterns
from tridiff.oracles import exact
from tridiff.oracles.arrays import Array, array_of_bits, bits_of_array, tensor_of_bits, to_numpy, to_torch
from tridiff.oracles.bounded import RULES
from tridiff.oracles.by_exact import pointwise as exact_pointwise, rows as by_exact
from tridiff.oracles.by_numpy import (
    floats as np_floats,
    probes as np_probes,
    scan as np_scan,
    search as np_search,
    sorting as np_sorting,
)
from tridiff.oracles.by_torch import (
    floats as torch_floats,
    probes as torch_probes,
    scan as torch_scan,
    search as torch_search,
    sorting as torch_sorting,
)
from tridiff.oracles.compare import compare, same
from tridiff.oracles.dtypes import FLOATS, INTEGERS, NAMES, UNSIGNED, dtype, torch_dtype
from tridiff.oracles.rules import BIT, NUM
from tridiff.oracles.special_values import special_bits

each = pytest.mark.parametrize
KEYS = ("i1", *INTEGERS, *FLOATS)


def in_order(x: Array) -> Array:
    """Rows sorted ascending, NaN last."""
    index = np.broadcast_to(np.arange(x.shape[-1], dtype=np.int64), x.shape)
    return np_sorting.sort_with_index(x, np.ascontiguousarray(index))[0]


@each("right", (False, True))
@each("name", (*INTEGERS, *FLOATS))
def test_bucketize_agrees_where_defined(name: str, right: bool):
    for size in (0, 1, 2, 3, 7, 8, 9):
        edges = mixed_patterns(name, (12, size), seed=size)
        edges = in_order(edges) if size else edges
        values = mixed_patterns(name, (12, 20), seed=100 + size)
        if size:
            values[:, :5] = edges[:, np.random.default_rng(size).integers(0, size, 5)]
        by_numpy = np_search.bucketize(values, edges, right=right)
        by_torch = on_torch(torch_search.bucketize, values, edges, right=right)
        by_count = by_exact.bucketize(values, edges, right=right)
        defined = np_search.bucketize_defined(values, edges, right=right)
        assert np.array_equal(on_torch(torch_search.bucketize_defined, values, edges, right=right), defined)
        for found in (by_numpy, by_torch):
            assert np.array_equal(found[defined], by_count[defined])
            assert ((found >= 0) & (found <= size)).all()
        assert defined.mean() > 0.5
        if name in ("i32", "i64", "fp32", "fp64") and size:
            library = on_torch(torch.searchsorted, edges, values, right=right)
            assert np.array_equal(library[defined], by_count[defined])


def test_bucketize_known_answers_with_nan():
    nan = math.nan
    edges, values = np.array([1.0, 2.0, nan]), np.array([5.0, nan, 0.0, 2.0])
    assert np_search.bucketize(values, edges)[:2].tolist() == [3, 3]
    assert np_search.bucketize_defined(values, edges).tolist() == [True, True, False, False]
    assert np_search.bucketize_defined(values, edges, right=True).tolist() == [True, True, False, True]
    assert torch.bucketize(torch.tensor([5, nan]), torch.tensor([1, 2, nan])).tolist() == [3, 3]
    unsorted = np.array([3.0, 1.0])
    assert not np_search.bucketize_defined(values, unsorted)[[0, 2, 3]].any()
    zeros = np.array([-0.0, 0.0, 0.0])
    assert np_search.bucketize(np.array([0.0, -0.0]), zeros).tolist() == [0, 0]
    assert np_search.bucketize(np.array([0.0, -0.0]), zeros, right=True).tolist() == [3, 3]


def test_bucketize_sorters_shared_rows_and_result_types():
    generator = np.random.default_rng(3)
    edges = generator.integers(-50, 50, (6, 11)).astype(np.int16)
    sorter = np.argsort(edges, axis=-1, kind="stable").astype(np.int32)
    values = generator.integers(-60, 60, (6, 9)).astype(np.int16)
    found = np_search.bucketize(values, edges, sorter, index_dtype="i32")
    assert found.dtype == np.int32
    assert np.array_equal(found, by_exact.bucketize(values, edges, sorter, index_dtype="i32"))
    by_torch = on_torch(torch_search.bucketize, values, edges, sorter, index_dtype="i32")
    assert np.array_equal(by_torch, found) and by_torch.dtype == np.int32
    shared = np.sort(edges[0])
    one = np_search.bucketize(values, shared)
    assert np.array_equal(one, by_exact.bucketize(values, shared))
    assert np.array_equal(one, on_torch(torch_search.bucketize, values, shared))
    assert np_search.bucketize(values[0], shared).shape == (9,)
    refused("one type", np_search.bucketize, values, shared.astype(np.uint16))


@each("descending", (False, True))
@each("name", KEYS)
def test_sorts_agree_bit_for_bit(name: str, descending: bool):
    for length, rnumel, index_type in ((1, None, np.int16), (8, None, np.int32), (16, 11, np.int64), (16, 1, np.int16)):
        pool = mixed_patterns(name, (5,), seed=length, special_share=0.8)
        x = pool[np.random.default_rng(length).integers(0, 5, (20, length))]
        x[10:] = mixed_patterns(name, (10, length), seed=length + 1)
        index = np.broadcast_to(np.arange(length, dtype=index_type), x.shape).copy()
        by_numpy = np_sorting.sort_with_index(x, index, rnumel=rnumel, descending=descending)
        by_torch = on_torch(torch_sorting.sort_with_index, x, index, rnumel=rnumel, descending=descending)
        by_python = by_exact.sort_with_index(x, index, rnumel=rnumel, descending=descending)
        for part in range(2):
            assert by_numpy[part].dtype == (x, index)[part].dtype
            assert same_bits(by_numpy[part], by_python[part])
            assert same_bits(by_torch[part], by_python[part])
        if rnumel is None and name in ("i32", "fp32", "fp64", "i1"):
            library = torch.sort(to_torch(x), dim=-1, stable=True, descending=descending)
            assert same(library.indices, to_torch(by_numpy[1].astype(np.int64)), BIT)
            assert same_bits(library.values, by_torch[0])
        defined = np_sorting.sort_defined(index, rnumel=rnumel)
        assert np.array_equal(on_torch(torch_sorting.sort_defined, index, rnumel=rnumel), defined)
        assert defined.sum(1).tolist() == [min(length, rnumel or length)] * 20


def test_sorts_and_ties_work_on_any_rank():
    x = mixed_patterns("fp32", (3, 4, 9), seed=21, special_share=0.9)
    index = np.broadcast_to(np.arange(9, dtype=np.int32), x.shape).copy()
    whole = torch_sorting.sort_with_index(to_torch(x), to_torch(index), rnumel=7)
    for place in np.ndindex(3, 4):
        row = np_sorting.sort_with_index(x[place], index[place], rnumel=7)
        tied = torch_sorting.canonical_ties(whole[0].flip(-1), whole[1].flip(-1), rnumel=7)
        alone = np_sorting.canonical_ties(row[0][::-1].copy(), row[1][::-1].copy(), rnumel=7)
        for part in range(2):
            assert np.array_equal(bits_of_array(to_numpy(whole[part]))[place], bits_of_array(row[part]))
            assert np.array_equal(bits_of_array(to_numpy(tied[part]))[place], bits_of_array(alone[part]))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_canonical_ties_accept_exactly_the_permutations_of_equal_keys(
    keys: list[int], descending: bool, random: object
):
    x = np.array([[(-0.0, 0.0, 1.5, math.nan)[k] for k in keys]], np.float32)
    index = np.arange(len(keys), dtype=np.int32)[None]
    values, order = np_sorting.sort_with_index(x, index, descending=descending)
    rank = [0 if k <= 1 else k for k in (keys[i] for i in order[0])]
    places = list(range(len(keys)))
    random.shuffle(places)
    swapped = [p for _, p in sorted(zip([-r if descending else r for r in rank], places, strict=True))]
    by_rank = sorted(range(len(keys)), key=lambda p: (-rank[p] if descending else rank[p], swapped.index(p)))
    shuffled = values[:, by_rank], order[:, by_rank]
    for module, convert in ((np_sorting, lambda a: a), (torch_sorting, to_torch)):
        tied = module.canonical_ties(*(convert(s) for s in shuffled), descending=descending)
        assert same_bits(tied[0], values) and same_bits(tied[1], order)


def test_canonical_ties_keep_every_fault_of_a_sort():
    x = np.array([[3, 1, 1, 2]], np.float32)
    index = np.arange(4, dtype=np.int32)[None]
    values, order = np_sorting.sort_with_index(x, index)
    faults = {
        "not sorted": (values[:, [0, 2, 1, 3]], order[:, [0, 2, 1, 3]]), "torn pair": (values, order[:, [0, 2, 1, 3]]),
        "lost element": (values[:, [0, 0, 2, 3]], order[:, [0, 0, 2, 3]]),
        "altered bits": (np.nextafter(values, np.float32(9)), order)}
    for name, (v, i) in faults.items():
        tied = on_torch(torch_sorting.canonical_ties, v, i)
        assert not (same_bits(tied[0], values) and same_bits(tied[1], order)), name
    padded = np_sorting.sort_with_index(x, index, rnumel=2)
    assert padded[0][0, :2].tolist() == [1, 3] and padded[1][0, :2].tolist() == [1, 0]
    # Padding that slipped in front of valid elements stays there.
    slipped = padded[0][:, [0, 2, 1, 3]], padded[1][:, [0, 2, 1, 3]]
    tied = on_torch(torch_sorting.canonical_ties, *slipped, rnumel=2)
    assert tied[1][0, :2].tolist() != [1, 0]


@each("name", NAMES)
def test_select_one_moves_every_bit(name: str):
    x = mixed_patterns(name, (30, 6), seed=5, special_share=0.6)
    mask = np.zeros((30, 6), bool)
    mask[np.arange(28), np.random.default_rng(6).integers(0, 6, 28)] = True
    found = np_sorting.select_one(x, mask)
    assert np.array_equal(bits_of_array(found)[:28], bits_of_array(x)[mask])
    assert bits_of_array(found)[28:].tolist() == [0, 0]
    by_torch = on_torch(torch_sorting.select_one, x, mask)
    assert same_bits(by_torch, found)
    assert same_bits(by_exact.select_one(x, mask), found)
    kept = on_torch(torch_sorting.select_one, x.T, mask.T, dim=0, keep_dims=True)
    assert same_bits(kept[0], found)
    assert np_sorting.select_one(x, mask, keep_dims=True).shape == (30, 1)
    mask[0] = True
    for defined in (np_sorting.select_one_defined(mask), on_torch(torch_sorting.select_one_defined, mask)):
        assert defined.tolist() == [False] + [True] * 29


@each("name", ("fp32", "fp64"))
def test_frexp_agrees_and_round_trips(name: str):
    kind = dtype(name)
    exponents = array_of_bits([(e << kind.mantissa_bits) | 5 for e in range(0, (1 << kind.exponent_bits) - 1, 7)], name)
    subnormals = array_of_bits([1 << b for b in range(kind.mantissa_bits)], name)
    x = np.concatenate(
        [array_of_bits(special_bits(name), name), random_patterns(name, (300,), seed=7), exponents, subnormals])
    mantissa, exponent = np_floats.frexp(x)
    by_torch = on_torch(torch_floats.frexp, x)
    for found in ((mantissa, exponent), by_torch):
        assert found[0].dtype == x.dtype and found[1].dtype == np.int32
    for other in (by_torch, exact_pointwise.frexp(x)):
        assert same(to_torch(other[0]), to_torch(mantissa), NUM)
        assert np.array_equal(other[1], exponent)
    finite = np.isfinite(x)
    assert same_bits(np_floats.ldexp(mantissa, exponent)[finite], x[finite])
    assert bits_of_array(mantissa)[1] == 1 << (kind.bits - 1) and exponent[1] == 0  # -0.0 keeps its sign
    refused("upcast", torch_floats.frexp, torch.zeros(1).half())


@each("combine", ("add", "maximum", "second", "first", "affine"))
@each("name", ("i16", "i32", "i64", *UNSIGNED, "fp16", "bf16", "fp32", "fp64"))
def test_exclusive_scans_agree(name: str, combine: str):
    if combine == "affine" and name not in UNSIGNED:
        refused("affine", np_scan.exclusive_scan, array_of_bits([0, 1], name), combine=combine)
        refused("affine", torch_scan.exclusive_scan, tensor_of_bits([0, 1], name), combine=combine)
        return
    for length in (1, 2, 3, 17):
        x = mixed_patterns(name, (9, length), seed=length, special_share=0.5)
        by_numpy = to_torch(np_scan.exclusive_scan(x, combine=combine))
        by_torch = torch_scan.exclusive_scan(to_torch(x), combine=combine)
        by_python = to_torch(by_exact.exclusive_scan(x, combine=combine))
        defined = torch_scan.exclusive_scan_defined(to_torch(x), combine=combine)
        assert np.array_equal(to_numpy(defined), np_scan.exclusive_scan_defined(x, combine=combine))
        if combine == "add" and dtype(name).is_float:
            bound = torch_scan.exclusive_sum_bound(to_torch(x), acc="fp64")
            for found in (by_numpy, by_torch):
                assert compare(found, by_python, RULES["prefix_sum_bound"], bound=bound).clean
            continue
        for found in (by_numpy, by_torch):
            assert not (compare(found, by_python, BIT).mismatch & defined).any()
        along_rows = np_scan.exclusive_scan(x.T.copy(), combine=combine, axis=0).T
        assert same_bits(along_rows, by_numpy)


def test_scans_keep_the_order_of_operands():
    x = np.array([3, 1, 4, 1, 5], np.int32)
    assert np_scan.exclusive_scan(x, combine="second").tolist() == [0, 3, 1, 4, 1]
    assert np_scan.exclusive_scan(x, combine="first").tolist() == [0, 3, 3, 3, 3]
    # t -> 2t + 1, then t -> 3t + 5, gives t -> 6t + 8; the other order would give 6t + 16.
    maps = np.array([2 | 1 << 16, 3 | 5 << 16, 7], np.uint32)
    assert np_scan.exclusive_scan(maps, combine="affine").tolist()[2] == 6 | 8 << 16
    assert (torch_scan.exclusive_scan(to_torch(maps), combine="affine").view(torch.int32).tolist()[2] == 6 | 8 << 16)
    refused("unknown combination", np_scan.exclusive_scan, x, combine="subtract")


@each("name", ("fp16", "bf16", "i16", "u16"))
def test_packing_round_trips_every_16_bit_pattern(name: str):
    value = array_of_bits(range(1 << 16), name)
    flag = (np.arange(1 << 16) % 3).astype(np.uint16)
    packed = np_scan.pack_value_flag(value, flag)
    assert packed.dtype == np.uint32
    assert packed.tolist() == [int(f) | p << 16 for p, f in zip(range(1 << 16), flag, strict=True)]
    assert np.array_equal(on_torch(torch_scan.pack_value_flag, value, flag), packed)
    for back in (np_scan.unpack_value(packed, name), on_torch(torch_scan.unpack_value, packed, name)):
        assert np.array_equal(bits_of_array(back), np.arange(1 << 16))
    for back in (np_scan.unpack_flag(packed), on_torch(torch_scan.unpack_flag, packed)):
        assert np.array_equal(back, flag) and back.dtype == np.uint16


@each("name", ("fp32", "i32", "u32"))
def test_packing_32_bit_values(name: str):
    value = np.concatenate([array_of_bits(special_bits(name), name), random_patterns(name, (100,), seed=8)])
    flag = np.full(len(value), 2, np.uint32)
    packed = np_scan.pack_value_flag(value, flag)
    assert packed.dtype == np.uint64 and np.array_equal(on_torch(torch_scan.pack_value_flag, value, flag), packed)
    back = on_torch(torch_scan.unpack_value, packed, name)
    assert same_bits(back, value)
    assert np.array_equal(on_torch(torch_scan.unpack_flag, packed), flag)
    refused("16 or 32 bits", np_scan.pack_value_flag, np.zeros(1, np.int8), np.zeros(1, np.uint8))
    refused("16 or 32 bits", torch_scan.pack_value_flag, torch.zeros(1, dtype=torch.int64),
            torch.zeros(1, dtype=torch.int64))


@each("name", NAMES)
def test_probes_keep_type_and_bits(name: str):
    x = array_of_bits(special_bits(name), name)
    condition = np.arange(len(x)) % 2 == 0
    for found in (
        np_probes.promote_to_tensor(x), on_torch(torch_probes.promote_to_tensor, x),
        np_probes.device_assert_then(condition, x), on_torch(torch_probes.device_assert_then, condition, x),
    ):
        assert found.dtype == x.dtype and same_bits(found, x)
    assert np_probes.promote_to_tensor(x[0]).shape == (1,)
    assert torch_probes.promote_to_tensor(to_torch(x)[0]).shape == (1,)
    assert np_probes.IS_FLOATING[name] == torch_dtype(name).is_floating_point
    assert np_probes.PROMOTED[name] == name


def test_assertions_fail_on_active_lanes_only():
    condition, active = np.array([True, False]), np.array([True, False])
    assert np_probes.assertion_fails(condition) and not np_probes.assertion_fails(condition, active)
    assert torch_probes.assertion_fails(to_torch(condition))
    assert not torch_probes.assertion_fails(to_torch(condition), to_torch(active))
    assert np_probes.PROMOTED_BY_REFERENCE["bf16"] == "fp32"


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**30), st.sampled_from(("bf16", "fp16", "fp32", "fp64")))
@settings(max_examples=200)
def test_exact_rounding_equals_the_hardware(numerator: int, denominator: int, name: str):
    number = Fraction(numerator, denominator)
    bits = exact.round_fraction(name, number)
    if name == "fp64":
        assert float(number) == float(exact.to_fraction(name, bits))
        return
    wide = float(exact.to_fraction("fp64", exact.round_fraction("fp64", number)))
    rounded = to_numpy(torch.tensor([wide], dtype=torch.float64).to(torch_dtype(name)))
    distance = abs(int(bits_of_array(rounded)[0]) - bits)
    assert distance <= 1  # equal but for the double rounding through float64
    if Fraction(wide) == number and name != "bf16":
        assert distance == 0
