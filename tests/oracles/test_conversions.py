"""Conversions between every pair of types: numpy, torch and exact arithmetic agree; double rounding is
caught.
"""

import math

import numpy as np
import pytest
import torch

from tests.oracles.agreement import on_torch
from tests.oracles.grids import random_patterns
from tests.oracles.pinned_values import CONVERSIONS
from tridiff.oracles.arrays import array_of_bits, to_torch
from tridiff.oracles.by_exact import conversions as by_exact
from tridiff.oracles.by_numpy import conversions as by_numpy
from tridiff.oracles.by_torch import conversions as by_torch
from tridiff.oracles.compare import compare, same
from tridiff.oracles.dtypes import NAMES, dtype, numpy_dtype, torch_dtype
from tridiff.oracles.rules import NUM, SET
from tridiff.oracles.special_values import special_bits

each = pytest.mark.parametrize


@each("to", NAMES)
@each("source", NAMES)
def test_every_pair_of_types_agrees(source: str, to: str):
    x = np.concatenate([array_of_bits(special_bits(source), source), random_patterns(source, (200,), seed=3)])
    if dtype(source).is_float and dtype(source).bits > 8:
        exponents = np.arange(-30, 70, dtype=np.float64)
        near = np.concatenate(
            [np.ldexp(1 + 2.0**-9, exponents.astype(int)), np.ldexp(1 - 2.0**-12, exponents.astype(int))])
        with np.errstate(over="ignore"):
            x = np.concatenate([x, near.astype(numpy_dtype(source))])
    first, second, third = (
        by_numpy.convert(x, to=to), by_torch.convert(to_torch(x), to=to), by_exact.convert(x, to=to))
    assert first.dtype == numpy_dtype(to) and second.dtype == torch_dtype(to)
    defined = by_numpy.convert_defined(x, to=to)
    assert np.array_equal(on_torch(by_torch.convert_defined, x, to=to), defined)
    assert not (compare(to_torch(first), to_torch(third), NUM).mismatch & to_torch(defined)).any()
    assert not (compare(second, to_torch(third), NUM).mismatch & to_torch(defined)).any()
    if not dtype(source).is_float or not dtype(to).is_integer:
        assert defined.all()


def test_double_rounding_is_caught():
    # Just above a bf16 tie, but on it once rounded to float32.
    x = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-11 + 2.0**-40], np.float64)
    once = by_numpy.convert(x, to="bf16")
    assert float(once[0]) == 1 + 2.0**-7
    assert same(by_torch.convert(to_torch(x), to="bf16"), to_torch(once))
    twice = to_torch(x).to(torch.float32).to(torch.bfloat16)
    assert not same(twice, to_torch(once))
    assert float(by_numpy.convert(x, to="fp16")[1]) == 1 + 2.0**-10


def test_integers_round_once_on_the_way_to_halves():
    x = np.array([2**62 + 2**54 + 1, 2**62 + 2**54, 2**63 - 1, -(2**62) - 2**54 - 1], np.int64)
    for found in (by_numpy.convert(x, to="bf16"), on_torch(by_torch.convert, x, to="bf16")):
        assert found.astype(np.float64).tolist() == [2**62 + 2**55, 2**62, 2**63, -(2**62) - 2**55]


def test_saturation_and_the_two_answers_for_e5m2():
    x = np.array([math.inf, -math.inf, 61440, 61439, 1, math.nan], np.float32)
    allowed = to_torch(by_numpy.candidates(x, to="fp8e5"))
    one = by_torch.convert(to_torch(x), to="fp8e5")
    saturated = torch.tensor([57344, -57344, 57344, 57344, 1, math.nan]).to(torch.float8_e5m2)
    assert compare(one, allowed, SET(NUM)).clean and compare(saturated, allowed, SET(NUM)).clean
    wrong = torch.tensor([-57344, 57344, 49152, 49152, 1.25, 0]).to(torch.float8_e5m2)
    assert compare(wrong, allowed, SET(NUM)).mismatch.all()
    full = by_numpy.candidates(x, to="fp8e4nv")
    assert full[0].astype(np.float64).tolist()[:3] == [448.0, -448.0, 448.0]
    assert same(to_torch(full[0]), to_torch(full[1]))


def test_open_results_are_exactly_those_out_of_range():
    x = np.array([127.9, 128, -128.9, -129, math.nan, math.inf], np.float32)
    assert by_numpy.convert_defined(x, to="i8").tolist() == [True, False, True, False, False, False]
    top = np.array([2.0**63, 2.0**63 - 1024, 2.0**64, 2.0**64 - 2048, -0.5], np.float64)
    assert by_numpy.convert_defined(top, to="i64").tolist() == [False, True, False, False, True]
    assert by_numpy.convert_defined(top, to="u64").tolist() == [True, True, False, True, True]
    assert on_torch(by_torch.convert, top, to="u64").tolist() == [2**63, 2**63 - 1024, 0, 2**64 - 2048, 0]


def test_pinned_conversions_hold_for_the_references():
    for row in CONVERSIONS:
        x = np.array([row.value], numpy_dtype(row.source))
        if row.kind == "undefined":
            assert not by_numpy.convert_defined(x, to=row.target).any()
        elif by_numpy.convert_defined(x, to=row.target).all():
            found = by_numpy.candidates(x, to=row.target).astype(np.float64)
            expected = np.array(row.accepted, np.float64)
            assert any(np.array_equal(found[i], expected[:1], equal_nan=True) for i in range(2)), row
