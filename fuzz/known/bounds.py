"""Loops that Triton counts otherwise than their bounds say, and the same loops counted in signed numbers.

Bounds are extended to the type of the variable by that type's signedness (`visit_For`), and compared with a sign
whatever it is (`scf.for`). So 200 of u8 is -56 in i32, and in u32 nothing lies between 5 and 2^31.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from msgspec.structs import replace

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.language.promotion import of_number, of_types, promoted
from tridiff.fuzz.records import Case
from tridiff.fuzz.statements import cases
from tridiff.fuzz.statements.draft import literal, node, variable
from tridiff.kernels.language.call import Operand
from tridiff.kernels.language.script import Node, Script
from tridiff.oracles.dtypes import dtype


@dataclass(frozen=True)
class _Bound:
    """What is known of a whole number before it is computed: its type, and what it lies between."""

    name: str
    low: int
    high: int
    constant: bool = False

    @staticmethod
    def any_of(name: str) -> _Bound | None:
        info = dtype(name)
        return None if info.is_float else _Bound(name, int(info.min), int(info.max))

    def within(self, low: int, high: int) -> bool:
        return low <= self.low and self.high < high


def _computed(low: int, high: int, name: str) -> _Bound | None:
    """A number of a type, any of them where the result may be beyond it."""
    whole = _Bound.any_of(name)
    return _Bound(name, low, high) if whole and whole.low <= low and high <= whole.high else whole


def _binary(one: Node, a: _Bound, b: _Bound) -> _Bound | None:
    kinds = (Operand(kind="number" if side.constant else "block", dtype=side.name) for side in (a, b))
    name = promoted(*kinds)
    if one.word("op") == "&" and b.constant and b.low >= 0:
        return _computed(0, b.high, name)
    if one.word("op") == "+":
        return _computed(a.low + b.low, a.high + b.high, name)
    return _Bound.any_of(name)


def _bound(one: Node, types: Mapping[str, str]) -> _Bound | None:
    """What is known of an expression, None if its type is not."""
    if one.row == "number":
        try:
            value = int(one.word("value"))
        except ValueError:
            return None
        return _Bound(of_number(value), value, value, constant=True)
    if one.row == "name":
        return _Bound.any_of(types[one.word("name")]) if one.word("name") in types else None
    if one.row == "cast":
        inner = None if one.words.get("bitcast") else _bound(one.parts[0], types)
        return _computed(inner.low, inner.high, one.word("to")) if inner else _Bound.any_of(one.word("to"))
    if one.row == "binary":
        a, b = (_bound(part, types) for part in one.parts)
        return _binary(one, a, b) if a and b else None
    return None


def _types(case: Case) -> dict[str, str]:
    """Types of the variables that are assigned in the kernel, and of those of its loops."""
    return cases.types_of_variables(case) | cases.types(cases.script_of(case))


def counts(one: Node) -> bool:
    """Whether a loop runs on the device."""
    return one.row == "for" and one.word("loop") != "tl.static_range" and "dtype" in one.words


def _ends(one: Node, types: Mapping[str, str]) -> list[_Bound | None]:
    """Bounds and step; where there is none, 0 and 1."""
    found = [_bound(part, types) for part in one.parts[:-1]]
    zero, unit = _Bound("i32", 0, 0, constant=True), _Bound("i32", 1, 1, constant=True)
    found = [zero, *found] if len(found) == 1 else found
    return found if len(found) == 3 else [*found, unit]


def _type(one: Node, ends: list[_Bound | None]) -> str:
    """The type of a loop's variable."""
    known = [end.name for end in ends if end]
    return reduce(of_types, known) if len(known) == len(ends) else one.word("dtype")


def _everywhere(case: Case) -> frozenset[str]:
    """The types that a bound may have of which nothing is known: those of variables, and those that are cast to, as
    what a function is given may be."""
    return frozenset((*_types(case).values(), *(one.word("to") for one in cases.every(case) if one.row == "cast")))


def _shows(one: Node, types: Mapping[str, str], everywhere: frozenset[str]) -> bool:
    """Whether a loop may be counted otherwise than its bounds say."""
    ends = _ends(one, types)
    kind = dtype(_type(one, ends))
    known = [end for end in ends if end]
    if kind.kind == "int":
        narrow = map(_Bound.any_of, everywhere) if len(known) < len(ends) else ()
        return any(end and dtype(end.name).kind != "int" and end.high > dtype(end.name).max // 2
                   for end in (*known, *narrow))
    half = 1 << (kind.bits - 1)
    if len(known) < len(ends):
        return True
    if known[2].constant and known[2].low < 0:  # what counts is its amount
        known[2] = _Bound(known[2].name, 1, 1, constant=True)
    *bounds, step = known
    if not step.within(0, half):
        return True
    beyond = all(end.within(half, 2 * half) and end.name == kind.name for end in bounds)
    return not beyond and not all(end.within(0, half) for end in bounds)


def _loops(case: Case) -> Iterator[Node]:
    if isinstance(case.program, Script):
        found = [one for one in cases.every(case) if counts(one)]
        types, everywhere = (_types(case), _everywhere(case)) if found else ({}, frozenset())
        yield from (one for one in found if _shows(one, types, everywhere))


def counts_otherwise(case: Case) -> bool:
    """Whether a case has a loop between bounds that show it."""
    return any(_loops(case))


def _changed_bounds(one: Node, types: Mapping[str, str]) -> tuple[str, tuple[bool, ...]]:
    """The type of a loop's variable, and which of the bounds may be other numbers in it."""
    ends = _ends(one, types)
    name = _type(one, ends)
    low, high = int(dtype(name).min), int(dtype(name).max)
    change = tuple(end is None or not end.within(low, high + 1) for end in ends[:2])
    return name, change if len(one.parts) > 2 else change[1:]


def converts_bounds(case: Case) -> bool:
    """Whether a loop of a case has bounds that may be other numbers in the type of its variable: -1 beside u32."""
    if not isinstance(case.program, Script):
        return False
    found = [one for one in cases.every(case) if counts(one)]
    types = _types(case) if found else {}
    return any(any(_changed_bounds(one, types)[1]) for one in found)


def with_converted_bounds(case: Case) -> Case | None:
    """The case in which such bounds are converted to the type of the variable."""
    types = _types(case)

    def change(one: Node) -> Node:
        if not counts(one):
            return one
        name, changed = _changed_bounds(one, types)
        converted = [_cast(part, name) if other else part for part, other in zip(one.parts, changed, strict=False)]
        return replace(one, parts=(*converted, *one.parts[len(changed):]))

    return cases.rewritten(case, change)


def _cast(one: Node, to: str) -> Node:
    return node("cast", one, to=to, function=True)


def _flipped(one: Node, name: str) -> Node:
    """A number with its highest bit the other way: as signed numbers they are in the order of the unsigned ones."""
    high = literal(1 << (dtype(name).bits - 1))
    return node("binary", one, high, op="^")


def _signed(one: Node, types: Mapping[str, str]) -> Node:
    """The same loop with its bounds converted to the type of the variable. An unsigned one runs from the least number
    of the signed type of its width instead of from 0, and the body has the variable as it was."""
    ends = _ends(one, types)
    name = _type(one, ends)
    *bounds, body = one.parts
    if dtype(name).kind == "int":
        return replace(one, parts=(*(part if part.row == "number" else _cast(part, name) for part in bounds), body))
    signed = "i" + name[1:]
    low, high, *step = bounds if len(bounds) > 1 else (literal(0), *bounds)
    turned = [_cast(_flipped(_cast(end, name), name), signed) for end in (low, high)]
    step = [part if part.row == "number" else _cast(_cast(part, name), signed) for part in step]
    counter = _flipped(_cast(variable(one.word("name")), name), name)
    return replace(one, words=one.words | {"dtype": signed},
                   parts=(*turned, *step, _replaced(body, one.word("name"), counter)))


def _replaced(inside: Node, name: str, by: Node) -> Node:
    """A construct with another expression for a name."""
    return replace(inside, parts=tuple(
        by if part.row == "name" and part.word("name") == name else _replaced(part, name, by)
        for part in inside.parts))


def counted_with_a_sign(case: Case) -> Case | None:
    """The case whose loops run through the same numbers, between bounds that a signed comparison orders; None if that
    is no legal program."""
    types, everywhere = _types(case), _everywhere(case)

    try:
        return cases.rewritten(
            case, lambda one: _signed(one, types) if counts(one) and _shows(one, types, everywhere) else one)
    except (TridiffError, KeyError):
        return None

