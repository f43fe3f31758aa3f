"""Classes of values, and how a wrong value stands to the right one, whatever the dtype."""

from tridiff.fuzz.content.text import number_of
from tridiff.oracles.dtypes import dtype as dtype_info

SMALL = 4
"""Whole numbers up to this magnitude are told as they are: shrinking leads there."""

_SMALLEST_NORMAL = {"fp64": 2.0**-1022, "fp32": 2.0**-126, "bf16": 2.0**-126, "fp16": 2.0**-14}
_NEAR = 1e-2
"""Relative difference below which a float is called inexact."""


def class_of(text: str, dtype: str) -> str:
    """What kind of value it is: a small whole number as it is, "min" and "max" of an integer's dtype, "2^k" and "large"
    integers; "-0", "fraction", "subnormal", "large", "inf" and "nan" of floats; with their sign."""
    info = dtype_info(dtype)
    if "nan" in text:
        return "nan"
    number = number_of(text)
    if number is None:
        return text
    if isinstance(number, float) and number == 0:
        return "-0" if text.startswith("-") else "0"
    sign, size = "-" if number < 0 else "", abs(number)
    if size == int(size) and size <= SMALL:
        return f"{sign}{int(size)}"
    if info.kind == "float":
        if size < _SMALLEST_NORMAL.get(dtype, 0.0):
            return f"{sign}subnormal"
        return f"{sign}fraction" if size != int(size) else f"{sign}large"
    if number in (info.min, info.max):
        return "max" if number == info.max else "min"
    whole = int(size)
    return f"{sign}2^k" if whole & (whole - 1) == 0 else f"{sign}large"


def relation(expected: str, actual: str, dtype: str) -> str:
    """How a wrong value stands to the right one, as "expected > actual" in classes; two of one class by what lies
    between them."""
    right, wrong = class_of(expected, dtype), class_of(actual, dtype)
    if wrong == "max" and dtype_info(dtype).kind == "uint" and right != "max":
        wrong = "-1"  # All bits are set, as in a signed -1.
    if right != wrong:
        return f"{right} > {wrong}"
    one, other = number_of(expected), number_of(actual)
    if one is None or other is None:
        return f"{right} > {wrong}"
    if inexact(expected, actual):
        return f"{right} inexact"
    # Of fractions two digits say which one it is, whatever the dtype: random numbers have nothing else.
    return f"{right} > {other:.2g}" if isinstance(other, float) else f"{right} other"


def inexact(expected: str, actual: str) -> bool:
    """Whether two floats differ by little."""
    one, other = number_of(expected), number_of(actual)
    if one is None or other is None or isinstance(one, int) or isinstance(other, int):
        return False
    return abs(one - other) <= _NEAR * max(abs(one), abs(other))
