"""Heat maps: which kinds of coverage cells each target reached, and what became of each target's pairs in a gate."""

from collections.abc import Iterable
from dataclasses import dataclass

from tridiff.fuzz.campaign.history import CellSeen
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.report.model import Heat, HeatMap, Lines

MOST_COLUMNS = 10
"""Kinds of cells; the rarest of more are one column."""

MOST_NAMED = 200
"""Cells gained and lost that are named."""

OTHER = "other"

Place = tuple[str, str, str]
"""Backend, target and cell."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Cells of one campaign that no earlier one had reached, and cells that an earlier one had reached and this one did
    not, of targets that it ran."""

    gained: frozenset[Place] = frozenset()
    lost: frozenset[Place] = frozenset()


def changes(ledger: Ledger, seen: Iterable[CellSeen], began: float) -> Changes | None:
    """What a campaign that began then (seconds since 1970) gained and lost against all earlier ones. None where there
    is no earlier one to compare with."""
    reached = {(backend, target, cell) for backend, target, cell, _ in _cells(ledger)}
    earlier = {(one.backend, one.target, one.cell) for one in seen if one.first < began}
    if not earlier:
        return None
    ran = {(backend, target) for backend, target, _ in reached}
    return Changes(gained=frozenset(reached - earlier),
                   lost=frozenset(place for place in earlier - reached if place[:2] in ran))


def coverage_map(ledger: Ledger, changed: Changes | None) -> HeatMap:
    """Targets by kinds of cells; kinds of which most were reached come first."""
    gained = changed.gained if changed else frozenset()
    lost = changed.lost if changed else frozenset()
    reached, more, fewer = (_counts(places) for places in ((one[:3] for one in _cells(ledger)), gained, lost))
    columns = _columns(reached.values())
    several = len({backend for _, backend in reached}) > 1
    rows = []
    for (target, backend), row in sorted(reached.items()):
        fields = [Heat(number=_number(row, column, columns),
                       gained=_number(more.get((target, backend), {}), column, columns),
                       lost=_number(fewer.get((target, backend), {}), column, columns)) for column in columns]
        rows.append((f"{target} on {backend}" if several else target, tuple(fields)))
    note = ("" if changed is not None else "No earlier campaign under this Triton version is in the history: nothing "
            "to compare with.")
    return HeatMap(title="Coverage", columns=columns, rows=tuple(rows), gained=_named(gained), lost=_named(lost),
                   note=note)


def relation_map(rows: Iterable[tuple[str, dict[str, int]]]) -> HeatMap | None:
    """Targets of a gate by the relations of their pairs; None without pairs."""
    rows = list(rows)
    columns = tuple(dict.fromkeys(name for _, counts in rows for name in counts))
    if not columns:
        return None
    return HeatMap(title="Pairs", columns=tuple(name.replace("_", " ") for name in columns), rows=tuple(
        (name, tuple(Heat(number=counts.get(column, 0)) for column in columns)) for name, counts in rows))


def sort(cell: str) -> str:
    """The kind of a cell: the dialect of an operation of the IR, else what its words are about."""
    if cell.startswith("ir "):
        return "ir " + cell[3:].partition(" ")[0].partition(".")[0]
    keys = dict.fromkeys(word.partition("=")[0] for word in cell.split() if "=" in word)
    return " ".join(keys) or cell.partition(" ")[0][:24]


def _cells(ledger: Ledger) -> Iterable[tuple[str, str, str, int]]:
    for backend, targets in ledger.reached.items():
        for target, cells in targets.items():
            for cell, cases in cells.items():
                yield backend, target, cell, cases


def _columns(rows: Iterable[dict[str, int]]) -> Lines:
    total: dict[str, int] = {}
    for row in rows:
        for name, number in row.items():
            total[name] = total.get(name, 0) + number
    ordered = sorted(total, key=lambda name: (-total[name], name))
    return tuple(ordered) if len(ordered) <= MOST_COLUMNS else (*ordered[:MOST_COLUMNS - 1], OTHER)


def _number(row: dict[str, int], column: str, columns: Lines) -> int:
    if column != OTHER:
        return row.get(column, 0)
    return sum(number for name, number in row.items() if name not in columns[:-1])


def _counts(places: Iterable[Place]) -> dict[tuple[str, str], dict[str, int]]:
    """How many cells of each kind, by target and backend. Every cell is looked at once: a night has 100,000."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for backend, target, cell in places:
        row = counts.setdefault((target, backend), {})
        kind = sort(cell)
        row[kind] = row.get(kind, 0) + 1
    return counts


def _named(places: frozenset[Place]) -> Lines:
    lines = [f"{target} on {backend}: {cell}" for backend, target, cell in sorted(places)]
    more = len(lines) - MOST_NAMED
    return tuple(lines) if more <= 0 else (*lines[:MOST_NAMED], f"and {more:,} more")
