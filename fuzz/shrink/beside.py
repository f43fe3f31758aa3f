"""What stands beside a small failing case: what becomes of its neighbours.

Two defects of one kernel often have one smallest case, on which both are wrong in the same way. They part one step
away: a quotient that is rounded the wrong way is right for positive operands, one that is computed in 32 bits is
wrong for large ones. Every value of the case is changed alone to each of a few others, every axis is made longer, and
every setting simpler; what is right there, and what comes out wrong, belongs to the evidence.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping

import msgspec

from tridiff.fuzz.content.text import number_of
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, Evidence, Outcome, Scalar, Verdict
from tridiff.fuzz.shrink.dtypes import retyped, with_setting
from tridiff.fuzz.shrink.slots import fits, resized, slots, value_at, with_value
from tridiff.oracles.dtypes import dtype as dtype_info

Run = Callable[[Case], Outcome]

MOST_SLOTS = 6
"""Values of a case whose neighbours are asked for."""

_WHOLE = ("0", "1", "-1", "2", "-2", "3")
_FLOATS = ("0.0", "1.0", "-1.0", "2.0", "-2.0", "3.0", "0.5", "-0.0", "inf", "-inf", "nan")
_SMALL = 16


def beside(case: Case, run: Run, valid: Callable[[Case], bool], *, simplest: Mapping[str, tuple[Scalar, ...]],
           exhausted: Callable[[], bool]) -> dict[str, str]:
    """What becomes of each neighbour, by what is changed ("a.0 = 2", "1 more n, b.1 = 0", "form"): "" where it is
    right, else what is wrong ("0 > 1"). simplest: settings, each with its values from the simplest on. Nothing for
    programs, whose operations tell more than their values; what the contract does not cover is left out."""
    if not isinstance(case.program, msgspec.UnsetType):
        return {}
    found: dict[str, str] = {}
    for name, one in _neighbours(case, simplest):
        if exhausted():
            break
        if name in found or not valid(one):
            continue
        try:
            outcome = run(one)
        except TridiffError:
            continue
        if outcome.verdict is Verdict.AGREE or outcome.verdict.failed:
            found[name] = _said(one, outcome)
    return found


def _said(case: Case, outcome: Outcome) -> str:
    if not outcome.verdict.failed or outcome.signature is None:
        return ""
    return (wrong_in(case, outcome.evidence) if outcome.evidence is not None else "") or outcome.signature.kind


def wrong_in(case: Case, evidence: Evidence) -> str:
    """The first value that is wrong, beside the right one ("0 > 1"); "" where none is."""
    for name, values in next(iter(evidence.expected.values()), {}).items():
        for right, wrong in zip(values, evidence.actual.get(name, ()), strict=False):
            if right != wrong:
                dtype = case.array(name).dtype
                return f"{_size(right, dtype)} > {_size(wrong, dtype)}"
    return ""


def _size(text: str, dtype: str) -> str:
    """A small whole number as it is, any other value by what it is, the same in every width and with every sign."""
    value, info = number_of(text), dtype_info(dtype)
    if value is None:
        return "nan" if "nan" in text else text
    if info.kind == "uint" and info.max - value < _SMALL:
        value -= info.max + 1  # As in a signed type, whose bits these are.
    return str(int(value)) if value == int(value) and abs(value) <= _SMALL else "other"


def _neighbours(case: Case, simplest: Mapping[str, tuple[Scalar, ...]]) -> Iterator[tuple[str, Case]]:
    for name, values in simplest.items():
        if name in case.params and case.params[name] != values[0]:
            yield name, with_setting(case, name, values[0])
    here = slots(case)
    if len(here) <= MOST_SLOTS:
        for slot in here:
            for name, text in _others(value_at(case, slot)[1]):
                yield f"{_name(case, slot)} = {name}", with_value(case, slot, text)
        for slot, wide in itertools.product(here, _wide(case)):
            info = dtype_info(value_at(wide, slot)[1])
            for text in (str(info.min), str(info.max)):
                yield f"{_name(case, slot)} = {text}", with_value(wide, slot, text)
    for dim, size in case.sizes.items():
        for more in (1, 3):
            longer = resized(case, dim, [*range(size), *[size - 1] * more]) if size else case
            added = [slot for slot in slots(longer) if slot not in here]
            if not 0 < len(added) <= MOST_SLOTS:
                continue
            yield f"{more} more {dim}", longer
            for slot, name in itertools.product(added if more == 1 else (), ("0", "1")):
                yield f"{more} more {dim}, {_name(longer, slot)} = {name}", with_value(longer, slot, name)


def _name(case: Case, slot: tuple[int, int]) -> str:
    return f"{case.arrays[slot[0]].name}.{slot[1]}"


def _others(dtype: str) -> Iterator[tuple[str, str]]:
    """Names and texts of other values of a dtype. Those of floats are no values of integers, and extremes of one width
    are none of another."""
    info = dtype_info(dtype)
    for text in _FLOATS if info.is_float else _WHOLE:
        if fits(text, dtype):
            yield text, text
    if info.is_float:
        yield "largest", str(info.max)
    elif info.is_integer:
        yield from ((text, text) for text in {str(info.min): 0, str(info.max): 0})


def _wide(case: Case) -> Iterator[Case]:
    """The case in integers of 64 bits, if it is one of integers: their extremes are the same values for all."""
    dtypes = {spec.dtype for spec in case.arrays if spec.content is not None}
    for old in dtypes if len(dtypes) == 1 else ():
        info = dtype_info(old)
        if info.is_integer:
            wide = case if info.bits == 64 else retyped(case, old, "i64" if info.min else "u64")
            if wide is not None:
                yield wide
