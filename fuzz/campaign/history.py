"""What all campaigns on this machine left behind, in one SQLite file: a row per campaign, when each finding was first
and last seen, which coverage cells were ever reached.

The file is a convenience and never evidence: nothing that a campaign reports depends on it, and one that is locked,
damaged or of another version costs a line of text. Reading goes through `read`, which reports render trends from.
"""

import contextlib
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from tridiff.fuzz.campaign.record import Summary
from tridiff.fuzz.corpus.cause import finding_of_entry
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.attribute import cause
from tridiff.fuzz.records import CorpusEntry

FILE = "history.sqlite"
"""In the folder of reports; never committed."""

VERSION = 1
"""Of the tables, as SQLite's user_version."""

KEPT_DAYS = 400.0
"""Days after which a campaign's own rows are dropped. When each finding was first and last seen is kept."""

PATIENCE = 5.0
"""Seconds to wait for somebody else's lock."""

_TABLES = """
create table if not exists campaigns (id text primary key, began real not null, night text not null) without rowid;
create table if not exists shares (
    campaign text not null, family text not null, subject text not null, backend text not null, cases integer not null,
    seconds real not null, kernels integer not null, primary key (campaign, family, subject, backend)) without rowid;
create table if not exists sightings (
    campaign text not null, finding text not null, state text not null, cases integer not null,
    primary key (campaign, finding, state)) without rowid;
create table if not exists findings (
    finding text primary key, entry text not null, title text not null, first real not null, last real not null,
    first_campaign text not null, last_campaign text not null) without rowid;
create table if not exists cells (
    triton text not null, backend text not null, target text not null, cell text not null, first real not null,
    last real not null, primary key (triton, backend, target, cell)) without rowid;
"""


class Night(msgspec.Struct, frozen=True, kw_only=True):
    """One campaign. began: seconds since 1970. seconds, busy, compiling, judging: wall seconds of the campaign, and
    worker seconds that went into cases, of these into compiling and judging. cells: coverage cells reached;
    gained: those that no earlier campaign under this Triton version reached. new, known: findings. status: of the
    command's end."""

    id: str
    began: float
    seconds: float
    seed: int
    workers: int
    backends: tuple[str, ...]
    triton: str
    torch: str
    device: str
    status: int
    interrupted: bool
    cases: int
    agree: int
    failed: int
    not_checked: int
    rows: int
    kernels: int
    launches: int
    busy: float
    compiling: float
    judging: float
    cells: int
    gained: int
    new: int
    known: int

    @property
    def cases_per_second(self) -> float:
        return self.cases / self.seconds if self.seconds else 0.0

    @property
    def kernels_per_second(self) -> float:
        return self.kernels / self.seconds if self.seconds else 0.0


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """The part of one campaign that went to one family, subject and backend. seconds: of workers."""

    campaign: str
    family: str
    subject: str
    backend: str
    cases: int
    seconds: float
    kernels: int


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A finding, by its cause ("issue NAME" for a known issue). entry: id in the corpus, "" where unknown. first, last:
    when campaigns that saw it began, seconds since 1970."""

    finding: str
    entry: str
    title: str
    first: float
    last: float
    first_campaign: str
    last_campaign: str


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A finding in one campaign. state: new, known (came up again) or stopped (expected to fail, and did not). cases:
    that showed it, 0 where nobody counted."""

    campaign: str
    finding: str
    state: str
    cases: int


class History(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is read at once. nights: oldest first. findings: by when they were last seen, latest first."""

    nights: tuple[Night, ...] = ()
    shares: tuple[Share, ...] = ()
    findings: tuple[Seen, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    cells: dict[str, int] = {}
    """Coverage cells that any campaign ever reached, by Triton version."""


def read(path: Path, *, last: int = 400) -> History:
    """The newest `last` campaigns with their shares and sightings, and all findings. An empty history where there is no
    file; TridiffError for a file that cannot be read."""
    if not path.exists():
        return History()
    try:
        with _opened(path, write=False) as database:
            nights = [msgspec.json.decode(night, type=Night) for (night,) in database.execute(
                "select night from campaigns order by began desc, id desc limit ?", (last,))]
            names = {one.id for one in nights}
            return History(
                nights=tuple(reversed(nights)),
                shares=tuple(Share(campaign=c, family=f, subject=s, backend=b, cases=n, seconds=t, kernels=k)
                             for c, f, s, b, n, t, k in database.execute("select * from shares") if c in names),
                findings=tuple(Seen(finding=f, entry=e, title=t, first=a, last=z, first_campaign=ac, last_campaign=zc)
                               for f, e, t, a, z, ac, zc in database.execute(
                                   "select * from findings order by last desc, finding")),
                sightings=tuple(Sighting(campaign=c, finding=f, state=s, cases=n) for c, f, s, n in database.execute(
                    "select * from sightings") if c in names),
                cells=dict(database.execute("select triton, count(*) from cells group by triton")))
    except (sqlite3.Error, msgspec.MsgspecError) as error:
        raise TridiffError(f"{path} cannot be read ({error})", fix="move it away; campaigns begin a new one") from None


class CellSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A coverage cell that some campaign reached. first, last: when campaigns that reached it began, seconds since
    1970."""

    backend: str
    target: str
    cell: str
    first: float
    last: float


def read_cells(path: Path, *, triton: str) -> tuple[CellSeen, ...]:
    """All cells that campaigns under one Triton version reached. None where there is no file; TridiffError for one that
    cannot be read."""
    if not path.exists():
        return ()
    try:
        with _opened(path, write=False) as database:
            return tuple(CellSeen(backend=b, target=t, cell=c, first=first, last=last)
                         for b, t, c, first, last in database.execute(
                             "select backend, target, cell, first, last from cells where triton = ? "
                             "order by backend, target, cell", (triton,)))
    except sqlite3.Error as error:
        raise TridiffError(f"{path} cannot be read ({error})", fix="move it away; campaigns begin a new one") from None


def note(path: Path, summary: Summary, *, ledger: Ledger | None = None, findings: Iterable[CorpusEntry] = (),
         known: dict[str, int] | None = None, ended: float | None = None, kept_days: float = KEPT_DAYS) -> str:
    """Add a campaign, or replace it if it is there already (one that was resumed), and drop what is older than
    `kept_days`. findings: entries of what it found. known: findings that came up again, with their cases. ended: when
    it ended, seconds since 1970, default now. Returns "" or, in one line, why it is not in the history."""
    began = (time.time() if ended is None else ended) - summary.seconds
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(path, write=True) as database:
            row = database.execute("select began from campaigns where id = ?", (summary.id,)).fetchone()
            began = min(began, float(row[0])) if row else began
            for table in ("shares", "sightings"):
                database.execute(f"delete from {table} where campaign = ?", (summary.id,))
            gained = _cells(database, summary, ledger, began)
            night = _night(summary, ledger, began, gained)
            database.execute("insert or replace into campaigns values (?, ?, ?)",
                             (summary.id, began, msgspec.json.encode(night).decode()))
            _shares(database, summary)
            _sightings(database, summary, tuple(findings), known or {}, began)
            _retain(database, began - kept_days * 86400)
    except (sqlite3.Error, OSError) as error:
        return f"{path} was left as it is ({error}): campaign {summary.id} is missing from the history"
    return ""


@contextlib.contextmanager
def _opened(path: Path, *, write: bool) -> Iterator[sqlite3.Connection]:
    """The database, in one transaction: all that the block writes is committed, or nothing."""
    mode = "rwc" if write else "ro"
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=PATIENCE,
                               isolation_level=None)
    try:
        version = int(database.execute("pragma user_version").fetchone()[0])
        if version > VERSION or (not write and version != VERSION):
            raise sqlite3.DatabaseError(f"its version is {version}, known is {VERSION}")
        database.execute("begin immediate" if write else "begin")
        if write and version < VERSION:
            for statement in filter(str.strip, _TABLES.split(";")):
                database.execute(statement)
            database.execute(f"pragma user_version = {VERSION}")
        yield database
        database.execute("commit")
    finally:
        database.close()


def _night(summary: Summary, ledger: Ledger | None, began: float, gained: int) -> Night:
    counts, options = summary.counts, summary.options
    environment = summary.environments[0] if summary.environments else None
    return Night(
        id=summary.id, began=round(began, 3), seconds=summary.seconds, seed=options.seed, workers=options.workers,
        backends=options.backends, triton=environment.triton if environment else "",
        torch=environment.torch if environment else "", device=environment.device if environment else "",
        status=summary.exit_status, interrupted=summary.interrupted, cases=counts.executed, agree=counts.agree,
        failed=counts.disagree + counts.compile_error + counts.crash + counts.hang,
        not_checked=counts.not_checked + counts.refused, rows=counts.row_inputs, kernels=counts.compiled_kernels,
        launches=counts.launches, busy=counts.busy_seconds, compiling=counts.compile_seconds,
        judging=counts.judge_seconds, cells=sum(1 for _ in _reached(ledger)), gained=gained,
        new=len(summary.new_findings), known=len(summary.known_findings))


def _reached(ledger: Ledger | None) -> Iterator[tuple[str, str, str]]:
    """Backend, target and cell of every cell of a ledger."""
    for backend, targets in (ledger.reached if ledger is not None else {}).items():
        for target, cells in targets.items():
            for cell in cells:
                yield backend, target, cell


def _cells(database: sqlite3.Connection, summary: Summary, ledger: Ledger | None, began: float) -> int:
    """Note the cells reached; how many of them no earlier campaign had."""
    if ledger is None:
        return 0
    database.executemany(
        "insert into cells values (?, ?, ?, ?, ?, ?) on conflict do update set last = max(last, excluded.last)",
        [(ledger.triton, backend, target, cell, began, began) for backend, target, cell in _reached(ledger)])
    return int(database.execute("select count(*) from cells where triton = ? and first = ?",
                                (ledger.triton, began)).fetchone()[0])


def _shares(database: sqlite3.Connection, summary: Summary) -> None:
    for one in summary.by_target:
        family = one.target.partition(".")[0]
        database.execute(
            "insert into shares values (?, ?, ?, ?, ?, ?, ?) on conflict do update set cases = cases + excluded.cases, "
            "seconds = seconds + excluded.seconds, kernels = kernels + excluded.kernels",
            (summary.id, family, one.subject, one.backend, one.counts.executed, one.counts.busy_seconds,
             one.counts.compiled_kernels))


def explained_cases(summary: Summary) -> dict[str, int]:
    """How many failing cases each known issue explains, by its cause."""
    cases: dict[str, int] = {}
    for issues in summary.issues.values():
        for issue, counts in issues.items():
            if counts.explained:
                cases[cause(issue)] = cases.get(cause(issue), 0) + counts.explained
    return cases


def _sightings(database: sqlite3.Connection, summary: Summary, findings: tuple[CorpusEntry, ...],
               known: dict[str, int], began: float) -> None:
    entries = {finding_of_entry(entry): entry for entry in findings}
    cases = known | {name: known.get(name, 0) + number for name, number in explained_cases(summary).items()}
    states = {finding: "new" for finding, entry in entries.items() if entry.id in summary.new_findings}
    for finding in (*cases, *summary.known_findings):
        states.setdefault(finding, "known")
    for finding, state in states.items():
        entry = entries.get(finding)
        database.execute("insert or replace into sightings values (?, ?, ?, ?)",
                         (summary.id, finding, state, cases.get(finding, 0)))
        database.execute(
            "insert into findings values (?, ?, ?, ?, ?, ?, ?) on conflict do update set "
            "entry = case when excluded.entry = '' then entry else excluded.entry end, "
            "title = case when excluded.title = '' then title else excluded.title end, "
            "first_campaign = case when excluded.first < first then excluded.first_campaign else first_campaign end, "
            "last_campaign = case when excluded.last >= last then excluded.last_campaign else last_campaign end, "
            "first = min(first, excluded.first), last = max(last, excluded.last)",
            (finding, entry.id if entry else "", entry.title if entry else "", began, began, summary.id, summary.id))
    for name in summary.stopped_failing:
        database.execute("insert or replace into sightings values (?, ?, 'stopped', 0)", (summary.id, name))


def _retain(database: sqlite3.Connection, oldest: float) -> None:
    """Drop the rows of campaigns that began before `oldest`."""
    database.execute("delete from campaigns where began < ?", (oldest,))
    for table in ("shares", "sightings"):
        database.execute(f"delete from {table} where campaign not in (select id from campaigns)")
