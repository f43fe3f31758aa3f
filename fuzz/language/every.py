"""Every call of a row, and every input of a call: what `tridiff sweep --rows` runs.

A call is drawn by answering each choice in every way (up to a limit); operands are blocks of one shape. Inputs of what
computes element by element are all patterns of one operand of 8 or 16 bits, all pairs of two of 8 bits, and chosen
patterns of wider or more operands (`tridiff.fuzz.language.patterns`); of what folds, scans and sorts all lines of some
length over a few values that matter, several times. Of other calls, which move or store elements, all patterns of
narrow operands. Numbers and constants in the text are left to draws.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Literal, TypeVar

from hypothesis.errors import UnsatisfiedAssumption

from tridiff.fuzz.language import cases
from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.patterns import NARROW, alphabets, size, texts
from tridiff.fuzz.language.row import Row
from tridiff.fuzz.records import Case, Content, Explicit
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call, Operand, OperandKind
from tridiff.oracles.dtypes import dtype

T = TypeVar("T")
LENGTH = 8
"""Of the lines of what folds and sorts: 3^8 of them. Two operands share it."""
WIDTH = 256
"""Of the blocks of what computes element by element."""
MOST = 40_000
"""Ways to answer a row's choices that are tried."""
_ELEMENTWISE = ("pointwise", "operators", "conversions", "rounding", "words", "special", "narrow")
_LINES = ("reductions", "scans", "ordering")
_OTHER_LINES = ("fp8.max", "fp8.min", "fp8.argmax", "fp8.argmin", "fp8.sort", "tl.reduce.three",
                "tl.associative_scan.affine")
_ORDERS = 13
"""Of Bessel functions, those that the contract (language.md §3) speaks of."""
_PROMISES = ("tl.expect_zero",)
"""What ends the launch for other inputs than the text promises."""
_INPUTS = 1 << 16
"""Of one case: an explicit content lists no more."""
_SLOW = 16
"""Times the budget of a row with slow references is what it is swept with."""
_SPELLING = ("way", "axis", "dim", "keep_dims", "layout")
"""Options that say the same in another way, or where."""
Form = Literal["elements", "lines", "whole", ""]


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

    def order(self, number: int) -> list[int]:
        """As they come: all operands have one shape."""
        return list(range(number))

    def until(self, draw: Callable[[], T], fits: Callable[[T], bool], *, tries: int = 1) -> T:
        """Once: the other answers are tried anyhow."""
        return super().until(draw, fits, tries=1)

    def shape(self, *, low: int = 1, high: int = 3, most: int = 256, least: int = 1,
              many_steps: bool = False) -> tuple[int, ...]:
        return self._shape

    def partner(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def number(self, *, like: str, kind: OperandKind = "number") -> Operand:
        raise NoChoice

    def partners(self, *, first: Sequence[str], second: Sequence[str] = ()) -> tuple[Operand, Operand]:
        """Every type, beside itself and beside every other of as many bits; in both orders."""
        name = self.dtype(first)
        alike = [one for one in second or first if one != name and dtype(one).is_float == dtype(name).is_float
                 and dtype(one).bits == dtype(name).bits]
        other = self.dtype((name if not second or name in second else second[0], *alike))
        return self.block(name, self._shape), self.block(other, self._shape)


def form_of(row: Row, call: Call) -> Form:
    """How a call's inputs are enumerated: element by element, in lines over few values, all patterns of narrow
    operands (of calls that do neither), or not."""
    if not call.operands or row.topic == "overflow" or any(not one.given for one in call.operands) or (
            len({one.kind for one in call.operands}) > 1):
        return ""
    twin = row if not row.gluon else _twin(row)
    if twin.topic in _LINES or twin.name in _OTHER_LINES:
        return "lines" if call.operands[0].kind == "block" and len(call.operands) <= 3 else ""
    if twin.topic in _ELEMENTWISE:
        return "elements" if len(call.operands) <= 4 else ""
    if twin.name in _PROMISES:
        return ""
    bits = sum(8 if one.dtype == "i1" else dtype(one.dtype).bits for one in call.operands)
    return "whole" if bits <= NARROW and len(call.operands) <= 2 and call.operands[0].kind == "block" else ""


def _twin(row: Row) -> Row:
    """The row of Triton's own language that a row of Gluon's is about."""
    plain = row.name.removeprefix("gl.")
    known = rows()
    return next((known[name] for name in (plain, f"tl.{plain}") if name in known), row)


def _shapes(row: Row, *, width: int, length: int) -> Iterator[tuple[int, ...]]:
    """The shapes with which a row is drawn: of lines, shorter ones for more operands."""
    twin = row if not row.gluon else _twin(row)
    lines = twin.topic in _LINES or twin.name in _OTHER_LINES
    yield from ((length,), (length // 2,), (length // 4,)) if lines and length >= 4 else ((width,),)


def calls(row: Row, *, most: int = MOST, width: int = WIDTH, length: int = LENGTH) -> Iterator[Call]:
    """Calls of a row whose inputs can be enumerated, each once, of the first `most` ways to answer its choices."""
    seen: set[str] = set()
    for number, shape in enumerate(_shapes(row, width=width, length=length)):
        script: list[int] | None = []
        for _ in range(most):
            if script is None:
                break
            choices = _Scripted(script, shape)
            script = None
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # `assume` outside of a test
                    call = row.draw(choices)
                form = form_of(row, call)
                fitting = form != "lines" or len(call.operands) == number + 1
                if form and fitting and repr(call) not in seen and cases.legal(call):
                    seen.add(repr(call))
                    yield call
            except (NoChoice, UnsatisfiedAssumption, AttributeError):
                pass
            script = _following(choices.taken)


def thinned(found: Iterable[Call]) -> Iterator[Call]:
    """Of many calls those that show something for the first time: types, an option beside these types (one of spelling
    beside their kinds only), two options beside each other."""
    seen: set[tuple[object, ...]] = set()
    for call in found:
        types = tuple(one.dtype for one in call.operands) + call.stored
        kinds = tuple(dtype(one).kind for one in types)
        said = sorted(call.options.items())
        new = {(types,), *((kinds if one[0] in _SPELLING else types, one) for one in said),
               *((one, other) for one in said for other in said)} - seen
        if new:
            seen |= new
            yield call


def _following(taken: list[tuple[int, int]]) -> list[int] | None:
    """The next list of answers, the last choice first; None behind the last one."""
    while taken:
        number, ways = taken.pop()
        if number + 1 < ways:
            return [*(one for one, _ in taken), number + 1]
    return None


def cases_of(target: str, call: Call, row: Row) -> Iterator[tuple[Case, int]]:
    """The cases in which a call meets its inputs, each with how many there are."""
    form = form_of(row, call)
    if form == "lines":
        for number in range(max(len(alphabets(one.dtype)) for one in call.operands)):
            yield _lines(target, call, number)
    else:
        yield from _elements(target, call, row)


def _lines(target: str, call: Call, number: int) -> tuple[Case, int]:
    """Every line over the alphabet of that number; of several operands, every one beside every other."""
    chosen = tuple(alphabets(one.dtype)[number % len(alphabets(one.dtype))] for one in call.operands)
    values = _written(chosen, tuple(one.shape[-1] for one in call.operands))
    return _case(target, call, values), len(values[0]) // call.operands[0].shape[-1]


@lru_cache(maxsize=32)
def _written(letters: tuple[tuple[str, ...], ...], lengths: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    """For each operand its lines, one behind the other."""
    found: list[list[str]] = [[] for _ in letters]
    for together in product(*(product(one, repeat=length) for one, length in zip(letters, lengths, strict=True))):
        for values, line in zip(found, together, strict=True):
            values += line
    return tuple(map(tuple, found))


def _elements(target: str, call: Call, row: Row) -> Iterator[tuple[Case, int]]:
    """Every combination of the operands' values: all of 8 bits, of one operand of 16 bits, chosen ones of others."""
    most = min(_INPUTS, row.budget * _SLOW) if row.budget else _INPUTS
    words = (*row.contents(call), *[""] * len(call.operands))
    narrow = [_ORDERS if word == "order" else size(one.dtype) if size(one.dtype) <= 1 << 8 else 0
              for one, word in zip(call.operands, words, strict=False)]
    whole = math.prod(one for one in narrow if one)
    if (row.budget and whole > most) or whole > 2 * _INPUTS:
        narrow, whole = [0] * len(narrow), 1
    wide = narrow.count(0)
    each = int((most / whole) ** (1 / wide) + 1e-9) if wide else 0
    sides = tuple((one.dtype, min(full or max(each, 2), size(one.dtype)), word == "order")
                  for one, full, word in zip(call.operands, narrow, words, strict=False))
    total = math.prod(number for _, number, _ in sides)
    width = math.prod(call.operands[0].shape)
    step = _INPUTS if call.operands[0].kind == "block" else cases.MOST_ROWS
    for start in range(0, total, step):
        many = min(step, total - start)
        yield _case(target, call, _combined(sides, start, many, -(-many // width) * width)), many


@lru_cache(maxsize=32)
def _combined(sides: tuple[tuple[str, int, bool], ...], start: int, many: int, length: int) -> (
        tuple[tuple[str, ...], ...]):
    """For each operand its values in `many` combinations from the one numbered `start` on, over again up to a length.
    sides: the types, how many values each has, and whether these count from 0."""
    found, before = [], 1
    for name, number, counted in sides:
        values = list(map(str, range(number))) if counted else texts(name, number)
        found.append(tuple([values[(start + place % many) // before % number] for place in range(length)]))
        before *= number
    return tuple(found)


def _case(target: str, call: Call, values: Sequence[tuple[str, ...]]) -> Case:
    programs = len(values[0]) // max(math.prod(call.operands[0].shape), 1)
    given = {f"x{number}": Content(base=Explicit(values=one)) for number, one in enumerate(values)}
    return Case(target=target, sizes=cases.sizes_of(call, programs), program=call,
                arrays=cases.arrays_of(call, given))
