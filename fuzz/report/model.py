"""A report: what a record says, in the order in which it is read, whatever the format that it is written in.

All text in it may come from strangers (reasons, error texts, names of devices): a writer escapes every bit of it.
"""

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "warning", "bad", "unknown"]
"""Of a verdict: nothing to do; somebody must look; act; nothing follows."""

Level = Literal["error", "warning", "note"]
"""Of a finding, in the words of SARIF: it decides the verdict; it must be known; it is only shown."""

Lines = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Script:
    """A standalone script of a finding. text: "" where there is none, and `note` says why. note: what a run of it
    said, or that nobody ran it."""

    text: str = ""
    note: str = ""

    @property
    def lines(self) -> int:
        return self.text.count("\n")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One finding or one difference between builds. group: the heading under which it stands. key: the same for the
    same finding in every report. about: facts in a line each (label, text). case, evidence: the shrunk case and its
    failing row, as lines. file: of the case, relative to the record, "" where the record has none. parts: names of the
    target, the subject and the backend, "" where unknown."""

    id: str
    key: str
    group: str
    level: Level
    title: str
    reason: str = ""
    target: str = ""
    subject: str = ""
    backend: str = ""
    kind: str = ""
    about: tuple[tuple[str, str], ...] = ()
    case: Lines = ()
    evidence: Lines = ()
    script: Script = Script()
    command: str = ""
    """How to run it again."""
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One target (and subject) on one backend. problem: what speaks against it, "" for nothing. skipped: why nothing
    of it was decided, "" if something was. seconds: of workers. cells: in the order of the report's `row_columns`."""

    target: str
    subject: str
    backend: str
    cells: Lines
    problem: str = ""
    skipped: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Heat:
    """One field of a heat map. number: shown, and from 0 to the largest of the map its colour. gained, lost: shown
    beside it where they are not 0."""

    number: int = 0
    gained: int = 0
    lost: int = 0


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """rows: a name and its fields, one for each column. gained, lost: names of single cells, as lines."""

    title: str
    columns: Lines
    rows: tuple[tuple[str, tuple[Heat, ...]], ...]
    gained: Lines = ()
    lost: Lines = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of text; numeric: numbers of the columns that are aligned to the right."""

    title: str
    columns: Lines
    rows: tuple[Lines, ...]
    numeric: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Trend:
    """One figure over campaigns, oldest first: (name of the campaign, value)."""

    title: str
    points: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """kind: of the record. verdict, tone: the answer in a word and how it is meant. headline: the same in a sentence.
    why: what the verdict rests on. facts: (label, text). groups: headings of findings, in order, also empty ones.
    began: when, as "2026-11-22 13:45 UTC", "" where unknown. status: exit status of the command."""

    kind: Literal["campaign", "gate"]
    id: str
    verdict: str
    tone: Tone
    headline: str
    status: int
    seconds: float
    began: str = ""
    why: Lines = ()
    facts: tuple[tuple[str, str], ...] = ()
    groups: Lines = ()
    findings: tuple[Finding, ...] = ()
    row_columns: Lines = ()
    rows: tuple[Row, ...] = ()
    heat: HeatMap | None = None
    throughput: tuple[tuple[str, str], ...] = ()
    trends: tuple[Trend, ...] = ()
    tables: tuple[Table, ...] = ()
    not_checked: tuple[tuple[str, str], ...] = ()
    """(how many or what, reason)."""
    beside: tuple[tuple[str, Lines], ...] = ()
    """What is judged beside cases, by name, with what speaks against it."""
    errors: Lines = ()
    """Work that was lost."""
    running: bool = False
    """Whether the campaign still runs."""
    tridiff: str = ""
    """Version that ran it."""

    def of(self, group: str) -> tuple[Finding, ...]:
        """The findings under one heading."""
        return tuple(one for one in self.findings if one.group == group)
