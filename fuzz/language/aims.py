"""What draws of calls can be aimed at, as cells of the ledger: the element types with which each row is drawn, and, by
a gate, the other aspects of its calls.

Found by drawing, with a generator of its own: some calls of each row, and for every type that a choice of them offers
some that are aimed at it. What is found is the same in every process.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from random import Random
from typing import NoReturn, TypeVar

from hypothesis.errors import UnsatisfiedAssumption

from tridiff.fuzz.language.cases import aspects
from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.index import of_topic, rows
from tridiff.fuzz.language.row import Row, Topic
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call

T = TypeVar("T")

SAMPLES = 100
"""Calls of a row that are drawn at random."""

ATTEMPTS = 40
"""Calls at most that are aimed at a type which none of those has."""

def cell(row: str, dtype: str) -> str:
    """The ledger's cell of calls of a row in which an operand or the option `dtype` has an element type."""
    return f"call={row} dtype={dtype}"


_TYPE = "dtype="


def parts(found: str) -> tuple[str, str]:
    """Row and aspect (`cases.aspects`) of such a cell."""
    row, _, aspect = found.removeprefix("call=").partition(" ")
    return row, aspect


def type_in(aspect: str) -> str:
    """The element type that an aspect names, "" for another aspect."""
    return aspect.removeprefix(_TYPE) if aspect.startswith(_TYPE) else ""


def has(call: Call, aspect: str) -> bool:
    """Whether a call has an aspect."""
    return type_in(aspect) in types(call) if type_in(aspect) else aspect in aspects(call)


def types(call: Call) -> frozenset[str]:
    """Element types of a call's operands that are passed or loaded, and that of its option `dtype`."""
    named = call.options.get("dtype", "")
    return frozenset({one.dtype for one in call.operands if one.given} | ({str(named)} if named else set()))


class _Sampled(Choices):
    """Answers of a generator of random numbers; notes the types that were offered."""

    def __init__(self, random: Random, limits: Limits, *, wanted: str = "") -> None:
        self.random, self.limits, self.wanted = random, limits, wanted
        self.offered: set[str] = set()

    def one(self, values: Sequence[T]) -> T:
        return values[self.random.randrange(len(values))]

    def whole(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def flag(self) -> bool:
        return self.random.random() < 0.5

    def order(self, number: int) -> list[int]:
        return self.random.sample(range(number), number)

    def give_up(self) -> NoReturn:
        raise UnsatisfiedAssumption

    def dtype(self, among: Sequence[str]) -> str:
        self.offered |= set(among)
        return super().dtype(among)


def sampled(row: Row, random: Random, *, wanted: str = "") -> tuple[Call | None, frozenset[str]]:
    """A call of a row that fits the interpreter, None where the draw was given up; and the types that were offered."""
    limits = Limits(elements=1 << 12, rows=1 << 8, aims=((cell(row.name, wanted), 1),) if wanted else ())
    choices = _Sampled(random, limits, wanted=wanted)
    try:
        return row.draw(choices), frozenset(choices.offered)
    except UnsatisfiedAssumption:
        return None, frozenset(choices.offered)


@cache
def _at_random(name: str) -> tuple[tuple[Call, ...], frozenset[str], Random]:
    """Calls of the row of that name, the types that were offered, and the generator, which `types_of` goes on with."""
    row, random = rows()[name], Random(name)
    found = [sampled(row, random) for _ in range(SAMPLES)]
    return tuple(call for call, _ in found if call is not None), frozenset().union(*(seen for _, seen in found)), random


def _aspects_of(name: str) -> tuple[str, ...]:
    """Of these calls, whatever is no element type."""
    return tuple(sorted({one for call in _at_random(name)[0] for one in aspects(call) if not type_in(one)}))


@cache
def types_of(name: str) -> tuple[str, ...]:
    """The element types with which the row of that name is drawn."""
    calls, offered, random = _at_random(name)
    found = {one for call in calls for one in types(call)}
    for wanted in sorted(offered - found):
        for _ in range(ATTEMPTS):
            call, _ = sampled(rows()[name], random, wanted=wanted)
            if call is not None and wanted in types(call):
                found.add(wanted)
                break
    return tuple(sorted(found))


def aims_of(topic: Topic, triton: str) -> dict[str, tuple[str, ...]]:
    """The cells of every row of a topic that a Triton version has; of all rows where the version is not known."""
    return _by_row(topic, triton, lambda name: (_TYPE + one for one in types_of(name)))


def beside_types(topic: Topic, triton: str) -> dict[str, tuple[str, ...]]:
    """As `aims_of`, the cells of aspects that are no element types: every option's values, kinds of operands, numbers
    of axes, single elements."""
    return _by_row(topic, triton, _aspects_of)


def _by_row(topic: Topic, triton: str, of: Callable[[str], Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """The cells of the aspects that `of` tells of a row by its name."""
    return {row.name: tuple(f"call={row.name} {one}" for one in of(row.name))
            for row in of_topic(topic) if not triton or row.offered(triton)}
