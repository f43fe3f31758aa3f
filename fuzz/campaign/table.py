"""Entry × version: what is expected of every entry under every Triton version, and what was seen now."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tridiff.fuzz.backends import BACKENDS
from tridiff.fuzz.campaign.replay import UNKNOWN, ReplayResult
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Record, Truth
from tridiff.fuzz.records.codec import printable

if TYPE_CHECKING:
    from rich.table import Table


class Column(Record, kw_only=True):
    """One Triton version on one backend."""

    triton: str
    backend: str


class Cell(Record, kw_only=True):
    """expected: the recorded verdict, or `unknown`. seen: the verdict of this replay, empty if it did not run."""

    expected: str = UNKNOWN
    seen: str = ""
    ok: bool | None = None


class Row(Record, kw_only=True):
    """One entry and subject. cells: one per column, None where nothing is expected and nothing was seen. truth: the
    class of the entry."""

    id: str
    target: str
    subject: str
    cells: tuple[Cell | None, ...]
    truth: Truth = "unclassified"
    note: str = ""
    """Why nothing could run: an unreadable file, no backend."""


class ReplayTable(Record, kw_only=True):
    """Columns by version, then backend; rows by target, id and subject."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def table(entries: Iterable[CorpusEntry | TridiffError], results: Iterable[ReplayResult]) -> ReplayTable:
    """Lay expectations and results out; entries that could not be read stand in `results` and keep a row."""
    cells: dict[tuple[str, str, str], dict[tuple[str, str], Cell]] = {}
    notes: dict[tuple[str, str, str], str] = {}
    truths: dict[tuple[str, str], Truth] = {}
    for entry in entries:
        if isinstance(entry, TridiffError):
            continue
        truths[entry.case.target, entry.id] = entry.truth
        for one in entry.expected:
            row = cells.setdefault((entry.case.target, entry.id, one.subject), {})
            row[one.triton, one.backend] = Cell(expected=one.verdict.value)
    for result in results:
        key = (result.target, result.id, result.subject)
        if not result.triton:
            # It never reached a worker; without a subject this speaks of the entry as a whole.
            rows = [known for known in cells if known[:2] == key[:2]] if not result.subject else []
            for known in rows or [key]:
                cells.setdefault(known, {})
                notes[known] = result.reason
            continue
        cells.setdefault(key, {})[result.triton, result.backend] = Cell(
            expected=result.expected, seen=result.actual, ok=result.ok)
    columns = sorted({at for row in cells.values() for at in row}, key=_order)
    return ReplayTable(
        columns=tuple(Column(triton=triton, backend=backend) for triton, backend in columns),
        rows=tuple(Row(target=target, id=id_, subject=subject, note=notes.get((target, id_, subject), ""),
                       truth=truths.get((target, id_), "unclassified"),
                       cells=tuple(row.get(at) for at in columns))
                   for (target, id_, subject), row in sorted(cells.items())))


def _order(column: tuple[str, str]) -> tuple[list[tuple[bool, int, str]], int, str]:
    """Versions by number (3.10 after 3.9), backends in the order of BACKENDS."""
    triton, backend = column
    parts = [(not part.isdigit(), int(part) if part.isdigit() else 0, part)
             for part in triton.replace("+", ".").split(".")]
    return parts, BACKENDS.index(backend) if backend in BACKENDS else len(BACKENDS), backend


WIDEST = 8
"""Columns that a terminal has room for; of more, those stay whose Triton version ran now."""


def rich_table(data: ReplayTable) -> "Table":
    """The table for a terminal: green as expected, red changed, yellow new or not checked, dim not run now. What other
    Triton versions did is left out where they are many: `tridiff corpus` and BUGS.md have it."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title="corpus: expected verdict, and what was seen now", title_justify="left")
    shown.add_column("entry", overflow="fold")
    shown.add_column("subject", overflow="fold")
    kept = _kept(data)
    for number in kept:
        shown.add_column(f"{data.columns[number].triton}\n{data.columns[number].backend}")
    for row in data.rows:
        name = f"{row.target}/{row.id}" if row.target else row.id
        if row.truth not in ("defect", "unclassified"):
            name += f" ({row.truth})"
        if row.note:
            name += f"\n{row.note}"
        # As texts: what a file is called is shown as it is, whatever it means to rich.
        shown.add_row(*(Text(printable_lines(one)) for one in (name, row.subject)),
                      *(Text(*_coloured(row.cells[number])) for number in kept))
    return shown


def _kept(data: ReplayTable) -> list[int]:
    """Which columns are shown."""
    everything = list(range(len(data.columns)))
    ran = {data.columns[number].triton for row in data.rows for number in everything
           if (cell := row.cells[number]) is not None and cell.seen}
    kept = [number for number in everything if data.columns[number].triton in ran]
    return kept if len(everything) > WIDEST and kept else everything


def printable_lines(text: str) -> str:
    """`text` with its control characters spelled out, except for ends of lines."""
    return "\n".join(printable(line, limit=1000) for line in text.split("\n"))


def _coloured(cell: Cell | None) -> tuple[str, str]:
    """What stands in a cell, and its style."""
    if cell is None:
        return "-", "dim"
    if not cell.seen:
        return cell.expected, "dim"
    if cell.ok:
        return cell.seen, "green"
    if cell.ok is False:
        return f"{cell.expected} -> {cell.seen}", "bold red"
    before = "new" if cell.expected == UNKNOWN else cell.expected
    return f"{before}: {cell.seen}", "yellow"
