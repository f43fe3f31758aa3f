"""Typed constants: from the text in a graph to an exact value, and from there to Triton text (codegen.md §2.4)."""

import math
from dataclasses import dataclass
from fractions import Fraction

from tridiff.kernels.codegen.graph import real_number
from tridiff.kernels.pointwise.record import TRITON_NAMES, WIDTHS

Number = bool | int | float


@dataclass(frozen=True, slots=True)
class FloatKind:
    """A binary format. digits: of the significand, the hidden one included. least: exponent of the smallest
    subnormal. largest: the largest finite number. infinity: whether overflow gives one (otherwise it saturates)."""

    digits: int
    least: int
    largest: float
    infinity: bool = True


FLOAT_KINDS = {
    "fp8e4nv": FloatKind(4, -9, 448.0, infinity=False), "fp8e5": FloatKind(3, -16, 57344.0, infinity=False),
    "bf16": FloatKind(8, -133, float.fromhex("0x1.fep127")), "fp16": FloatKind(11, -24, 65504.0),
    "fp32": FloatKind(24, -149, float.fromhex("0x1.fffffep127")),
    "fp64": FloatKind(53, -1074, float.fromhex("0x1.fffffffffffffp1023")),
}
DTYPES = tuple(WIDTHS)
TORCH_NAMES = {dtype: name.removeprefix("tl.") for dtype, name in TRITON_NAMES.items()} | {
    "i1": "bool", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2"}


def is_float(dtype: str) -> bool:
    return dtype in FLOAT_KINDS


def is_integer(dtype: str) -> bool:
    """True for i8 ... u64, not for i1."""
    return dtype in WIDTHS and dtype != "i1" and dtype not in FLOAT_KINDS


def integer_limits(dtype: str) -> tuple[int, int]:
    """Smallest and largest value of an integer dtype; i1 holds 0 and 1."""
    if dtype == "i1":
        return 0, 1
    width = WIDTHS[dtype]
    return (0, 2**width - 1) if dtype[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def round_to(value: float, dtype: str) -> float:
    """The number of a float dtype nearest to a double, ties to even; fp8 saturates, the others overflow to infinity."""
    kind = FLOAT_KINDS[dtype]
    if math.isnan(value) or value == 0:
        return value
    if math.isinf(value):
        return value if kind.infinity else math.copysign(kind.largest, value)
    exponent = max(math.frexp(value)[1] - kind.digits, kind.least)
    steps = round(Fraction(value) / Fraction(2) ** exponent)  # Python rounds a Fraction half to even
    rounded = Fraction(steps) * Fraction(2) ** exponent
    if abs(rounded) > Fraction(kind.largest):
        return math.copysign(math.inf if kind.infinity else kind.largest, value)
    return math.copysign(float(abs(rounded)), value)


def parse(text: str, dtype: str) -> Number:
    """The exact value that `text` stands for in `dtype`; ValueError with one line if there is none."""
    if dtype not in WIDTHS:
        raise ValueError(f"unknown dtype {dtype!r}; use one of {' '.join(WIDTHS)}")
    if dtype == "i1" and text in ("true", "false"):
        return text == "true"
    if is_float(dtype):
        try:
            value = real_number(text)
        except (ValueError, OverflowError):
            raise ValueError(f"constant {text!r} is no {dtype}: write a number, inf or nan") from None
        return round_to(value, dtype)
    low, high = integer_limits(dtype)
    if not text.removeprefix("-").isdecimal() or not low <= int(text) <= high:
        raise ValueError(f"constant {text!r} is no {dtype}: write an integer from {low} to {high}")
    return bool(int(text)) if dtype == "i1" else int(text)


def literal(value: Number, dtype: str) -> str | None:
    """A Python literal that Triton converts to exactly this value, or None where only `full` will do.

    Python's inf and nan are calls; -0.0 loses its sign in Triton 3.6.0. A Python float stands for an fp32 number
    (for an fp64 one only outside of the normal range of fp32), so a finite double that fp32 rounds needs `full`.
    """
    if isinstance(value, float):
        if math.isnan(value):
            return 'float("nan")'
        if math.isinf(value):
            return 'float("inf")' if value > 0 else 'float("-inf")'
        if value == 0 and math.copysign(1.0, value) < 0:
            return None
        return None if round_to(value, "fp32") != value else repr(value)
    if dtype == "i1":
        return str(bool(value))
    return str(value) if -(2**31) <= value < 2**31 else None


def full(value: Number, dtype: str, shape: str) -> str:
    """Triton text of a block of `shape` (text, "[1, 1]") filled with `value`, of `dtype` exactly."""
    name = TRITON_NAMES[dtype]
    if isinstance(value, float) and value == 0 and math.copysign(1.0, value) < 0:
        width = WIDTHS[dtype]
        sign_bit = f"tl.full({shape}, {2 ** (width - 1)}, tl.uint{width})"
        return f"{sign_bit}.to({name}, bitcast=True)"
    if dtype.startswith("fp8"):
        return f"tl.full({shape}, {literal(value, 'fp32')}, tl.float32).to({name})"
    return f"tl.full({shape}, {literal(value, dtype) or repr(value)}, {name})"
