"""Every outcome of one shard, in SQLite, written as it happens.

One file per shard, so that shards never wait for each other's locks. A row is in the file before the next
case is drawn; killing the process at any moment loses at most the case that was running, whose description
lies in `inflight`, as do those of cases that wait for a joint launch or are in one.
"""

import contextlib
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from tridiff.fuzz.campaign.record import Counts, IssueCounts, ShardResult
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.attribute import Answer
from tridiff.fuzz.reasons import by_class
from tridiff.fuzz.records import Case, Outcome, canonical_json
from tridiff.fuzz.records.outcome import ORACLE_CONFLICT

_TABLES = """
create table if not exists outcomes (
    number integer primary key, round integer not null, phase text not null, verdict text not null,
    signature text not null, reason text not null, digest text not null, rows integer not null,
    launches integer not null, compiled integer not null, seconds real not null, compiling real not null,
    judging real not null);
create index if not exists by_signature on outcomes(signature) where signature != '';
create table if not exists cells (cell text primary key, cases integer not null) without rowid;
create table if not exists failing (number integer primary key, outcome text not null, description text not null);
create table if not exists issues (
    issue text primary key, failed integer not null, explained integer not null, refuted integer not null)
    without rowid;
create table if not exists seen (finding text primary key, cases integer not null) without rowid;
create table if not exists inflight (
    slot integer primary key, round integer, started real, phase text, description text);
create table if not exists given_up (slot integer primary key, draws integer not null);
create table if not exists result (slot integer primary key, result text not null);
"""


def shard_path(state: Path, index: int) -> Path:
    """Where shard `index` of a campaign keeps its outcomes."""
    return state / f"shard-{index:05}.sqlite"


class ShardStore:
    """The outcomes of one shard. Raises TridiffError when the disk is full or the file unusable. write: whether they
    are recorded here; else the file must be there and is only read, also while its shard runs."""

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self.path = path
        try:
            if not write:
                self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None,
                                           timeout=5)
                self._number = 0
                return
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            # No fsync per case: a killed process loses nothing, only a power cut may cost the last moments.
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=off")
            self._db.executescript(_TABLES)
        except sqlite3.Error as error:
            raise TridiffError(f"{path} cannot be written ({error})", fix="free disk space or choose another "
                               "--state directory") from None
        self._number = int(self._db.execute("select coalesce(max(number), 0) from outcomes").fetchone()[0])

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise self._unwritable(error) from None

    def begin(self, case: Case, *, round_number: int, phase: str = "fuzz") -> None:
        """Put the case on disk before it is launched."""
        if not self.path.exists():
            # What is written to a file without a name is lost when it is closed, and nobody says so.
            raise TridiffError(f"{self.path} is gone", fix="leave a campaign's state alone while it runs")
        description = canonical_json(case).decode()
        with self._together():
            self._write("delete from inflight where slot = 0", ())
            if phase == "fuzz":
                self._write("delete from inflight where slot = (select min(slot) from inflight where description = ?)",
                            (description,))
            self._write("insert into inflight values (0, ?, ?, ?, ?)", (round_number, time.time(), phase, description))

    def hold(self, case: Case, *, round_number: int) -> None:
        """Put a case on disk that waits for others."""
        self._write("insert into inflight select coalesce(max(slot), 0) + 1, ?, ?, 'fuzz', ? from inflight",
                    (round_number, time.time(), canonical_json(case).decode()))

    def release(self, case: Case) -> None:
        """A case that waits needs no outcome."""
        self._write("delete from inflight where slot = (select max(slot) from inflight where description = ?)",
                    (canonical_json(case).decode(),))

    def withdraw(self, *, cells: Iterable[str] = ()) -> None:
        """The case in flight was given up: it has no outcome and needs none. cells: that it reached all the same."""
        with self._together():
            self._count(cells)
            self._write("delete from inflight where slot = 0", ())

    def end(self, outcome: Outcome, case: Case, *, phase: str, round_number: int,
            cells: Iterable[str] = (), compiling: float = 0.0) -> None:
        """Record the outcome and the ledger cells it reached, and clear the case in flight, together.

        compiling: seconds that compiling took of what the launches took.
        """
        self._number += 1
        signature = outcome.signature.key if outcome.signature else ""
        spent = outcome.seconds.materialise + outcome.seconds.launch + outcome.seconds.judge
        with self._together():
            self._write("insert into outcomes values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (
                self._number, round_number, phase, outcome.verdict.value, signature,
                outcome.reason[:200] if outcome.verdict.value == "not_checked" else "", outcome.case_digest,
                outcome.rows.judged, outcome.launches, outcome.compiled_kernels, spent, compiling,
                outcome.seconds.judge))
            self._count(cells)
            if phase == "fuzz" and self._worth_keeping(outcome, signature):
                self._write("insert into failing values (?, ?, ?)", (
                    self._number, canonical_json(outcome).decode(), canonical_json(case).decode()))
            self._write("delete from inflight where slot = 0", ())

    def _count(self, cells: Iterable[str]) -> None:
        for cell in cells:
            self._write("insert into cells values (?, 1) on conflict (cell) do update set cases = cases + 1",
                        (cell[:200],))

    def _worth_keeping(self, outcome: Outcome, signature: str) -> bool:
        """Whether someone will want the case: of each failure the first twenty, and of oracles that contradict each
        other, which no finding keeps, the first twenty of all."""
        if outcome.verdict.failed:
            return self._failing_of(signature) < 20
        if not outcome.reason.startswith(ORACLE_CONFLICT):
            return False
        kept = self._db.execute("select count(*) from failing join outcomes using (number) where signature = ''")
        return int(kept.fetchone()[0]) < 20

    def _failing_of(self, signature: str) -> int:
        return int(self._db.execute("select count(*) from outcomes where signature = ? and phase = 'fuzz'",
                                    (signature,)).fetchone()[0])

    def refused(self, *, round_number: int, reason: str, phase: str = "fuzz", cells: Iterable[str] = ()) -> None:
        """Count a case that could not be run, and clear it, together. cells: of the ledger that it counts in."""
        self._number += 1
        with self._together():
            self._write("insert into outcomes values (?, ?, ?, 'refused', '', ?, '', 0, 0, 0, 0, 0, 0)",
                        (self._number, round_number, phase, reason[:200]))
            self._count(cells)
            self._write("delete from inflight where slot = 0", ())

    def gave_up(self, draws: int) -> None:
        """Count draws that came to no case."""
        if draws:
            self._write("insert into given_up values (0, ?) on conflict (slot) do update set draws = draws + "
                        "excluded.draws", (draws,))

    @contextlib.contextmanager
    def _together(self) -> Iterator[None]:
        """All that is written in the block is in the file, or nothing of it."""
        self._write("begin", ())
        try:
            yield
            self._write("commit", ())
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("rollback")
            raise

    def _unwritable(self, error: sqlite3.Error) -> TridiffError:
        return TridiffError(f"{self.path} cannot be written ({error})", fix="free disk space, then run `tridiff fuzz "
                            f"--resume --id {self.path.absolute().parent.name}`")

    def inflight(self) -> tuple[Case, ...]:
        """The generated cases without an outcome when the process last ended: the one that was running, and those that
        waited for a joint launch or were in it. One that was run to shrink or to confirm a finding is left out: that
        begins again."""
        rows = self._db.execute("select description from inflight where phase = 'fuzz' order by slot")
        return tuple(msgspec.json.decode(row[0], type=Case) for row in rows)

    def next_round(self) -> int:
        """First round number that no outcome carries."""
        row = self._db.execute("select max(round) from (select round from outcomes union all select round from "
                               "inflight)").fetchone()
        return 0 if row[0] is None else int(row[0]) + 1

    def counts(self) -> Counts:
        """Totals of what is recorded."""
        return read_counts(self._db)

    def saw(self, finding: str) -> None:
        """Count a drawn case that showed a finding which is followed up elsewhere, or was."""
        self._write("insert into seen values (?, 1) on conflict (finding) do update set cases = cases + 1", (finding,))

    def tally(self, answer: Answer) -> None:
        """Count what was found about one failing drawn case."""
        for name in answer.possible:
            self._write("insert into issues values (?, 1, ?, ?) on conflict (issue) do update set failed = failed + 1, "
                        "explained = explained + excluded.explained, refuted = refuted + excluded.refuted",
                        (name, int(name in answer.issues), int(name in answer.refuted)))

    def issues(self) -> dict[str, IssueCounts]:
        """What became of failing cases that had the pattern of a known issue, by the issue."""
        return {name: IssueCounts(failed=failed, explained=explained, refuted=refuted)
                for name, failed, explained, refuted in self._db.execute("select * from issues")}

    def known_seen(self, known: frozenset[str]) -> dict[str, int]:
        """How often each known finding came up."""
        rows = self._db.execute("select finding, cases from seen")
        return {finding: int(cases) for finding, cases in rows if finding in known}

    def signatures(self) -> dict[str, int]:
        """All signatures of generated cases with their counts."""
        return {s: int(n) for s, n in self._db.execute(
            "select signature, count(*) from outcomes where signature != '' and phase = 'fuzz' group by signature")}

    def judged(self) -> set[str]:
        """Digests of the generated cases that were judged."""
        return {digest for (digest,) in self._db.execute(
            "select distinct digest from outcomes where phase = 'fuzz' and verdict in ('agree', 'disagree')")}

    def ran(self) -> set[str]:
        """Digests of the generated cases that have an outcome."""
        return {digest for (digest,) in self._db.execute("select distinct digest from outcomes where phase = 'fuzz'")}

    def reasons(self) -> dict[str, int]:
        """Why cases were not checked, by class, with counts."""
        return by_class((reason, int(n)) for reason, n in self._db.execute(
            "select reason, count(*) from outcomes where verdict in ('not_checked', 'refused') and phase = 'fuzz' "
            "group by reason"))

    def cells(self) -> dict[str, int]:
        """Ledger cells with the number of generated cases that reached each."""
        return {cell: int(n) for cell, n in self._db.execute("select cell, cases from cells order by cell")}

    def finish(self, result: ShardResult) -> None:
        """Record that the shard used up its budget."""
        self._write("insert or replace into result values (0, ?)", (msgspec.json.encode(result).decode(),))

    def result(self) -> ShardResult | None:
        """The result, if the shard has finished."""
        row = self._db.execute("select result from result").fetchone()
        return msgspec.json.decode(row[0], type=ShardResult) if row else None

    def close(self) -> None:
        self._db.close()


def read_counts(database: sqlite3.Connection) -> Counts:
    """Totals of one shard's outcomes."""
    found: dict[str, int] = {}
    rows = launches = compiled = shrinks = 0
    busy = compiling = judging = shrinking = 0.0
    query = ("select phase, verdict, count(*), sum(rows), sum(launches), sum(compiled), sum(seconds), sum(compiling), "
             "sum(judging) from outcomes group by phase, verdict")
    for phase, verdict, number, row_sum, launch_sum, compiled_sum, seconds, compile_sum, judge_sum in database.execute(
            query):
        launches, compiled, busy = launches + launch_sum, compiled + compiled_sum, busy + seconds
        compiling, judging = compiling + compile_sum, judging + judge_sum
        if phase != "fuzz":
            shrinks += number
            shrinking += seconds
            continue
        rows += row_sum
        found[verdict] = found.get(verdict, 0) + number
    if not found:
        # The outcomes of a shard that ran on another machine stayed there; its totals came back.
        row = database.execute("select result from result").fetchone()
        if row:
            return msgspec.json.decode(row[0], type=ShardResult).counts
    given_up = 0
    with contextlib.suppress(sqlite3.OperationalError):  # a file of an older release, which is only read
        given_up = int(database.execute("select coalesce(sum(draws), 0) from given_up").fetchone()[0])
    return Counts(executed=sum(found.values()), given_up=given_up, row_inputs=rows, launches=launches,
                  compiled_kernels=compiled, shrink_runs=shrinks, busy_seconds=round(busy, 3),
                  compile_seconds=round(compiling, 3), judge_seconds=round(judging, 3),
                  shrink_seconds=round(shrinking, 3), **found)


def counts_of(path: Path) -> Counts:
    """Totals of a shard's file, which is only read. Raises sqlite3.Error where it cannot be."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
    try:
        return read_counts(database)
    finally:
        database.close()
