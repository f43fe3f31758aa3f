"""Exact arithmetic on single values given as bit patterns: Python integers and rationals, for arbitration.

Patterns are unsigned integers of the type's width. Functions take the type's name first and return patterns.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from tridiff.oracles.dtypes import DType, dtype
from tridiff.oracles.errors import OracleError

Pair = tuple[int, int]


def _integer(name: str) -> DType:
    kind = dtype(name)
    if not kind.is_integer:
        raise OracleError(f"{name} is not an integer type; use one of i8..i64, u8..u64")
    return kind


def to_int(name: str, bits: int) -> int:
    """Value of an integer (or i1) pattern."""
    kind = dtype(name)
    negative = kind.kind == "int" and bits >> (kind.bits - 1)
    return bits - (1 << kind.bits) if negative else bits


def wrap(name: str, value: int) -> int:
    """Pattern of an integer reduced modulo 2^bits."""
    return value & ((1 << dtype(name).bits) - 1)


def is_nan(name: str, bits: int) -> bool:
    """True if the pattern is a NaN of a float type."""
    kind = dtype(name)
    return kind.is_float and bits & ((1 << (kind.bits - 1)) - 1) > kind.infinity_bits


def is_infinite(name: str, bits: int) -> bool:
    """True if the pattern is ±infinity."""
    kind = dtype(name)
    return kind.has_inf and bits & ((1 << (kind.bits - 1)) - 1) == kind.infinity_bits


def is_finite(name: str, bits: int) -> bool:
    """True unless the pattern is NaN or infinite."""
    return not is_nan(name, bits) and not is_infinite(name, bits)


def is_negative(name: str, bits: int) -> bool:
    """Sign bit of a float pattern."""
    return bool(bits >> (dtype(name).bits - 1))


def quiet_nan(name: str) -> int:
    """A canonical NaN pattern of a float type."""
    kind = dtype(name)
    return kind.infinity_bits | (1 << (kind.mantissa_bits - 1)) if kind.has_inf else kind.infinity_bits + 1


def infinity(name: str, *, negative: bool = False) -> int:
    """Pattern of ±infinity; OracleError for fp8e4nv."""
    kind = dtype(name)
    if not kind.has_inf:
        raise OracleError(f"{name} has no infinity")
    return kind.infinity_bits | int(negative) << (kind.bits - 1)


def to_fraction(name: str, bits: int) -> Fraction:
    """Value of a finite float, integer or i1 pattern; OracleError for NaN and infinity."""
    kind = dtype(name)
    if not kind.is_float:
        return Fraction(to_int(name, bits))
    if is_nan(name, bits) or is_infinite(name, bits):
        raise OracleError(f"{bits:#x} of {name} is not finite")
    field = (bits >> kind.mantissa_bits) & ((1 << kind.exponent_bits) - 1)
    significand = bits & ((1 << kind.mantissa_bits) - 1)
    if field:
        significand |= 1 << kind.mantissa_bits
    exponent = max(field, 1) - kind.bias - kind.mantissa_bits
    value = Fraction(significand) * (Fraction(2) ** exponent)
    return -value if is_negative(name, bits) else value


def round_fraction(name: str, value: Fraction, *, negative_zero: bool = False) -> int:
    """Pattern nearest to a rational, ties to even; overflow gives infinity (the maximum for fp8e4nv).

    negative_zero: sign given to an exact zero. A nonzero value that rounds to zero keeps its own sign.
    """
    kind = dtype(name)
    if not kind.is_float:
        raise OracleError(f"{name} is not a float type; use wrap for integers")
    sign = 1 << (kind.bits - 1) if value < 0 or (value == 0 and negative_zero) else 0
    size = abs(value)
    if size == 0:
        return sign
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    quantum = max(exponent, 1 - kind.bias) - kind.mantissa_bits
    steps = round(size / Fraction(2) ** quantum)  # Fraction rounds ties to even
    # Counting steps from the binade's start makes a carry run into the exponent field by itself.
    start = (max(exponent, 1 - kind.bias) + kind.bias - 1) << kind.mantissa_bits
    return sign | min(start + steps, kind.infinity_bits)


def add(name: str, a: int, b: int) -> int:
    """Sum: integers wrap, i1 modulo 2, floats correctly rounded once."""
    kind = dtype(name)
    if not kind.is_float:
        return wrap(name, to_int(name, a) + to_int(name, b))
    if is_nan(name, a) or is_nan(name, b):
        return quiet_nan(name)
    if is_infinite(name, a) or is_infinite(name, b):
        if is_infinite(name, a) and is_infinite(name, b) and a != b:
            return quiet_nan(name)
        return a if is_infinite(name, a) else b
    both_negative = is_negative(name, a) and is_negative(name, b)
    return round_fraction(name, to_fraction(name, a) + to_fraction(name, b), negative_zero=both_negative)


def _divide(name: str, a: int, b: int, operation: Callable[[int, int], int]) -> int | None:
    _integer(name)
    x, y = to_int(name, a), to_int(name, b)
    return None if y == 0 else wrap(name, operation(x, y))


def _quotient_toward_zero(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def div_trunc(name: str, a: int, b: int) -> int | None:
    """Quotient toward zero, wrapped; None where undefined (b = 0)."""
    return _divide(name, a, b, _quotient_toward_zero)


def rem_trunc(name: str, a: int, b: int) -> int | None:
    """Remainder of the quotient toward zero; None where undefined (b = 0)."""
    return _divide(name, a, b, lambda x, y: x - y * _quotient_toward_zero(x, y))


def div_floor_integer(name: str, a: int, b: int) -> int | None:
    """Floor quotient, wrapped; None where undefined (b = 0) (contract: helpers.md §4)."""
    return _divide(name, a, b, lambda x, y: math.floor(Fraction(x, y)))


def remainder_integer(name: str, a: int, b: int) -> int | None:
    """a - b * floor(a / b); None where undefined (b = 0) (contract: helpers.md §4)."""
    return _divide(name, a, b, lambda x, y: x - y * math.floor(Fraction(x, y)))


def to_float(value: Fraction) -> float:
    """The nearest Python float; infinity where it overflows."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def order(name: str, bits: int) -> tuple[int, Fraction]:
    """Key that sorts non-NaN patterns by value, ±0 equal."""
    return _order(name, bits, largest=False)


def sum_of(name: str, values: Sequence[int]) -> float:
    """Exact sum of float patterns, rounded once to a Python float; NaN for a NaN or opposed infinities."""
    infinities = {is_negative(name, v) for v in values if is_infinite(name, v)}
    if any(is_nan(name, v) for v in values) or len(infinities) == 2:
        return math.nan
    if infinities:
        return -math.inf if infinities.pop() else math.inf
    total = Fraction(0)
    for value in values:
        total += to_fraction(name, value)
    negative_zero = bool(values) and all(is_negative(name, v) for v in values)
    return to_float(total) if total else -0.0 if negative_zero else 0.0


def product_of(name: str, values: Sequence[int]) -> float:
    """Exact product of float patterns, rounded once to a Python float; NaN for a NaN or zero times
    infinity.
    """
    infinite = any(is_infinite(name, v) for v in values)
    finite = [to_fraction(name, v) for v in values if is_finite(name, v)]
    if any(is_nan(name, v) for v in values) or (infinite and 0 in finite):
        return math.nan
    sign = -1.0 if len([v for v in values if is_negative(name, v)]) % 2 else 1.0
    return math.copysign(math.inf if infinite else to_float(math.prod(finite, start=Fraction(1))), sign)


def frexp(name: str, bits: int) -> Pair:
    """(pattern of m, e) with x = m * 2^e and 0.5 <= |m| < 1; ±0, ±infinity and NaN give (x, 0)."""
    if not is_finite(name, bits) or to_fraction(name, bits) == 0:
        return bits, 0
    value = to_fraction(name, bits)
    exponent = 0
    while abs(value) >= 1:
        value, exponent = value / 2, exponent + 1
    while abs(value) < Fraction(1, 2):
        value, exponent = value * 2, exponent - 1
    return round_fraction(name, value), exponent


def _order(name: str, bits: int, *, largest: bool) -> tuple[int, Fraction]:
    """Sort key, smaller wins: NaN, then by value with infinities at the ends."""
    if is_nan(name, bits):
        return (-2, Fraction(0))
    sign = -1 if largest else 1
    if is_infinite(name, bits):
        return (sign * (-1 if is_negative(name, bits) else 1), Fraction(0))
    return (0, sign * to_fraction(name, bits))


def minimum(name: str, a: int, b: int) -> int:
    """The smaller value, NaN if either is NaN; ties return b (compare with NUM0)."""
    return a if _order(name, a, largest=False) < _order(name, b, largest=False) else b


def maximum(name: str, a: int, b: int) -> int:
    """The larger value, NaN if either is NaN; ties return b (compare with NUM0)."""
    return a if _order(name, a, largest=True) < _order(name, b, largest=True) else b


def min_with_index(name: str, pairs: Sequence[Pair]) -> Pair:
    """The winning (pattern, index value) of a non-empty sequence: NaN first, then smallest value, then
    index.
    """
    return min(pairs, key=lambda pair: (*_order(name, pair[0], largest=False), pair[1]))


def max_with_index(name: str, pairs: Sequence[Pair]) -> Pair:
    """The winning (pattern, index value) of a non-empty sequence: NaN first, then largest value, then
    index.
    """
    return min(pairs, key=lambda pair: (*_order(name, pair[0], largest=True), pair[1]))
