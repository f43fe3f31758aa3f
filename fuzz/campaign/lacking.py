"""Cells that a campaign has not reached often enough, at which draws are aimed (`Limits.aims`).

Some targets draw one thing at a time from a table: a row of the language, with an element type. Drawn at random, the
rarest of these are met once in thousands of cases. A campaign therefore counts the cases that reached each, tells every
shard which of its cells lack some, and gives part of its time to the targets that lack most. A shard aims most of its
draws at them and draws the others from everything. So does a gate, which is content with less of each, and wants every
value of every option as well; where few functions differ it looks for what runs them instead.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache

from tridiff.fuzz.backends import FOR_CHIPS
from tridiff.fuzz.campaign.record import Plan, ShardResult
from tridiff.fuzz.campaign.yields import MEMORY, Combination, combination
from tridiff.fuzz.coverage.record import MISSED, WANTED_CASES
from tridiff.fuzz.registry import find

HOPELESS = 5
"""Cases of a cell that could not be judged, where none could, after which draws are no more aimed at it ..."""

GATE_CASES = 2
"""Cases that a gate wants of each cell, where a campaign wants WANTED_CASES."""

MISSES = 4
"""... and so many more for each that could."""

BARREN = 8
"""Cases of a thing that could not be judged, where none could, after which no cell of it is aimed at."""


ENOUGH = 4
"""Of cells that are still not reached when a combination had so many times the cases that all of its cells are to have,
nobody knows how; they are left to chance."""


AIMED = 0.875
"""Part of the cases of a shard that are aimed at cells, if any lacks some."""

FUTILE, FUTILE_EACH = 40.0, 16.0
"""Cases that were aimed at a cell, as far as shards say, after which draws are no more aimed at it where none reached
it, and so many more for each that did: draws keep clear of what is known to fail, and some call cannot be drawn so."""


def missed(cell: str, reason: str) -> str:
    """What is counted of a case that was to reach a cell and was not judged."""
    return f"{MISSED}{cell}: {reason}"


def misses(cells: Mapping[str, int]) -> Counter[str]:
    """By cell how many cases were to reach it and were not judged."""
    found: Counter[str] = Counter()
    for one, cases in cells.items():
        if one.startswith(MISSED):
            found[one.removeprefix(MISSED).partition(": ")[0]] += cases
    return found


def hopeless(cases: int, in_vain: int) -> bool:
    """Whether draws are no more aimed at a cell: so many of its cases were not judged beside those that were."""
    return in_vain >= HOPELESS + MISSES * cases


def barren(things: Collection[str], cells: Mapping[str, int], in_vain: Mapping[str, int]) -> bool:
    """Whether draws are no more aimed at any cell of a thing, of which no case could be judged."""
    return not any(cells.get(one, 0) for one in things) and sum(in_vain.get(one, 0) for one in things) >= BARREN


def left(lacking: Mapping[str, int], cells: Mapping[str, int]) -> dict[str, int]:
    """What is lacking still when more cells were reached: the cases of each, without cells of which hardly any case can
    be judged."""
    return _left(lacking, cells, misses(cells))


def _left(lacking: Mapping[str, int], cells: Mapping[str, int], in_vain: Counter[str]) -> dict[str, int]:
    return {cell: number - cells.get(cell, 0) for cell, number in lacking.items()
            if number > cells.get(cell, 0) and not hopeless(cells.get(cell, 0), in_vain[cell])}


class Lacking:
    """How many cases the cells of a campaign's combinations lack."""

    def __init__(self, plan: Plan, results: Iterable[ShardResult] = ()) -> None:
        self._wanted = WANTED_CASES if plan.options.builds is None else GATE_CASES
        if plan.options.alike.functions:
            self._wanted = 0
        self._triton, self._gate = plan.installed.get("triton", ""), plan.options.builds is not None
        self._cells: dict[Combination, Counter[str]] = {}
        self._in_vain: dict[Combination, Counter[str]] = {}
        self._cases: Counter[Combination] = Counter()
        self._left_out: set[Combination] = set()
        self._aimed: dict[Combination, Counter[str]] = {}
        """By cell about how many cases were aimed at it."""
        self._took: dict[Combination, tuple[float, float]] = {}
        """Seconds and cases of the latest shards."""
        for one in sorted(results, key=lambda one: one.spec.index):
            self.add(one)

    def add(self, result: ShardResult) -> None:
        """Take in what a shard reached."""
        name = combination(result.spec)
        self._cases[name] += result.counts.executed
        self._left_out |= {name} if result.left_out else set()
        if self.cells(name):
            self._note(name, result)
            aims, in_vain = frozenset().union(*self._things(name)), misses(result.cells)
            self._cells.setdefault(name, Counter()).update(
                {cell: result.cells[cell] for cell in aims & result.cells.keys()})
            self._in_vain.setdefault(name, Counter()).update({cell: in_vain[cell] for cell in aims & in_vain.keys()})

    def _note(self, name: Combination, result: ShardResult) -> None:
        """What a shard was aimed at, and what its cases took."""
        lacking = self.of(name)
        each = AIMED * result.counts.executed / max(sum(lacking.values()), 1)
        aimed = self._aimed.setdefault(name, Counter())
        for cell, number in lacking.items():
            aimed[cell] += each * number  # type: ignore[assignment]
        seconds, cases = self._took.get(name, (0.0, 0.0))
        self._took[name] = MEMORY * seconds + result.seconds, MEMORY * cases + result.counts.executed

    def of(self, name: Combination) -> dict[str, int]:
        """By cell how many more cases are to reach it."""
        if self._cases[name] >= ENOUGH * sum(sum(cells.values()) for cells in self._things(name)):
            return {}
        cells, in_vain = self._cells.get(name, Counter[str]()), self._in_vain.get(name, Counter[str]())
        found: dict[str, int] = {}
        for things in self._things(name):
            # A case that is not judged counts for each of its aspects, and for one or two types.
            if not barren([cell for cell in things if things[cell] == self._wanted], cells, in_vain):
                found |= _left(things, cells, in_vain)
        aimed = self._aimed.get(name, Counter[str]())
        return {cell: number for cell, number in found.items() if aimed[cell] < FUTILE + FUTILE_EACH * cells[cell]}

    def cells(self, name: Combination) -> int:
        """How many cells there are at which draws can be aimed; none where nothing is judged."""
        return sum(map(len, self._things(name)))

    def _things(self, name: Combination) -> tuple[dict[str, int], ...]:
        if not self._wanted or name in self._left_out or name[2] == "compile":
            return ()
        return _aims(name[0], self._triton, self._wanted, name[2], gate=self._gate)

    def among(self, names: Iterable[Combination]) -> dict[Combination, float]:
        """The combinations that lack some, with how many in all."""
        return {name: float(number) for name in names if (number := sum(self.of(name).values()))}

    def needs(self, names: Iterable[Combination]) -> dict[Combination, float]:
        """The same, with how many seconds of a worker that is likely to take; as long as nothing is known of one, its
        cases take as long as those of others do."""
        lacking = self.among(names)
        seconds, cases = (sum(one[part] for one in self._took.values()) for part in (0, 1))
        every = (seconds or 1.0) / (cases or 1.0)
        return {name: number * (took[0] / took[1] if (took := self._took.get(name, (0.0, 0.0)))[1] else every)
                for name, number in lacking.items()}


@cache
def _aims(target: str, triton: str, wanted: int, backend: str, *, gate: bool) -> tuple[dict[str, int], ...]:
    """The cells of a target that a backend runs, thing by thing, with how many cases each is to have."""
    draw = find(target).draw
    more = draw.aims_of_gates(triton) if gate else {}
    return tuple(dict.fromkeys(more.get(name, ()), 1) | dict.fromkeys(cells, wanted)
                 for name, cells in draw.aims(triton).items()
                 if backend in FOR_CHIPS or draw.runs(name, triton, backend))
