"""Integer arithmetic under `debug` and `sanitize_overflow`, in Python's whole numbers (contract: language.md §6).

A row says which operations its text does in what type; here they are done exactly, and what leaves its type where
Triton checks it makes an assertion due.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from msgspec.structs import replace

from tridiff.fuzz.language.cases import call_of, row_of
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call, Operand, Result
from tridiff.oracles.dtypes import dtype

UNCHECKED = 64
"""Bits from which on nothing is checked: there is no wider type to check in."""


def wrapped(value: int, to: str) -> int:
    """What a type makes of a whole number."""
    info = dtype(to)
    low, size = (int(info.min), 1 << info.bits)
    return (value - low) % size + low


class Watch:
    """Notes of one program's operations. due: one leaves its type, whatever the order of evaluation. unsure: one may,
    in some order. checked: how many were checked. gap: how far the nearest one is from leaving its type, or from
    staying in it."""

    def __init__(self) -> None:
        self.due, self.unsure, self.checked = False, False, 0
        self.gap: int | None = None

    def _within(self, value: int, of: str) -> bool:
        low, high = int(dtype(of).min), int(dtype(of).max)
        gap = min(abs(value - high), abs(value - low))
        self.gap = gap if self.gap is None else min(self.gap, gap)
        return low <= value <= high

    def compute(self, op: str, a: int, b: int, of: str, *, checked: bool = True) -> int:
        """a op b in a type, which wraps; op: add, sub or mul."""
        first, second = wrapped(a, of), wrapped(b, of)
        exact = first + second if op == "add" else first - second if op == "sub" else first * second
        if checked and dtype(of).bits < UNCHECKED:
            self.checked += 1
            self.due |= not self._within(exact, of)
        return wrapped(exact, of)

    def fold(self, op: str, line: Sequence[int], of: str, *, prefixes: bool = False) -> None:
        """All of a line together, in any order and grouping, where neighbours may be exchanged; prefixes: and each
        beginning of it, with its elements in their order. op: add or mul."""
        if dtype(of).bits >= UNCHECKED or len(line) < 2:
            return
        self.checked += len(line) - 1
        values = [wrapped(one, of) for one in line]
        totals = [values[0]]
        for one in values[1:]:
            totals.append(totals[-1] + one if op == "add" else totals[-1] * one)
        self.due |= not all([self._within(one, of) for one in (totals[1:] if prefixes else totals[-1:])])
        if op == "add":
            most = [sum(one for one in values if one > 0), sum(one for one in values if one < 0)]
        else:
            most = [math.prod(max(abs(one), 1) for one in values)]
        self.unsure |= len(line) > 2 and not all(int(dtype(of).min) <= one <= int(dtype(of).max) for one in most)


def _programs(call: Call, arrays: Sequence[Any]) -> Iterable[tuple[Any, ...]]:
    """For each program the operands: of a block its elements in a line, of all others the number."""
    rows = len(arrays[0])
    for row in range(rows):
        left = iter(arrays)
        yield tuple(_whole(next(left)[row]) if one.given else int(one.value) for one in call.operands)


def _whole(value: Any) -> Any:
    return [int(one) for one in value] if isinstance(value, list) else int(value)


def enabled(case: Case) -> bool:
    return case.options.debug and case.options.sanitize_overflow is True


def due(case: Case, *arrays: Any) -> bool | None:
    """Whether the launch must end in an assertion, for its inputs as torch tensors; None where it may."""
    call, row = call_of(case), row_of(case)
    if not enabled(case) or row.checked is None:
        return False
    unsure = False
    for operands in _programs(call, [one.tolist() for one in arrays]):
        watch = watched(case, call, operands)
        if watch.due:
            return True
        unsure |= watch.unsure
    return None if unsure else False


def watched(case: Case | None, call: Call, operands: tuple[Any, ...]) -> Watch:
    """What one program does. case: of the call; None for one that is only thought of."""
    from tridiff.fuzz.language.index import rows

    watch = Watch()
    checked = (row_of(case) if case is not None else rows()[call.row]).checked
    assert checked is not None
    checked(call, watch, operands)
    return watch


def asserting(case: Case) -> bool | None:
    """Whether the compiled code must assert something: it must not where nothing is checked, it must where inputs
    exist for which that is due. Such inputs are looked for among the ends of the types."""
    call = call_of(case)
    if not enabled(case):
        return False
    checked = 0
    for operands in product(*(_filled(one) for one in call.operands)):
        watch = watched(case, call, operands)
        if watch.due:
            return True
        checked += watch.checked
    return None if checked else False


def _filled(operand: Operand) -> list[Any]:
    """An operand with the same value everywhere, for several values."""
    if not operand.given:
        return [int(operand.value)]
    info = dtype(operand.dtype)
    ends = sorted({int(info.min), int(info.max), 1, 0})
    if operand.kind == "scalar":
        return list(ends)
    return [[one] * Result(dtype=operand.dtype, shape=operand.shape).elements for one in ends]


def single(call: Call) -> Call:
    """The call with blocks of one element."""
    return replace(call, operands=tuple(replace(one, shape=(1,) * len(one.shape)) for one in call.operands))


def spread(values: Any, shape: tuple[int, ...], to: tuple[int, ...]) -> list[int]:
    """The elements of an operand broadcast to a shape, in a line."""
    if not isinstance(values, list):
        return [values] * math.prod(to)
    lifted = (1,) * (len(to) - len(shape)) + shape
    found = []
    for place in product(*map(range, to)):
        number = 0
        for axis, extent in zip(place, lifted, strict=True):
            number = number * extent + (axis if extent > 1 else 0)
        found.append(values[number])
    return found
