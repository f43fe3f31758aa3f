"""Arithmetic and conversions rounded once in a given direction, in Python rationals, on small arrays.

Directions: rn to nearest, ties to even; rz towards zero; rd down; ru up (IEEE 754-2019 §4.3).
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tridiff.oracles import exact
from tridiff.oracles.by_exact.pointwise import from_patterns, patterns
from tridiff.oracles.dtypes import Array, dtype, name_of_array, numpy_dtype
from tridiff.oracles.errors import OracleError

MODES = ("rn", "rz", "rd", "ru")

_WHOLE: dict[str, Callable[[Fraction], int]] = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}


def nearby(name: str, value: Fraction, mode: str, *, negative_zero: bool = False) -> int:
    """Pattern of a rational rounded to a float type. negative_zero: the sign of an exact zero."""
    if mode not in MODES:
        raise OracleError(f"unknown rounding mode {mode!r}; use one of {' '.join(MODES)}")
    kind = dtype(name)
    if value == 0:
        return int(negative_zero) << (kind.bits - 1)
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, 1 - kind.bias)
    # Towards zero or away from it: the direction as a function of the size.
    downwards = mode == "rz" or mode == ("rd" if value > 0 else "ru")
    steps = _WHOLE["rn" if mode == "rn" else "rz" if downwards else "ru"](
        size / Fraction(2) ** (exponent - kind.mantissa_bits))
    start = (exponent + kind.bias - 1) << kind.mantissa_bits
    found = min(start + steps, kind.infinity_bits - downwards)
    return found | int(value < 0) << (kind.bits - 1)


def _root(value: Fraction) -> Fraction:
    """The square root, exact or truncated after 200 bits with half a unit more, which no rounding to 53 bits sees."""
    shift = 400 + value.denominator.bit_length() * 2
    scaled = (value.numerator << 2 * shift) // value.denominator
    root = math.isqrt(scaled)
    whole = root * root == scaled and (value.numerator << 2 * shift) % value.denominator == 0
    return Fraction(root if whole else 2 * root + 1, 1 << (shift if whole else shift + 1))


def _special(op: str, name: str, words: tuple[int, ...]) -> float | None:
    """The result by IEEE 754 where an operand is no number or infinite, or a result has no finite size; else None."""
    if any(exact.is_nan(name, one) for one in words):
        return math.nan
    values = [math.copysign(math.inf if exact.is_infinite(name, one) else float(exact.to_fraction(name, one) != 0),
                            -1.0 if exact.is_negative(name, one) else 1.0) for one in words]
    finite = all(math.isfinite(one) for one in values)
    if op == "sqrt" and values[0] < 0:
        return math.nan
    if op in ("rcp", "rsqrt") and (values[0] == 0 or not finite):
        if op == "rsqrt" and values[0] < 0:
            return math.nan
        return math.copysign(math.inf if values[0] == 0 else 0.0, values[0])
    if op == "rsqrt" and values[0] < 0:
        return math.nan
    if op == "div" and (values[1] == 0 or not finite):
        a, b = values
        if (a == 0 and b == 0) or (math.isinf(a) and math.isinf(b)):
            return math.nan
        return math.copysign(math.inf if b == 0 or math.isinf(a) else 0.0, math.copysign(1, a) * math.copysign(1, b))
    if finite:
        return None
    if op in ("add", "sub"):
        return values[0] + (values[1] if op == "add" else -values[1])
    if op == "mul":
        return values[0] * values[1]
    if op == "fma":
        return values[0] * values[1] + values[2]
    return values[0]


def _exactly(op: str, values: list[Fraction]) -> Fraction:
    if op in ("add", "sub"):
        return values[0] + values[1] if op == "add" else values[0] - values[1]
    if op in ("mul", "fma"):
        return values[0] * values[1] + (values[2] if op == "fma" else 0)
    if op in ("div", "rcp"):
        return values[0] / values[1] if op == "div" else 1 / values[0]
    if op in ("sqrt", "rsqrt"):
        return _root(values[0] if op == "sqrt" else 1 / values[0])
    if op == "convert":
        return values[0]
    raise OracleError(f"unknown operation {op!r}; use add, sub, mul, div, fma, rcp, sqrt, rsqrt or convert")


def _zero_is_negative(op: str, mode: str, signs: tuple[bool, ...]) -> bool:
    """The sign of an exact zero: of sums the common one of the terms, else that of the direction."""
    if op in ("mul", "div"):
        return signs[0] != signs[1]
    if op in ("sqrt", "convert"):
        return signs[0]
    first = (signs[0] != signs[1]) if op == "fma" else signs[0]
    second = signs[-1] if op != "sub" else not signs[1]
    return first if first == second else mode == "rd"


def rounded(op: str, mode: str, to: str, *operands: Array) -> Array:
    """`op` of floats of one type (convert: of floats or integers), rounded once to float type `to`.

    op: add, sub, mul, div, fma, rcp (1/x), sqrt, rsqrt or convert.
    """
    source = name_of_array(operands[0])
    floats = dtype(source).is_float
    words = []
    for one in zip(*(patterns(x) for x in operands), strict=True):
        special = _special(op, source, one) if floats else None
        if special is not None:
            words.append(exact.quiet_nan(to) if special != special else exact.infinity(to, negative=special < 0)
                         if math.isinf(special) else int(math.copysign(1, special) < 0) << (dtype(to).bits - 1))
            continue
        signs = tuple(floats and exact.is_negative(source, bits) for bits in one)
        value = _exactly(op, [exact.to_fraction(source, bits) for bits in one])
        words.append(nearby(to, value, mode, negative_zero=_zero_is_negative(op, mode, signs)))
    return from_patterns(words, np.zeros(0, numpy_dtype(to)), operands[0].shape)


def whole(mode: str, to: str, x: Array) -> Array:
    """x as an integer of type `to`: rounded, held within the type's range; NaN gives 0, or the word of the highest bit
    where x or `to` has 64 bits (PTX ISA, cvt).
    """
    source, target = name_of_array(x), dtype(to)
    nan = 1 << (target.bits - 1) if 64 in (dtype(source).bits, target.bits) else 0
    words = []
    for bits in patterns(x):
        if exact.is_nan(source, bits):
            words.append(nan)
            continue
        if exact.is_infinite(source, bits):
            value = int(target.min if exact.is_negative(source, bits) else target.max)
        else:
            value = _WHOLE[mode](exact.to_fraction(source, bits))
        words.append(exact.wrap(to, min(max(value, int(target.min)), int(target.max))))
    return from_patterns(words, np.zeros(0, numpy_dtype(to)), x.shape)
