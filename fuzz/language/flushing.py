"""What functions of fp32 give where subnormal numbers are flushed to zero (contract: language.md §2).

Any operand and any result may be flushed: the right answers are those of each operand as it is and as the zero of its
sign, and beside an answer below the normal numbers a zero. Nothing else is: a NaN, say, is right only where the
function has it at one of these operands.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

from tridiff.fuzz.language.row import Library, Row
from tridiff.kernels.language.call import Call
from tridiff.oracles.rules import SET, Rule

_NORMAL = 2.0**-126
_BESIDE = _NORMAL * (1 + 2.0**-17)
"""A function that is off by some ulps may come out below the normal numbers where its exact result does not."""
_TOLERANT = ("SUM", "ULP", "ABS", "REL")


def may_flush(call: Call) -> bool:
    """Whether a call has an operand of type fp32, or an fp32 result of operands in fp64."""
    types = {one.dtype for one in call.operands}
    return "fp32" in types or ("fp64" in types and "fp32" in call.stored)


def flushing(row: Row, *, step: bool = False) -> Row:
    """A row of one result with the answers of §2 in place of the exact ones.

    step: the function goes to the neighbouring number, which from zero is the smallest normal number where there is
    none below.
    """

    def rules(call: Call) -> tuple[Rule, ...]:
        (rule,) = row.rules(call)
        return (rule if rule.kind == "SET" or not may_flush(call) else SET(rule, origin="language.md §2: flushing"),)

    def answer(call: Call, lib: Library, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        if not may_flush(call):
            return row.answer(call, lib, operands)
        found = list(_of_operands(row, call, lib, operands))
        if call.stored[0] == "fp32":
            (rule,) = row.rules(call)
            tolerant = (rule.member or rule).kind in _TOLERANT
            # Whose exact result is rounded in one instruction keeps its sign; of sums of flushed terms a zero is +0.
            zeros = ((0.0, False), (0.0, True)) if tolerant else ((0.0, False),)
            found += [other for one in found for size, turned in (*zeros, *((_NORMAL, False),) * step)
                      for other in [lib.flushing.with_size(one, below=_BESIDE if tolerant else _NORMAL, size=size,
                                                           turned=turned)]
                      if bool(((other != one) & (one == one)).any())]
        return (lib.flushing.stacked(found),)

    def defined(call: Call, lib: Library, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        assert row.defined is not None
        (known,) = row.defined(call, lib, operands)
        if may_flush(call):
            for places, taken in _ways(lib, operands):
                known = lib.flushing.replaced(known, places, known[places] & row.defined(call, lib, taken)[0])
        return (known,)

    return replace(row, rules=rules, answer=answer, defined=None if row.defined is None else defined)


def _of_operands(row: Row, call: Call, lib: Library, operands: tuple[Any, ...]) -> Iterator[Any]:
    """Answers for the operands as they are, and for each choice of them flushed."""
    (rule,) = row.rules(call)
    several, tolerant = rule.kind == "SET", (rule.member or rule).kind in _TOLERANT

    def answers(taken: tuple[Any, ...]) -> list[Any]:
        (found,) = row.answer(call, lib, taken)
        return list(found) if several else [found]

    first = answers(operands)
    yield from first
    for places, taken in _ways(lib, operands):
        for whole, part in zip(first, answers(taken), strict=True):
            yield lib.flushing.replaced(whole, places, part)
            if tolerant:
                yield lib.flushing.replaced(whole, places, lib.flushing.turned_zeros(part, whole[places]))


def _ways(lib: Library, operands: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """(rows, operands of these rows): each choice of operands that are flushed, in the rows where all of them hold a
    subnormal number."""
    holds = {}
    for number, one in enumerate(operands):
        if hasattr(one, "dtype"):
            found = lib.flushing.tiny(one).reshape(one.shape[0], -1).any(1)
            if bool(found.any()):
                holds[number] = found
    for chosen in chain.from_iterable(combinations(holds, count) for count in range(1, len(holds) + 1)):
        places = holds[chosen[0]]
        for number in chosen[1:]:
            places = places & holds[number]
        if bool(places.any()):
            few = [one[places] if hasattr(one, "dtype") else one for one in operands]
            yield places, tuple(lib.flushing.flushed(one) if number in chosen else one
                                for number, one in enumerate(few))
