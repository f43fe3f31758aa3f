"""What worker time has brought: new coverage cells and new findings per second, of every combination of a campaign.

A combination is a target, a subject and a kind of backend. What it brought lately counts more than what it brought
first, because cells run out: each shard halves the weight of those before it.
"""

import collections
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.record import ShardResult, ShardSpec
from tridiff.fuzz.campaign.seen import Seen
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.coverage.record import MISSED
from tridiff.fuzz.pair.pool import EQUAL, FUNCTION, IDLE, REACHED

Combination = tuple[str, str, str]
"""Target, subject, kind of backend."""

Weighing = Callable[[Combination], float]
"""A factor for each combination."""

FINDING = 30.0
"""Cells that a new finding is worth."""

COUNTED = "#"
"""Marks cells of which only the number of different ones is kept."""

COUNTED_CELL = 0.25
"""Worth of such a cell, in ordinary cells: nearly every case reaches one that no other case has."""

MEMORY = 0.5
"""Weight of what came before, when a shard adds what it brought."""

DRAW_BITS = 53
"""Bits of the number by which a combination is chosen."""


def _alike(one: Combination) -> float:
    return 1.0


def combination(spec: ShardSpec) -> Combination:
    """Which combination a shard is about; architectures are not kept apart."""
    return spec.target, spec.subject, kind(spec.backend)


@dataclass
class _Brought:
    worth: float = 0.0
    seconds: float = 0.0
    reached: dict[str, float] = field(default_factory=dict)
    """Cases that ran a change or its function, by the cell that says so, with the weights of `worth`."""
    barren: bool = False
    """Nothing can be drawn here, or its last shard ended with an error."""

    @property
    def rate(self) -> float:
        return 0.0 if self.barren or self.seconds <= 0 else self.worth / self.seconds


@dataclass
class Yields:
    """What the combinations of one campaign brought so far."""

    _brought: dict[Combination, _Brought] = field(default_factory=dict)
    _cells: Seen = field(default_factory=Seen)
    """Of every kind of backend and target."""

    def add(self, result: ShardResult) -> None:
        """Take in what a shard brought. Cells that any shard had before, on whatever architecture, bring nothing."""
        spec = result.spec
        one = self._brought.setdefault(combination(spec), _Brought())
        one.barren = bool(result.left_out or result.error)
        where = f"{kind(spec.backend)} {spec.target} "
        fresh = self._cells.fresh(where + cell for cell in result.cells)
        worth = FINDING * len(result.findings) + sum(_worth(cell.removeprefix(where)) for cell in fresh)
        ran = {cell: float(cases) for cell, cases in result.cells.items() if cell.startswith(REACHED)}
        one.reached = {cell: MEMORY * one.reached.get(cell, 0.0) + ran.get(cell, 0.0)
                       for cell in one.reached.keys() | ran.keys()}
        one.worth = MEMORY * one.worth + worth
        one.seconds = MEMORY * one.seconds + max(result.seconds, 1e-3)

    def rates(self) -> dict[Combination, float]:
        """Cells per second of every combination that had a shard."""
        return {name: one.rate for name, one in self._brought.items()}

    def choose(self, among: Sequence[Combination], number: int, *,
               breadth: Weighing = _alike, part: Weighing = _alike,
               wanted: Mapping[Combination, float] | None = None) -> Combination | None:
        """The one of `among` that gets the next shard, with a probability that is proportional to what it brings;
        `number` decides, so that the same results and the same number choose alike. Where nothing brings anything, they
        are chosen by breadth. None if in none anything can be drawn. part: what one gets where another gets 1 for
        bringing as much. wanted: weights in place of all this."""
        able, weights = self._weighed(among, breadth, part, wanted)
        point = (finalise(number) >> (64 - DRAW_BITS)) / (1 << DRAW_BITS) * sum(weights)
        for name, weight in zip(able, weights, strict=True):
            point -= weight
            if point < 0:
                return name
        return able[-1] if able else None

    def share(self, some: Callable[[Combination], bool], among: Sequence[Combination], *,
              breadth: Weighing = _alike, part: Weighing = _alike) -> float:
        """The probability with which `choose` takes one of some among others; 0 where there is none to take."""
        able, weights = self._weighed(among, breadth, part, None)
        return sum(weight for name, weight in zip(able, weights, strict=True) if some(name)) / (sum(weights) or 1.0)

    def _weighed(self, among: Sequence[Combination], breadth: Weighing, part: Weighing,
                 wanted: Mapping[Combination, float] | None) -> tuple[list[Combination], list[float]]:
        """Those that can be drawn, and their weights."""
        able = [name for name in among if not self._barren(name)]
        weights = [self._rate(name) * part(name) if wanted is None else wanted.get(name, 0.0) for name in able]
        return able, weights if sum(weights) else [breadth(name) * part(name) for name in able]

    def reaching(self, among: Sequence[Combination]) -> dict[Combination, float]:
        """Weights of those that ran changes. Each change counts as much as any other, and is shared by the roots of how
        many cases each combination ran it with in a second: what shows it best is not known. Where none ran the
        statements that differ to some effect, those share it that ran them, and where none did, the function."""
        found: dict[Combination, float] = {}
        rates: dict[str, dict[Combination, float]] = {}
        for name in among:
            one = self._brought.get(name, _Brought())
            cases: collections.Counter[str] = collections.Counter()
            for cell, number in one.reached.items():
                cases[cell.partition(" ")[0]] += number  # type: ignore[assignment]
            for function, number in cases.items():
                if number and not one.barren:
                    rates.setdefault(function, {})[name] = math.sqrt(number / one.seconds)
        for some in _closest(rates).values():
            total = sum(some.values())
            for name, rate in some.items():
                found[name] = found.get(name, 0.0) + rate / total
        return found

    def met(self) -> bool:
        """Whether any combination ran statements that differ, to some effect."""
        return any(not _far(cell) for one in self._brought.values() for cell in one.reached)

    def things(self, name: Combination) -> tuple[str, ...]:
        """What a combination showed in the cases that came closest to changes."""
        reached = self._brought[name].reached if name in self._brought else {}
        least = min(map(_far, reached), default=0)
        return tuple(sorted({cell.partition(" ")[2] for cell in reached if _far(cell) == least} - {""}))

    def _rate(self, name: Combination) -> float:
        return self._brought[name].rate if name in self._brought else 0.0

    def _barren(self, name: Combination) -> bool:
        return name in self._brought and self._brought[name].barren


def _worth(cell: str) -> float:
    if cell.startswith((EQUAL, REACHED, MISSED)):
        return 0.0
    return COUNTED_CELL if cell.startswith(COUNTED) else 1.0


def of_results(results: Iterable[ShardResult]) -> Yields:
    """What a campaign that is resumed had brought, in the order of its shards."""
    found = Yields()
    for result in sorted(results, key=lambda one: one.spec.index):
        found.add(result)
    return found


def _far(cell: str) -> int:
    """How far from an effect of a change the cases of a cell are: 0 none, 1 they ran its statements, 2 its function."""
    return {IDLE: 1, FUNCTION: 2}.get(cell[len(REACHED)], 0)


def runs_a_change(result: ShardResult) -> bool:
    """Whether a case of the shard ran statements that differ, to some effect."""
    return any(cell.startswith(REACHED) and not _far(cell) for cell in result.cells)


def _closest(rates: Mapping[str, dict[Combination, float]]) -> dict[str, dict[Combination, float]]:
    """By change, what came closest to it."""
    found: dict[str, tuple[int, dict[Combination, float]]] = {}
    for cell, some in rates.items():
        far = _far(cell)
        change = cell.removeprefix(REACHED).lstrip(IDLE + FUNCTION)
        if change not in found or far < found[change][0]:
            found[change] = far, some
    return {change: some for change, (_, some) in found.items()}
