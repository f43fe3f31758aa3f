"""Bit patterns worth placing into every input: signed zeros, infinities, NaNs with payload, subnormals, ties,
limits.

Patterns are unsigned Python integers of the storage width, so that a corpus entry can carry them unchanged.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from tridiff.oracles.dtypes import DType, dtype


@dataclass(frozen=True, slots=True)
class SpecialValue:
    """One named bit pattern of one type; `bits` is unsigned, of the type's storage width."""

    label: str
    bits: int


def _power_of_two_bits(kind: DType, exponent: int) -> int | None:
    """Pattern of 2^exponent, or None outside the finite range of the type."""
    top = kind.bias if kind.has_inf else kind.bias + 1
    if exponent > top:
        return None
    if exponent >= 1 - kind.bias:
        return (exponent + kind.bias) << kind.mantissa_bits
    shift = exponent - (1 - kind.bias) + kind.mantissa_bits
    return 1 << shift if shift >= 0 else None


def _exact_bits(kind: DType, value: Fraction) -> int | None:
    """Pattern of a positive rational, or None when the type cannot hold it exactly."""
    numerator, denominator = value.numerator, value.denominator
    if denominator & (denominator - 1):
        return None
    lowest = (numerator & -numerator).bit_length() - 1
    odd, scale = numerator >> lowest, lowest - (denominator.bit_length() - 1)
    exponent = scale + odd.bit_length() - 1
    top = kind.bias if kind.has_inf else kind.bias + 1
    if exponent > top:
        return None
    # Quantum of the binade the value falls into, the subnormal one included.
    quantum = max(exponent, 1 - kind.bias) - kind.mantissa_bits
    if scale < quantum:
        return None
    significand = odd << (scale - quantum)
    if exponent < 1 - kind.bias:
        return significand
    bits = ((exponent + kind.bias) << kind.mantissa_bits) | (significand & ((1 << kind.mantissa_bits) - 1))
    return bits if bits <= kind.infinity_bits - kind.has_inf else None


# Positive values at which rounding, reduction or conversion routines change branch.
_CRITICAL: tuple[tuple[str, Fraction], ...] = (
    ("one", Fraction(1)), ("half", Fraction(1, 2)), ("tie_1.5", Fraction(3, 2)), ("tie_2.5", Fraction(5, 2)),
    ("tie_3.5", Fraction(7, 2)), ("three", Fraction(3)), ("tie_to_bf16", 1 + Fraction(1, 1 << 8)),
    ("tie_to_bf16_odd", 1 + Fraction(3, 1 << 8)), ("tie_to_fp16", 1 + Fraction(1, 1 << 11)),
    ("tie_to_fp16_odd", 1 + Fraction(3, 1 << 11)), ("tie_to_fp32", 1 + Fraction(1, 1 << 24)),
    ("tie_to_fp32_odd", 1 + Fraction(3, 1 << 24)), ("tie_to_e4m3", 1 + Fraction(1, 1 << 4)),
    ("e4m3_max", Fraction(448)), ("e4m3_overflow_tie", Fraction(464)), ("e5m2_max", Fraction(57344)),
    ("e5m2_overflow_tie", Fraction(61440)), ("fp16_max", Fraction(65504)), ("fp16_overflow_tie", Fraction(65520)),
    ("2^7", Fraction(1 << 7)), ("2^8", Fraction(1 << 8)), ("2^15", Fraction(1 << 15)), ("2^16", Fraction(1 << 16)),
    ("2^22", Fraction(1 << 22)), ("2^23", Fraction(1 << 23)), ("2^24", Fraction(1 << 24)),
    ("2^24-1", Fraction((1 << 24) - 1)), ("2^31", Fraction(1 << 31)), ("2^31-1", Fraction((1 << 31) - 1)),
    ("2^32", Fraction(1 << 32)), ("2^51", Fraction(1 << 51)), ("2^53", Fraction(1 << 53)),
    ("2^53-1", Fraction((1 << 53) - 1)), ("2^63", Fraction(1 << 63)), ("2^64", Fraction(1 << 64)),
)


def _float_values(kind: DType) -> list[SpecialValue]:
    sign = 1 << (kind.bits - 1)
    mantissa_ones = (1 << kind.mantissa_bits) - 1
    normal = 1 << kind.mantissa_bits
    infinity = kind.infinity_bits
    positive: list[tuple[str, int]] = [
        ("zero", 0), ("smallest_subnormal", 1), ("second_subnormal", 2), ("largest_subnormal", mantissa_ones),
        ("smallest_normal", normal), ("after_smallest_normal", normal + 1), ("largest", infinity - kind.has_inf),
        ("below_largest", infinity - kind.has_inf - 1),
    ]
    if kind.has_inf:
        quiet = infinity | (1 << (kind.mantissa_bits - 1))
        positive.append(("infinity", infinity))
        positive.append(("quiet_nan", quiet))
        if kind.mantissa_bits >= 3:
            positive.append(("quiet_nan_payload", quiet | 0b101))
            positive.append(("signalling_nan_payload", infinity | 0b11))
        positive.append(("quiet_nan_all_ones", infinity | mantissa_ones))
        positive.append(("signalling_nan", infinity | 1))
    else:
        positive.append(("quiet_nan", infinity + 1))
    for label, value in _CRITICAL:
        bits = _exact_bits(kind, value)
        if bits is not None:
            positive.append((label, bits))
    one = kind.bias << kind.mantissa_bits
    positive += [("after_one", one + 1), ("before_one", one - 1)]
    for exponent in (1 - kind.bias - kind.mantissa_bits // 2, 2 - kind.bias, kind.bias // 2, kind.bias):
        bits = _power_of_two_bits(kind, exponent)
        if bits is not None:
            positive.append((f"power_2^{exponent}", bits))
    values: list[SpecialValue] = []
    seen: set[int] = set()
    for label, bits in positive:
        for prefix, pattern in (("+", bits), ("-", bits | sign)):
            if pattern not in seen:
                seen.add(pattern)
                values.append(SpecialValue(prefix + label, pattern))
    return values


def _integer_values(kind: DType) -> list[SpecialValue]:
    mask = (1 << kind.bits) - 1
    low, high = int(kind.min), int(kind.max)
    named: list[tuple[str, int]] = [
        ("0", 0), ("1", 1), ("-1", -1), ("2", 2), ("-2", -2), ("3", 3), ("-3", -3), ("7", 7), ("-7", -7), ("10", 10),
        ("16", 16), ("-16", -16), ("100", 100), ("MIN", low), ("MIN+1", low + 1), ("MAX", high), ("MAX-1", high - 1),
        ("alternating", int("01" * (kind.bits // 2), 2)), ("alternating_inverse", int("10" * (kind.bits // 2), 2)),
    ]
    for exponent in (4, 7, 8, 15, 16, 24, 31, 32, 53, 62, 63):
        if exponent < kind.bits:
            named += [
                (f"2^{exponent}", 1 << exponent), (f"2^{exponent}-1", (1 << exponent) - 1),
                (f"2^{exponent}+1", (1 << exponent) + 1), (f"-2^{exponent}", -(1 << exponent)),
            ]
    values: list[SpecialValue] = []
    seen: set[int] = set()
    for label, value in named:
        if value & mask not in seen:
            seen.add(value & mask)
            values.append(SpecialValue(label, value & mask))
    return values


@cache
def special_values(name: str) -> tuple[SpecialValue, ...]:
    """Named special patterns of the type, without duplicates, in a fixed order (contract: oracles.md §8)."""
    kind = dtype(name)
    if kind.kind == "bool":
        return (SpecialValue("False", 0), SpecialValue("True", 1))
    return tuple(_float_values(kind) if kind.is_float else _integer_values(kind))


@cache
def special_bits(name: str) -> tuple[int, ...]:
    """The patterns of `special_values` alone, as unsigned integers of the storage width."""
    return tuple(value.bits for value in special_values(name))
