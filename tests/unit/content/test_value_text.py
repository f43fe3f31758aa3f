"""Values as text: exact both ways for every pattern of every dtype."""

import struct

import pytest
from hypothesis import example, given, settings, strategies as st

from tests.support.refusals import refusal
from tridiff.fuzz.content.text import complexity, from_bits, to_bits
from tridiff.oracles.dtypes import NAMES, dtype as dtype_info
from tridiff.oracles.special_values import special_bits

each = pytest.mark.parametrize
NARROW = [name for name in NAMES if dtype_info(name).bits <= 16]
FLOATS = [name for name in NAMES if dtype_info(name).kind == "float"]


@each("dtype", [name for name in NARROW if dtype_info(name).bits <= 8])
def test_every_pattern_of_a_narrow_dtype_round_trips(dtype: str):
    patterns = range(2) if dtype == "i1" else range(1 << dtype_info(dtype).bits)
    assert [p for p in patterns if to_bits(from_bits(p, dtype), dtype) != p] == []


@each("dtype", ["fp16", "bf16"])
def test_every_hundredth_pattern_and_every_nan_of_the_half_types_round_trips(dtype: str):
    info = dtype_info(dtype)
    exponent = ((1 << (15 - info.mantissa_bits)) - 1) << info.mantissa_bits
    nans = [sign | exponent | field for sign in (0, 1 << 15) for field in range(1, 1 << info.mantissa_bits)]
    wrong = [p for p in [*range(0, 1 << 16, 97), *nans] if to_bits(from_bits(p, dtype), dtype) != p]
    assert wrong == []
    assert len({from_bits(p, dtype) for p in nans}) == len(nans)


@each("dtype", NAMES)
def test_special_values_round_trip(dtype: str):
    assert [p for p in special_bits(dtype) if to_bits(from_bits(p, dtype), dtype) != p] == []


@settings(max_examples=300)
@given(dtype=st.sampled_from(("i32", "i64", "u32", "u64", "fp32", "fp64")), data=st.data())
def test_wide_patterns_round_trip(dtype: str, data: st.DataObject):
    pattern = data.draw(st.integers(0, (1 << dtype_info(dtype).bits) - 1))
    written = from_bits(pattern, dtype)
    assert to_bits(written, dtype) == pattern
    assert len(written) <= 40, "longer than a record may hold"


@settings(max_examples=200)
@given(st.floats(allow_nan=False))
@example(5e-324)
@example(-0.0)
@example(1.7976931348623157e308)
def test_doubles_are_written_as_python_writes_them(value: float):
    pattern = int.from_bytes(struct.pack("<d", value), "little")
    assert from_bits(pattern, "fp64") == repr(value)


@each("text, dtype, pattern", [
    ("-1", "i8", 0xFF), ("255", "i8", 0xFF), ("-128", "i8", 0x80), ("300", "u8", 44), ("3", "i1", 1), ("2", "i1", 0),
    ("-9223372036854775808", "i64", 1 << 63), ("18446744073709551615", "u64", (1 << 64) - 1),
    ("1", "fp32", 0x3F800000), ("-0.0", "fp32", 0x80000000), ("-0.0", "bf16", 0x8000), ("inf", "fp16", 0x7C00),
    ("-inf", "fp64", 0xFFF << 52), ("1e-45", "fp32", 1), ("0.1", "fp32", 0x3DCCCCCD), ("1e400", "fp32", 0x7F800000),
    ("nan", "fp32", 0x7FC00000), ("-nan", "fp32", 0xFFC00000), ("nan:0x1", "fp32", 0x7F800001),
    ("-nan:0x7fffff", "fp32", 0xFFFFFFFF), ("nan", "bf16", 0x7FC0), ("nan:0x1", "fp16", 0x7C01),
    ("nan", "fp8e4nv", 0x7F), ("-nan", "fp8e4nv", 0xFF), ("nan", "fp8e5", 0x7E), ("nan:0x1", "fp8e5", 0x7D),
    ("nan:0x1", "fp64", (0x7FF << 52) + 1),
])
def test_bits_of_text(text: str, dtype: str, pattern: int):
    assert to_bits(text, dtype) == pattern


@each("pattern, dtype, text", [
    (0x3DCCCCCD, "fp32", "0.1"), (0x2E66, "fp16", "0.1"), (0x3DCD, "bf16", "0.1"), (1, "fp32", "1e-45"),
    (0x7F7FFFFF, "fp32", "3.4028235e+38"), (0x80000000, "fp32", "-0.0"), (0x7FC00001, "fp32", "nan:0x400001"),
    (0xFFC00000, "fp32", "-nan"), (0x80, "i8", "-128"), (0x80, "u8", "128"), (0x4B800000, "fp32", "16777216.0"),
])
def test_text_of_bits_is_the_shortest(pattern: int, dtype: str, text: str):
    assert from_bits(pattern, dtype) == text


@each("text, dtype, message", [
    ("one", "i32", "'one' is no i32 value; write a decimal integer"),
    ("1.0", "i32", "'1.0' is no i32 value; write a decimal integer"),
    ("zero", "fp32", "'zero' is no fp32 value; write an integer, a decimal float, inf, -inf, nan or nan:0x<mantissa>"),
    ("nan:0x0", "fp32", "'nan:0x0' has no place in fp32; use a mantissa below 2^23"),
    ("nan:0x800000", "fp32", "'nan:0x800000' has no place in fp32; use a mantissa below 2^23"),
])
def test_text_that_is_no_value(text: str, dtype: str, message: str):
    assert refusal(lambda: to_bits(text, dtype)) == message


@each("dtype", FLOATS)
def test_floats_from_simplest_to_least_simple(dtype: str):
    order = ["0", "1", "-1", "2", "-2", "1.5"]
    if dtype_info(dtype).smallest_subnormal < 1e-6:
        order.append(repr(dtype_info(dtype).smallest_subnormal))
    order.append("-0.0")
    if dtype_info(dtype).has_inf:
        order += ["inf", "-inf"]
    order += ["nan", "-nan"]
    ranks = [complexity(text, dtype) for text in order]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


@each("dtype", ["i8", "i64"])
def test_integers_from_simplest_to_least_simple(dtype: str):
    ranks = [complexity(text, dtype) for text in ("0", "1", "-1", "2", "-2", "3", "-3", "100", "127", "-127", "-128")]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


@settings(max_examples=200)
@given(dtype=st.sampled_from(NAMES), data=st.data())
def test_complexity_orders_every_value(dtype: str, data: st.DataObject):
    width = 1 if dtype == "i1" else dtype_info(dtype).bits
    ranks = [complexity(from_bits(data.draw(st.integers(0, (1 << width) - 1)), dtype), dtype) for _ in range(2)]
    # Zero is the simplest value of every type, and any two values can be compared.
    assert min(ranks) >= (0, 0)
    assert (ranks[0] <= ranks[1]) or (ranks[1] <= ranks[0])
