"""The codecs of bf16 and fp8 against ml_dtypes and exact arithmetic; no Triton involved."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_array_equal

from tridiff.fuzz.interpreter.narrow_floats import (
    BF16,
    FP8E4NV,
    FP8E5,
    FP16,
    FP32,
    FloatFormat,
    decode,
    encode,
    fma_once,
)
from tridiff.oracles import exact

each = pytest.mark.parametrize
NAMES = {BF16: "bf16", FP8E4NV: "fp8e4nv", FP8E5: "fp8e5", FP16: "fp16", FP32: "fp32"}
REFERENCE = {BF16: ml_dtypes.bfloat16, FP8E4NV: ml_dtypes.float8_e4m3fn, FP8E5: ml_dtypes.float8_e5m2}


@each("form", REFERENCE, ids=["bf16", "e4m3", "e5m2"])
def test_decode_is_exact_for_every_code(form: FloatFormat):
    codes = np.arange(1 << form.bits, dtype=np.uint32).astype(form.storage)
    expected = codes.view(REFERENCE[form]).astype(np.float32)
    assert_array_equal(decode(codes, form), expected)
    finite = ~np.isnan(expected)
    assert_array_equal(np.signbit(decode(codes, form))[finite], np.signbit(expected)[finite])


@each("form", [*REFERENCE, FP16], ids=["bf16", "e4m3", "e5m2", "fp16"])
def test_encode_inverts_decode(form: FloatFormat):
    codes = np.arange(1 << form.bits, dtype=np.uint32).astype(form.storage)
    values = codes.view(np.float16) if form is FP16 else decode(codes, form)
    keep = np.isfinite(values) if form.infinity is None else ~np.isnan(values)
    for wide in (np.float32, np.float64):
        widened = values[keep].astype(wide)
        assert_array_equal(encode(widened, form), codes[keep])
        assert_array_equal(encode(widened, form, toward_zero=True), codes[keep])


@each("form", [FP16, FP32], ids=["fp16", "fp32"])
def test_encode_agrees_with_numpy_where_numpy_rounds(form: FloatFormat):
    native = {FP16: np.float16, FP32: np.float32}[form]
    rng = np.random.default_rng(0)
    values = rng.integers(0, 1 << 64, 20_000, dtype=np.uint64).view(np.float64)
    values[:10_000] = rng.standard_normal(10_000) * 2.0 ** rng.integers(-30, 20, 10_000)
    values = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        expected = values.astype(native).view(form.storage)
    assert_array_equal(encode(values, form), expected)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([BF16, FP8E4NV, FP8E5, FP16]))
def test_truncation_is_the_largest_code_not_above(value: float, form: FloatFormat):
    code = int(encode(np.array([value]), form, toward_zero=True)[0])
    magnitude = code & ((1 << (form.bits - 1)) - 1)
    assert magnitude <= form.largest
    assert _value(magnitude, form) <= abs(Fraction(value))
    assert magnitude == form.largest or _value(magnitude + 1, form) > abs(Fraction(value))
    assert (code >> (form.bits - 1)) == int(np.signbit(value))


def _value(code: int, form: FloatFormat) -> Fraction:
    return exact.to_fraction(NAMES[form], code)


@given(st.integers(-(1 << 63), (1 << 64) - 1), st.sampled_from([BF16, FP8E4NV, FP8E5, FP16, FP32]))
def test_integers_round_once(value: int, form: FloatFormat):
    array = np.array([value], dtype=np.int64 if value < 0 else np.uint64)
    code = int(encode(array, form)[0]) & ((1 << (form.bits - 1)) - 1)
    nearest = exact.round_fraction(NAMES[form], abs(Fraction(value)))
    assert code == (min(nearest, form.largest) if form.infinity is None else nearest)


small = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**60), max_value=2.0**60)


@given(small, small, small)
def test_fma_rounds_the_exact_result(x: float, y: float, z: float):
    operands = [np.array([value], dtype=np.float32) for value in (x, y, z)]
    wanted = Fraction(x) * Fraction(y) + Fraction(z)
    with np.errstate(all="ignore"):
        result = fma_once(*operands)[0]
    if abs(wanted) < Fraction(2) ** 127:
        assert Fraction(float(result)) == exact.to_fraction("fp32", exact.round_fraction("fp32", wanted))
