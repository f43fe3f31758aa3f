"""Where two builds gave other bits: how many elements, of what sort, and how far apart."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tridiff.fuzz.content import text
from tridiff.fuzz.judge.chunks import chunk_size
from tridiff.fuzz.records.observed import ObservedOutput
from tridiff.fuzz.records.pair import Numeric
from tridiff.oracles.dtypes import DType, dtype

_MOST_ULPS = 1 << 20

Words = npt.NDArray[np.unsignedinteger]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """elements: with other bits, in the parts that were fetched; open: of those, left open by the contract; judged: the
    others. special: of the judged, NaN on one side only, or infinite on one side only. word: the sort of the first.
    first: its number in the output; before, after: its values as text."""

    elements: int
    open: int
    judged: int
    special: int
    word: str
    first: int
    before: str
    after: str
    numeric: Numeric


def differences(one: ObservedOutput, other: ObservedOutput) -> Difference:
    """Compare the fetched parts of one output on two builds."""
    sort = dtype(one.dtype)
    step = chunk_size(one.elements)
    others = {part.number: part for part in other.parts}
    pairs = [(part, others[part.number]) for part in one.parts if part.number in others]
    left, right = (np.concatenate([_words(pair[side].values, sort) for pair in pairs]) for side in (0, 1))
    judged = np.concatenate([_mask(a.judged, b.judged, _words(a.values, sort).size) for a, b in pairs])
    places = np.concatenate([a.number * step + np.arange(_words(a.values, sort).size) for a, _ in pairs])
    apart = np.nonzero(left != right)[0]
    if not apart.size:
        return Difference(elements=0, open=0, judged=0, special=0, word="", first=0, before="", after="",
                          numeric=Numeric())
    known = apart[judged[apart]]
    chosen = known if known.size else apart
    first = int(chosen[0])
    special = _special(left[known], right[known], sort) if sort.is_float else np.zeros(known.size, bool)
    return Difference(
        elements=int(apart.size), open=int(apart.size - known.size), judged=int(known.size), special=int(special.sum()),
        word=_word(int(left[first]), int(right[first]), sort), first=int(places[first]),
        before=text.from_bits(int(left[first]), sort.name), after=text.from_bits(int(right[first]), sort.name),
        numeric=_numeric(left[known], right[known], sort, judged_elements=int(judged.sum())))


def _words(values: bytes, sort: DType) -> Words:
    return np.frombuffer(values, dtype=f"<u{sort.itemsize}")


def _mask(one: bytes, other: bytes, elements: int) -> npt.NDArray[np.bool_]:
    """Where both sides have the element judged."""
    both = np.ones(elements, dtype=bool)
    for mask in (one, other):
        if mask:
            both &= np.frombuffer(mask, dtype=np.uint8).astype(bool)
    return both


def _parts(words: Words, sort: DType) -> tuple[npt.NDArray[np.uint64], ...]:
    """Sign (0 or 1), exponent and mantissa of the bits of floats."""
    wide = words.astype(np.uint64)
    exponent = (wide >> np.uint64(sort.mantissa_bits)) & np.uint64((1 << sort.exponent_bits) - 1)
    mantissa = wide & np.uint64((1 << sort.mantissa_bits) - 1)
    sign = (wide >> np.uint64(sort.mantissa_bits + sort.exponent_bits)) & np.uint64(1)
    return sign, exponent, mantissa


def _kinds(words: Words, sort: DType) -> npt.NDArray[np.int8]:
    """0 finite, 1 infinite, 2 NaN."""
    found = np.zeros(words.shape, dtype=np.int8)
    _, exponent, mantissa = _parts(words, sort)
    top = exponent == (1 << sort.exponent_bits) - 1
    if sort.has_inf:
        found[top & (mantissa == 0)] = 1
        found[top & (mantissa != 0)] = 2
    else:
        found[top & (mantissa == (1 << sort.mantissa_bits) - 1)] = 2
    return found


def _special(left: Words, right: Words, sort: DType) -> npt.NDArray[np.bool_]:
    return _kinds(left, sort) != _kinds(right, sort)


def _word(left: int, right: int, sort: DType) -> str:
    """What sort of difference: of the sign of zero, the payload of a NaN, NaN, infinity, or the value."""
    if not sort.is_float:
        return "value"
    one, other = (np.array([bits], dtype=f"<u{sort.itemsize}") for bits in (left, right))
    before, after = int(_kinds(one, sort)[0]), int(_kinds(other, sort)[0])
    if before == after == 2:
        return "nan_payload"
    if 2 in (before, after):
        return "nan_unexpected" if after == 2 else "nan_missing"
    if before != after:
        return "inf"
    magnitude = (1 << (sort.mantissa_bits + sort.exponent_bits)) - 1
    return "zero_sign" if not (left & magnitude) and not (right & magnitude) else "value"


def _ordered(words: Words, sort: DType) -> npt.NDArray[np.float64]:
    """Numbers whose differences are distances in units in the last place (exact below 2^53)."""
    sign, exponent, mantissa = _parts(words, sort)
    magnitude = ((exponent << np.uint64(sort.mantissa_bits)) | mantissa).astype(np.float64)
    signed: npt.NDArray[np.float64] = np.where(sign == 1, -magnitude, magnitude)
    return signed


def _numeric(left: Words, right: Words, sort: DType, *, judged_elements: int) -> Numeric:
    if not left.size or not sort.is_float:
        return Numeric(elements=judged_elements)
    finite = (_kinds(left, sort) == 0) & (_kinds(right, sort) == 0)
    apart = _ordered(right[finite], sort) - _ordered(left[finite], sort)
    distance = np.abs(apart)
    histogram: dict[str, int] = {}
    upper = 1
    lower = 0
    while upper <= _MOST_ULPS:
        count = int(((distance > lower) & (distance <= upper)).sum())
        if count:
            histogram[str(upper)] = count
        lower, upper = upper, upper * 2
    beyond = int((distance > lower).sum())
    if beyond:
        histogram["more"] = beyond
    return Numeric(elements=judged_elements, histogram=histogram, bias=int((apart > 0).sum() - (apart < 0).sum()))
