"""Values as text, exact for every dtype, both ways.

Integers are decimal. Floats are the shortest decimal that reads back to the same bits, or `inf`, `-inf`,
`nan` (the canonical quiet NaN), `nan:0x1` / `-nan:0x1` (any other NaN, by its mantissa field).
"""

import functools
import re

import numpy as np

from tridiff.fuzz.errors import TridiffError
from tridiff.oracles.dtypes import dtype as dtype_info, numpy_dtype

_NAN = re.compile(r"^(-?)nan(?::0x([0-9a-f]{1,13}))?$")
_FIX = "write an integer, a decimal float, inf, -inf, nan or nan:0x<mantissa>"


def _float_fields(dtype: str) -> tuple[int, int]:
    """(bits, mantissa bits) of a float dtype."""
    info = dtype_info(dtype)
    return info.bits, info.mantissa_bits


@functools.lru_cache(maxsize=65536)
def to_bits(text: str, dtype: str) -> int:
    """The bit pattern (unsigned int) that `text` denotes in `dtype`; ints wrap to the width.

    Raises TridiffError when the text is not a value of the dtype.
    """
    info = dtype_info(dtype)
    if info.kind != "float":
        try:
            value = int(text)
        except ValueError:
            raise TridiffError(f"{text[:40]!r} is no {dtype} value", fix="write a decimal integer") from None
        return value & ((1 << (1 if dtype == "i1" else info.bits)) - 1)
    bits, mantissa = _float_fields(dtype)
    match = _NAN.match(text)
    if match:
        sign = (1 << (bits - 1)) if match[1] else 0
        if dtype == "fp8e4nv":
            return sign | 0x7F
        exponent = ((1 << (bits - 1 - mantissa)) - 1) << mantissa
        field = int(match[2], 16) if match[2] else 1 << (mantissa - 1)
        if not 0 < field < (1 << mantissa):
            raise TridiffError(f"{text!r} has no place in {dtype}", fix=f"use a mantissa below 2^{mantissa}")
        return sign | exponent | field
    try:
        value_f = float(text)
    except ValueError:
        raise TridiffError(f"{text[:40]!r} is no {dtype} value", fix=_FIX) from None
    with np.errstate(over="ignore"):
        narrowed = np.asarray(value_f, dtype=np.float64).astype(numpy_dtype(dtype))
    return int(np.atleast_1d(narrowed).view(f"u{bits // 8}")[0])


def from_bits(pattern: int, dtype: str) -> str:
    """Text that `to_bits` turns back into exactly `pattern`."""
    info = dtype_info(dtype)
    if info.kind == "bool":
        return str(pattern)
    if info.kind == "uint":
        return str(pattern)
    if info.kind == "int":
        return str(pattern - (1 << info.bits) if pattern >> (info.bits - 1) else pattern)
    bits, mantissa = _float_fields(dtype)
    narrow = np.array([pattern], dtype=f"u{bits // 8}").view(numpy_dtype(dtype))[0]
    value = float(narrow)
    if value != value:
        sign = "-" if pattern >> (bits - 1) else ""
        field = pattern & ((1 << mantissa) - 1)
        canonical = dtype == "fp8e4nv" or field == 1 << (mantissa - 1)
        return f"{sign}nan" if canonical else f"{sign}nan:{field:#x}"
    short = {"fp32": 9, "fp16": 5, "bf16": 4}.get(dtype)
    if short is not None and value - value == 0:
        # The shortest decimal that survives the round trip through the narrow type; of its own types numpy tells how
        # many digits it has at least.
        least = 1 if dtype == "bf16" else len(np.format_float_scientific(abs(narrow), trim="-").partition("e")[0]) - 1
        for digits in range(max(least, 1), short + 1):
            candidate = repr(float(f"{value:.{digits}g}"))
            if to_bits(candidate, dtype) == pattern:
                return candidate
    return repr(value)


def number_of(text: str) -> float | int | None:
    """The number that a value's text stands for, None for NaN and infinities."""
    if "nan" in text or "inf" in text:
        return None
    return float(text) if any(mark in text for mark in ".en") else int(text)


def complexity(text: str, dtype: str) -> tuple[int, int]:
    """How far `text` is from the simplest value, smaller is simpler: 0, 1, -1, 2, -2, ... for ints; for
    floats small integers first, then other finite numbers, then -0.0, infinities, NaN. This is the value
    part of the order of simplicity (see fuzz/shrink/notes.md)."""
    info = dtype_info(dtype)
    if info.kind != "float":
        pattern = to_bits(text, dtype)
        value = int(from_bits(pattern, dtype))
        return 0, 2 * abs(value) - (1 if value > 0 else 0)
    if "nan" in text:
        plain = 0 if text == "nan" else 1
        return 5, plain
    value_f = float(text)
    if value_f in (float("inf"), float("-inf")):
        return 4, int(value_f < 0)
    if value_f == 0:
        return (3, 0) if text.startswith("-") else (0, 0)
    if value_f == int(value_f) and abs(value_f) <= 2**20:
        return 0, 2 * int(abs(value_f)) - (1 if value_f > 0 else 0)
    pattern = to_bits(text, dtype)
    negative = pattern >> (info.bits - 1)
    return (1 if abs(value_f) >= 1e-6 else 2), 2 * (pattern & ((1 << (info.bits - 1)) - 1)) + negative
