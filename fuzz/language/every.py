"""Every call of a row, and every input of a call: what `tridiff sweep --rows` runs.

A call is drawn by answering each choice in every way (up to a limit); operands are blocks of one shape. Inputs are all
patterns of one operand of 8 or 16 bits, all pairs of two of 8 bits, or, for what folds, scans and sorts, all lines of
some length over a few values that matter.
"""

import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeVar

from hypothesis.errors import UnsatisfiedAssumption

from tridiff.fuzz.content.text import from_bits
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import Row
from tridiff.fuzz.records import Case, Content, Explicit
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call, Operand, OperandKind
from tridiff.oracles.dtypes import dtype

T = TypeVar("T")
LENGTH, ALPHABET = 8, 3
"""Of the lines of what folds: 3^8 of them."""
_LINES = ("reductions", "scans", "ordering", "narrow")
_PATTERNS = 1 << 16


class NoChoice(Exception):
    """A draw asked for something that is not enumerated."""


class _Scripted(Choices):
    """Answers by a list of numbers; notes of how many answers there were each time."""

    def __init__(self, script: Sequence[int], shape: tuple[int, ...]) -> None:
        self.script, self.taken, self._shape = list(script), list[tuple[int, int]](), shape
        self.limits = Limits(elements=1 << 16, rows=1 << 16)

    def _next(self, ways: int) -> int:
        number = self.script[len(self.taken)] if len(self.taken) < len(self.script) else 0
        self.taken.append((number, ways))
        return number

    def one(self, values: Sequence[T]) -> T:
        return values[self._next(len(values))]

    def whole(self, low: int, high: int) -> int:
        return low + self._next(min(high - low + 1, 4))

    def flag(self) -> bool:
        return bool(self._next(2))

    def often(self, value: T, *others: T) -> T:
        return value

    def shape(self, *, low: int = 1, high: int = 3, most: int = 256, least: int = 1) -> tuple[int, ...]:
        return self._shape

    def partner(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def number(self, *, like: str, kind: OperandKind = "number") -> Operand:
        raise NoChoice

    def partners(self, *, first: Sequence[str], second: Sequence[str] = ()) -> tuple[Operand, Operand]:
        name = self.dtype(first)
        return self.block(name, self._shape), self.block(name, self._shape)


def _space(call: Call, lines: bool) -> int:
    """How many bits all operands together have; 0 for a call that is not enumerated."""
    if not call.operands or any(one.kind != "block" for one in call.operands):
        return 0
    if lines:
        return 8 if len(call.operands) == 1 else 0
    bits = sum(8 if one.dtype == "i1" else dtype(one.dtype).bits for one in call.operands)
    return bits if bits <= 16 and len(call.operands) <= 2 else 0


def calls(row: Row, *, most: int = 4000) -> Iterator[Call]:
    """Calls of a row whose inputs can be enumerated, each once, of the first `most` ways to answer its choices."""
    lines = row.topic in _LINES
    shape = (LENGTH,) if lines else (256,)
    seen: set[str] = set()
    script: list[int] | None = []
    for _ in range(most):
        if script is None:
            return
        choices = _Scripted(script, shape)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # `assume` outside of a test
                call = row.draw(choices)
            if repr(call) not in seen and _space(call, lines) and cases.legal(call):
                seen.add(repr(call))
                yield call
        except (NoChoice, UnsatisfiedAssumption, AttributeError):
            pass
        script = _following(choices.taken)


def _following(taken: list[tuple[int, int]]) -> list[int] | None:
    """The next list of answers, the last choice first; None behind the last one."""
    while taken:
        number, ways = taken.pop()
        if number + 1 < ways:
            return [*(one for one, _ in taken), number + 1]
    return None


def _alphabet(name: str) -> tuple[str, ...]:
    """Three values of a type that tell orders, ties and signs apart."""
    if dtype(name).is_float:
        return ("nan", "-0.0", "1.5")
    return ("0", "1", str(int(dtype(name).min) or int(dtype(name).max)))


def case_of(target: str, call: Call, row: Row) -> Case:
    """The case in which a call meets every input."""
    if row.topic in _LINES:
        name = call.operands[0].dtype
        values = [text for line in product(_alphabet(name), repeat=LENGTH) for text in line]
        given, programs = {"x0": Content(base=Explicit(values=tuple(values)))}, len(values) // LENGTH
    elif len(call.operands) == 1:
        name = call.operands[0].dtype
        count = 256 if name == "i1" or dtype(name).bits == 8 else _PATTERNS
        patterns = tuple(from_bits(word & (1 if name == "i1" else -1), name) for word in range(count))
        given, programs = {"x0": Content(base=Explicit(values=patterns))}, count // 256
    else:
        first, second = ([from_bits(word & (1 if one.dtype == "i1" else -1), one.dtype) for word in range(256)]
                         for one in call.operands)
        given = {"x0": Content(base=Explicit(values=tuple(first * 256))),
                 "x1": Content(base=Explicit(values=tuple(text for text in second for _ in range(256))))}
        programs = 256
    return Case(target=target, sizes=cases.sizes_of(call, programs), program=call,
                arrays=cases.arrays_of(call, given))
