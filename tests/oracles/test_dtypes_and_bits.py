"""The dtype table, special values, bit views and conversions, held against ml_dtypes, numpy and torch."""

import math
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from tests.oracles.agreement import refused, same_bits
from tests.oracles.grids import random_patterns
from tridiff.oracles import bits, exact
from tridiff.oracles.arrays import array_of_bits, tensor_of_bits, to_numpy, to_torch
from tridiff.oracles.dtypes import (
    DTYPES,
    NAMES,
    UNSIGNED,
    dtype,
    name_of_array,
    name_of_torch,
    numpy_dtype,
    torch_dtype,
)
from tridiff.oracles.special_values import special_bits, special_values

each = pytest.mark.parametrize
FLOAT_NAMES = [d.name for d in DTYPES if d.is_float]


def test_float_limits_equal_ml_dtypes():
    for name in FLOAT_NAMES:
        kind, info = dtype(name), ml_dtypes.finfo(numpy_dtype(name))
        assert (kind.max, kind.min) == (float(info.max), float(info.min)), name
        assert kind.smallest_normal == float(info.smallest_normal), name
        assert kind.smallest_subnormal == float(info.smallest_subnormal), name
        assert (kind.mantissa_bits, kind.bits) == (info.nmant, info.bits), name


def test_integer_limits_equal_numpy():
    for kind in DTYPES:
        if kind.is_integer:
            info = np.iinfo(numpy_dtype(kind.name))
            assert (kind.min, kind.max, kind.bits) == (info.min, info.max, info.bits)


def test_names_round_trip_through_numpy_and_torch():
    for kind in DTYPES:
        assert name_of_array(np.zeros(1, numpy_dtype(kind.name))) == kind.name
        assert name_of_torch(torch_dtype(kind.name)) == kind.name
        assert torch_dtype(kind.name).itemsize == numpy_dtype(kind.name).itemsize == kind.itemsize


def test_unknown_dtypes_name_the_fix():
    refused("use one of i1 i8", dtype, "float32")
    refused("complex64", name_of_torch, torch.complex64)
    refused("complex128", name_of_array, np.zeros(1, np.complex128))


def test_parent_side_modules_import_neither_torch_nor_triton():
    code = (
        "import sys, tridiff.oracles.dtypes, tridiff.oracles.rules, tridiff.oracles.errors, "
        "tridiff.oracles.exact, tridiff.oracles.pointwise;"
        "from tridiff.oracles.special_values import special_bits;"
        "from tridiff.oracles.dtypes import NAMES, numpy_dtype;"
        "[(special_bits(n), numpy_dtype(n)) for n in NAMES];"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('torch', 'triton')))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_references_in_torch_do_not_import_sympy_in_every_new_worker():
    code = (
        "import sys, torch; from tridiff.oracles.by_torch import language, movement;"
        "print(language.pointwise('add', 'fp32', torch.ones(2, 3), torch.ones(2)).shape);"
        "print(movement._broadcast(torch.ones(2, 1), torch.zeros(2, 3, dtype=torch.int64))[0].shape);"
        "print('sympy' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["torch.Size([2, 3])", "torch.Size([2, 3])", "False"]


@each("name", NAMES)
def test_special_values_are_distinct_and_fit(name: str):
    patterns = special_bits(name)
    assert len(set(patterns)) == len(patterns)
    assert all(0 <= pattern < 1 << dtype(name).bits for pattern in patterns)
    assert len({value.label for value in special_values(name)}) == len(patterns)


@each("name", FLOAT_NAMES)
def test_special_float_labels_mean_what_they_say(name: str):
    kind = dtype(name)
    by_label = {value.label: value.bits for value in special_values(name)}
    for label, pattern in by_label.items():
        assert exact.is_nan(name, pattern) == ("nan" in label), label
        assert exact.is_infinite(name, pattern) == ("infinity" in label), label
        assert bool(pattern >> (kind.bits - 1)) == label.startswith("-"), label

    def value(label: str) -> float:
        return float(exact.to_fraction(name, by_label[label]))

    assert value("+one") == 1.0 and value("-half") == -0.5 and value("+tie_2.5") == 2.5
    assert value("+largest") == kind.max and value("+smallest_normal") == kind.smallest_normal
    assert value("+smallest_subnormal") == kind.smallest_subnormal
    assert value("+largest_subnormal") == kind.smallest_normal - kind.smallest_subnormal
    if name == "fp32":
        assert value("+tie_to_bf16") == 1 + 2**-8 and value("-2^24-1") == -(2**24 - 1)
        assert value("+power_2^-137") == 2.0**-137
        assert by_label["+signalling_nan"] == 0x7F800001 and by_label["-quiet_nan"] == 0xFFC00000
        assert by_label["+quiet_nan_payload"] == 0x7FC00005


def test_special_integers_hold_the_extremes():
    for name, low, high in (("i8", 0x80, 0x7F), ("i64", 1 << 63, (1 << 63) - 1), ("u32", 0, (1 << 32) - 1)):
        assert {low, high, 0, 1} <= set(special_bits(name))
    assert {0xFF, 0xFE} <= set(special_bits("i8"))


@each("name", NAMES)
def test_arrays_and_tensors_carry_every_bit(name: str):
    special = array_of_bits(special_bits(name), name)
    filler = random_patterns(name, (4096 + len(special) % 2,), seed=7)
    array = np.concatenate([special, filler]).reshape(-1, 2)
    for view in (array, array[::-1], array.T, array[:, 1], array[:0], array[0, 0, ...]):
        back = to_numpy(to_torch(view))
        assert back.dtype == view.dtype and back.shape == view.shape
        assert same_bits(back, view)


def test_conversion_does_not_share_memory():
    array = np.zeros(4, np.float32)
    tensor = to_torch(array)
    tensor[0] = 1.0
    assert array[0] == 0.0


def test_patterns_that_do_not_fit_are_refused():
    refused("does not fit i8", array_of_bits, [0x100], "i8")
    refused("does not fit i1", array_of_bits, [2], "i1")


@each("name", FLOAT_NAMES)
def test_classification_equals_exact(name: str):
    patterns = list(range(1 << dtype(name).bits)) if dtype(name).bits <= 8 else list(special_bits(name))
    tensor = tensor_of_bits(patterns, name)
    assert bits.is_nan(tensor).tolist() == [exact.is_nan(name, p) for p in patterns]
    assert bits.is_inf(tensor).tolist() == [exact.is_infinite(name, p) for p in patterns]
    assert bits.sign_bit(tensor).tolist() == [exact.is_negative(name, p) for p in patterns]
    finite = [not exact.is_nan(name, p) and not exact.is_infinite(name, p) for p in patterns]
    numbers = [exact.to_fraction(name, p) if f else None for p, f in zip(patterns, finite, strict=True)]
    assert bits.is_zero(tensor).tolist() == [n == 0 and n is not None for n in numbers]
    smallest = dtype(name).smallest_normal
    assert bits.is_subnormal(tensor).tolist() == [n is not None and 0 < abs(n) < smallest for n in numbers]


@each("name", NAMES)
def test_ordered_keys_sort_like_exact_values(name: str):
    patterns = [p for p in special_bits(name) if not exact.is_nan(name, p)]

    def key(pattern: int) -> tuple[int, object]:
        if exact.is_infinite(name, pattern):
            return (-1 if exact.is_negative(name, pattern) else 1, 0)
        return (0, exact.to_fraction(name, pattern))

    keys = bits.ordered(tensor_of_bits(patterns, name)).tolist()
    for i, first in enumerate(patterns):
        for j, second in enumerate(patterns):
            assert (keys[i] < keys[j]) == (key(first) < key(second)), (hex(first), hex(second))
            assert (keys[i] == keys[j]) == (key(first) == key(second)), (hex(first), hex(second))


@each("name", FLOAT_NAMES)
def test_neighbouring_floats_are_one_step_apart_across_zero_and_binades(name: str):
    kind = dtype(name)
    normal = 1 << kind.mantissa_bits
    sign = 1 << (kind.bits - 1)
    first, second, steps = zip(
        (0, 1, 1), (sign, 1, 1), (sign, 0, 0), (sign | 1, 1, 2), (normal - 1, normal, 1),
        (2 * normal - 1, 2 * normal, 1), (kind.infinity_bits - 1, kind.infinity_bits, 1), strict=True)
    a, b = tensor_of_bits(first, name), tensor_of_bits(second, name)
    assert bits.ulp_distance(a, b).tolist() == bits.ulp_distance(b, a).tolist() == list(steps)


def test_ulp_distance_saturates_and_isolates_nan():
    low, high = torch.tensor([bits.INT64_MIN]), torch.tensor([bits.INT64_MAX])
    assert bits.ulp_distance(low, high).tolist() == [bits.INT64_MAX]
    assert bits.ulp_distance(
        to_torch(np.array([0], np.uint64)), to_torch(np.array([2**64 - 1], np.uint64))
    ).tolist() == [bits.INT64_MAX]
    infinities = torch.tensor([math.inf], dtype=torch.float64)
    assert bits.ulp_distance(-infinities, infinities).tolist() == [bits.INT64_MAX]
    nan = torch.tensor([math.nan])
    assert bits.ulp_distance(nan, nan).tolist() == [0]
    assert bits.ulp_distance(nan, torch.zeros(1)).tolist() == [bits.INT64_MAX]


def test_ulp_distance_is_monotone_along_the_number_line():
    patterns = [p for p in range(256) if not exact.is_nan("fp8e5", p) and not exact.is_infinite("fp8e5", p)]
    patterns.sort(key=lambda p: exact.to_fraction("fp8e5", p))
    values = tensor_of_bits(patterns, "fp8e5")
    first = tensor_of_bits([patterns[0]] * len(patterns), "fp8e5")
    steps = bits.ulp_distance(first, values).tolist()
    assert steps == sorted(steps) and steps[-1] == 2 * 0x7B


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8))
@settings(max_examples=100)
def test_to_float64_rounds_u64_to_nearest(values: list[int]):
    tensor = to_torch(np.array(values, np.uint64))
    assert bits.to_float64(tensor).tolist() == [float(v) for v in values]


@each("name", UNSIGNED)
def test_to_float64_of_unsigned_is_never_negative(name: str):
    tensor = tensor_of_bits(special_bits(name), name)
    assert bits.to_float64(tensor).tolist() == [float(p) for p in special_bits(name)]
