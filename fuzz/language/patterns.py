"""Inputs that a sweep gives a call: all patterns of a narrow type, chosen ones of a wide one, and the few values that
lines of what folds and sorts are made of."""

from collections.abc import Iterator
from functools import cache
from itertools import count, product

from tridiff.fuzz.content.text import from_bits
from tridiff.oracles.dtypes import dtype

NARROW = 16
"""Bits of types whose patterns are all taken."""
_FLOATS = (("nan", "-0.0", "1.5"), ("inf", "-inf", "1.0"), ("0.0", "-0.0", "-1.0"))
"""NaN among numbers; infinities; ties of zeros."""
_STEP = 0x9E3779B97F4A7C15


def size(name: str) -> int:
    """How many patterns a type has."""
    return 2 if name == "i1" else 1 << dtype(name).bits


@cache
def texts(name: str, number: int) -> list[str]:
    """So many values of a type, or all that it has: where it has more, those at which functions change first."""
    words = range(size(name)) if size(name) <= number else chosen(name, number)
    return [from_bits(word, name) for word in words]


def chosen(name: str, number: int) -> list[int]:
    """Patterns of a type, each once."""
    info = dtype(name)
    found: dict[int, None] = {}
    source = _floats(info.exponent_bits, info.mantissa_bits, wide=number > 1 << 12) if info.is_float else (
        _integers(info.bits, signed=info.kind == "int"))
    for word in source:
        found[word & (size(name) - 1)] = None
        if len(found) == number:
            return list(found)
    for place in count(1):
        found[((place * _STEP) & ((1 << 64) - 1)) >> (64 - info.bits)] = None
        if len(found) == number:
            break
    return list(found)


def _mantissas(bits: int) -> Iterator[int]:
    """Ends, halfway cases of every shorter mantissa and what lies beside them."""
    full = (1 << bits) - 1
    yield from (0, full, 1, 1 << (bits - 1), full - 1)
    for place in range(bits - 1, -1, -1):
        half = 1 << place
        yield from (half, half + 1, half - 1, full ^ half, 3 * half & full)


def _exponents(bits: int) -> list[int]:
    """Those at which something begins or ends, then all others."""
    bias = (1 << (bits - 1)) - 1
    first = (bias, 0, 2 * bias + 1, 1, 2 * bias, *(bias + sign * one for one in (1, 2, 7, 8, 15, 16, 23, 24, 31, 32, 52,
                                                                               53, 63, 64, 126, 127, 149)
                                                   for sign in (1, -1)))
    return [one for one in dict.fromkeys((*first, *range(2 * bias + 2))) if 0 <= one <= 2 * bias + 1]


def _floats(exponent: int, mantissa: int, *, wide: bool) -> Iterator[int]:
    """wide: every exponent with the first mantissa, then with the second one; else those that matter first."""
    tops, fractions = _exponents(exponent), list(dict.fromkeys(_mantissas(mantissa)))
    pairs = [(top, fraction) for fraction in range(len(fractions)) for top in range(len(tops))]
    if not wide:
        pairs = sorted((pair for pair in pairs if sum(pair) < 64), key=sum)
    for top, fraction in pairs:
        word = tops[top] << mantissa | fractions[fraction]
        yield word
        yield word | 1 << (exponent + mantissa)


def _integers(bits: int, *, signed: bool) -> Iterator[int]:
    """Ends, powers of two and what lies beside them, then sums of two powers."""
    top = bits - signed
    yield from (0, 1, -1, (1 << top) - 1, 1 << (bits - 1), (1 << top) - 2, 2, -2, 3, -3)
    places = list(dict.fromkeys(one for one in (top, bits // 2, 8, 7, 15, 16, 23, 24, 31, 32, 52, 53, *range(bits))
                                if one < bits))
    for place in places:
        for beside in (0, -1, 1):
            yield from ((1 << place) + beside, -(1 << place) + beside)
    for place, other in product(places, places):
        if other < place:
            for beside in (0, 1, -1):
                yield from ((1 << place) + (1 << other) + beside, -(1 << place) - (1 << other) + beside,
                            (1 << place) - (1 << other) + beside)


def alphabets(name: str) -> tuple[tuple[str, ...], ...]:
    """Threes of values that tell orders, ties, signs and the ends of a type apart."""
    info = dtype(name)
    if name == "fp8e4nv":
        return _FLOATS[0], ("448.0", "-448.0", "1.0"), _FLOATS[2]
    if info.is_float:
        return _FLOATS
    low, high = int(info.min), int(info.max)
    if name == "i1":
        return (("0", "1"),)
    return ("0", "1", str(low or high)), (str(high), str(high - 1), str(low)), ("1", "2", "-1" if low else "3")
