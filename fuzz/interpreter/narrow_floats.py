"""Formats that numpy lacks (bf16, fp8), as bit patterns: exact decoding and correctly rounded encoding.

Rounding is single: a 64-bit source reaches its 8- or 16-bit target in one step, as `cvt.rn` does on sm_90.
Overflow follows the same instructions: fp8 saturates, infinities included; bf16 and wider overflow to infinity.
Contract: oracles.md §5 (conversion rows). For e5m2 infinity the contract also accepts infinity.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format with gradual underflow.

    bits, mantissa_bits: storage width and explicit mantissa width. bias: of the exponent.
    largest: bit pattern of the largest finite value. infinity: its bit pattern, None where overflow saturates.
    nan: bit pattern of the NaN that conversions produce.
    """

    bits: int
    mantissa_bits: int
    bias: int
    largest: int
    infinity: int | None
    nan: int

    @property
    def storage(self) -> Any:
        """The unsigned numpy dtype of the bit patterns."""
        return np.dtype(f"uint{self.bits}")


FP8E4NV = FloatFormat(bits=8, mantissa_bits=3, bias=7, largest=0x7E, infinity=None, nan=0x7F)
FP8E5 = FloatFormat(bits=8, mantissa_bits=2, bias=15, largest=0x7B, infinity=None, nan=0x7F)
BF16 = FloatFormat(bits=16, mantissa_bits=7, bias=127, largest=0x7F7F, infinity=0x7F80, nan=0x7FC0)
FP16 = FloatFormat(bits=16, mantissa_bits=10, bias=15, largest=0x7BFF, infinity=0x7C00, nan=0x7E00)
FP32 = FloatFormat(bits=32, mantissa_bits=23, bias=127, largest=0x7F7FFFFF, infinity=0x7F800000, nan=0x7FC00000)

# Keyed by Triton's dtype names. Absent on purpose: the AMD-only and the software-only fp8 formats.
NARROW = {"bf16": BF16, "fp8e4nv": FP8E4NV, "fp8e5": FP8E5}
ENCODABLE = {**NARROW, "fp16": FP16, "fp32": FP32}


def decode(bits: Array, form: FloatFormat) -> Array:
    """float32 array of the shape of `bits`; exact. NaN payloads of bf16 are kept."""
    if form is BF16:
        widened: Array = np.left_shift(bits.astype(np.uint32), np.uint32(16)).view(np.float32)
        return widened
    values: Array = _table(form)[bits.astype(np.uint8)]
    return values


@cache
def _table(form: FloatFormat) -> Array:
    codes = np.arange(256, dtype=np.int64)
    exponent = (codes & 0x7F) >> form.mantissa_bits
    mantissa = codes & ((1 << form.mantissa_bits) - 1)
    hidden = np.where(exponent > 0, 1 << form.mantissa_bits, 0)
    scale = np.maximum(exponent, 1) - form.bias - form.mantissa_bits
    values = np.ldexp((mantissa + hidden).astype(np.float64), scale)
    if form is FP8E5:
        values[(codes & 0x7F) == 0x7C] = np.inf
        values[(codes & 0x7F) > 0x7C] = np.nan
    else:
        values[(codes & 0x7F) > form.largest] = np.nan
    table: Array = np.where(codes >= 0x80, -values, values).astype(np.float32)
    table.setflags(write=False)
    return table


def encode(values: Array, form: FloatFormat, *, toward_zero: bool = False) -> Array:
    """Bit patterns (unsigned, of the shape of `values`) of `values` rounded once to `form`.

    values: any float, integer or bool array of numpy. Rounding is to nearest, ties to even, unless `toward_zero`.
    """
    if values.dtype == np.float32 and form is BF16 and not toward_zero:
        return _bf16_from_fp32(values)
    sign = np.signbit(values) if values.dtype.kind == "f" else values < 0
    exact = _as_float64(values)
    magnitude = np.abs(exact)
    _, exponent = np.frexp(magnitude)
    # frexp gives zero the exponent of 0.5; subnormals and zero share the smallest one.
    exponent = np.where(magnitude == 0, 1 - form.bias, np.maximum(exponent.astype(np.int64) - 1, 1 - form.bias))
    with np.errstate(all="ignore"):
        steps = np.ldexp(magnitude, form.mantissa_bits - exponent)
        steps = np.trunc(steps) if toward_zero else np.rint(steps)
        # `steps` carries the hidden bit, hence the -1; a carry out of the mantissa lands in the exponent by itself.
        code = ((exponent + form.bias - 1) << form.mantissa_bits) + np.where(
            np.isfinite(steps), steps, 0).astype(np.int64)
    too_large = (code > form.largest) & np.isfinite(magnitude)
    overflow = form.largest if toward_zero or form.infinity is None else form.infinity
    code = np.where(too_large, overflow, code)
    code = np.where(np.isinf(magnitude), form.largest if form.infinity is None else form.infinity, code)
    code |= np.where(sign, 1 << (form.bits - 1), 0)
    code = np.where(np.isnan(magnitude), form.nan, code)
    return code.astype(form.storage)


def _bf16_from_fp32(values: Array) -> Array:
    bits = np.ascontiguousarray(values).view(np.uint32).reshape(values.shape)
    upper = bits >> np.uint32(16)
    rounded = (bits + np.uint32(0x7FFF) + (upper & np.uint32(1))) >> np.uint32(16)
    # NaN keeps its upper payload, so that a poisoned value stays recognisable.
    return np.where(np.isnan(values), upper | np.uint32(0x40), rounded).astype(np.uint16)


def _as_float64(values: Array) -> Array:
    """float64 with the same rounding as `values` in any format of at most 50 bits of precision."""
    if (values.dtype.kind != "i" and values.dtype.kind != "u") or values.dtype.itemsize < 8:
        return values.astype(np.float64)
    # 64-bit integers: keep 53 significant bits and fold the rest into the last one ("round to odd").
    unsigned = values.astype(np.uint64)
    magnitude = np.where(values < 0, np.uint64(0) - unsigned, unsigned)
    sticky = ((magnitude & np.uint64(0x7FF)) != 0).astype(np.uint64) << np.uint64(11)
    folded = np.where(magnitude >> np.uint64(53) != 0, (magnitude & ~np.uint64(0x7FF)) | sticky, magnitude)
    return np.where(values < 0, -folded.astype(np.float64), folded.astype(np.float64))


def fma_once(x: Array, y: Array, z: Array, *, form: FloatFormat | None = None) -> Array:
    """x * y + z with one rounding, for float32 operands (any values of `form`).

    form: the narrow format to round to (bit patterns are returned), None for float32.
    """
    product = x.astype(np.float64) * y.astype(np.float64)
    addend = z.astype(np.float64)
    total = product + addend
    # The product is exact; the sum is made exact enough by rounding it to odd: its error, recovered by Knuth's
    # two-sum, decides the last bit, so the second rounding below cannot be fooled into a false tie.
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64) if total.ndim else np.atleast_1d(total).view(np.int64).reshape(())
    even = (bits & 1) == 0
    outward = (error > 0) == (total > 0)
    odd = np.where(outward, bits + 1, bits - 1)
    adjust = even & (error != 0) & np.isfinite(total)
    exact = np.where(adjust, odd, bits).astype(np.int64).view(np.float64)
    return exact.astype(np.float32) if form is None else encode(exact, form)
