"""Conversions between element types, as an NVIDIA GPU makes them."""

from typing import Any

import ml_dtypes
import numpy as np

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.integers import signed, unsigned
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives


@gives("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui")
def resized(operation: Operation, one: Array) -> Any:
    kind = operation.type.dtype
    one = unsigned(one) if operation.name.endswith("ui") else signed(one)
    if kind == np.bool_:
        return np.asarray((one & 1) != 0)
    return np.asarray(one.astype(kind))


@gives("arith.sitofp", "arith.uitofp")
def to_float(operation: Operation, one: Array) -> Any:
    one = unsigned(one) if operation.name == "arith.uitofp" else signed(one)
    kind = operation.type.dtype
    return np.asarray(one.astype(np.float32 if kind.itemsize < 4 and one.dtype.itemsize < 4 else kind).astype(kind))


@gives("arith.fptosi", "arith.fptoui")
def to_integer(operation: Operation, one: Array) -> Any:
    """Toward zero; out of range to the nearest limit, NaN to 0, as `cvt` does."""
    kind = operation.type.dtype
    if kind == np.bool_:
        return np.asarray(np.trunc(one.astype(np.float64)) != 0)
    name = f"u{kind.itemsize}" if operation.name == "arith.fptoui" else f"i{kind.itemsize}"
    limits, one = np.iinfo(name), np.trunc(one.astype(np.float64))
    top = float(limits.max)
    inside = np.where(np.isnan(one) | (one >= top) | (one <= limits.min), 0, one).astype(name)
    found = np.where(one <= limits.min, np.array(limits.min, name), inside)
    found = np.where(one >= top, np.array(limits.max, name), found)
    return np.asarray(found).astype(name).view(kind)


def rounded_once(one: Array, kind: np.dtype) -> Array:
    """Floats in another type, rounded to nearest, ties to even. Types that numpy does not have are reached from fp32,
    so that fp64 is first brought there without a loss that the second rounding could mistake for a tie."""
    if one.dtype != np.float64 or kind.type in (np.float16, np.float32, np.float64):
        return np.asarray(one.astype(kind))
    near = np.asarray(one.astype(np.float32))
    bits, error = near.view(np.int32), one - near.astype(np.float64)
    even = np.isfinite(near) & (error != 0) & (bits & 1 == 0)
    outward = (error > 0) == (one > 0)
    return np.asarray(np.where(even, np.where(outward, bits + 1, bits - 1), bits).view(np.float32).astype(kind))


def narrowed(one: Array, kind: np.dtype, *, toward_zero: bool = False) -> Array:
    """Rounded to the nearest, ties to even, or toward zero. What is beyond the range of an 8-bit float becomes its
    largest number."""
    found = rounded_once(one, kind)
    if kind.itemsize == 1:
        largest = float(ml_dtypes.finfo(kind).max)
        wide = one.astype(np.float64)
        beyond = np.abs(wide) > largest
        found = np.where(beyond, np.copysign(largest, wide).astype(kind), found)
    if toward_zero:
        over = np.abs(found.astype(np.float64)) > np.abs(one.astype(np.float64))
        bits = found.view(f"u{kind.itemsize}")
        found = np.where(over, bits - bits.dtype.type(1), bits).astype(bits.dtype).view(kind)
    return found


@gives("arith.extf", "arith.truncf", "tt.fp_to_fp")
def between_floats(operation: Operation, one: Array) -> Any:
    words = operation.words
    rounding = words[words.index("rounding") + 1] if "rounding" in words else "rtne"
    if rounding not in ("rtne", "rtz"):
        raise NotEvaluated(f"op {operation.name} with rounding {rounding}")
    return narrowed(one, operation.type.dtype, toward_zero=rounding == "rtz")


@gives("arith.bitcast", "tt.bitcast", "tt.ptr_to_int", "tt.int_to_ptr")
def same_bits(operation: Operation, one: Array) -> Any:
    kind = operation.type.dtype
    if kind == np.bool_:
        return np.asarray(one.astype(np.uint8) != 0)
    one = one.astype(np.uint8) if one.dtype == np.bool_ else one
    if one.dtype.itemsize != kind.itemsize:
        raise NotEvaluated(f"op {operation.name} to another width")
    return one.view(kind)


_FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
"""Values of e2m1, by their bits."""


@gives("ttg.fp4_to_fp")
def from_fp4(operation: Operation, one: Array) -> Any:
    """Two numbers from each byte along the axis, the one in the lower bits first."""
    packed, axis = one.view(np.uint8), operation.number("axis")
    halves = np.stack([packed & 15, packed >> 4], axis=axis + 1)
    return _FP4[halves].astype(operation.type.dtype).reshape(operation.type.shape)
