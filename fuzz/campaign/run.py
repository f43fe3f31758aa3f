"""Run a campaign: submit its shards, watch them, run again what was lost, gather what they found."""

import collections
import concurrent.futures
import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.campaign import outcomes, state
from tridiff.fuzz.campaign.cache import cache_in_memory
from tridiff.fuzz.campaign.clock import Clock
from tridiff.fuzz.campaign.deal import Deal, dealt
from tridiff.fuzz.campaign.drivers import drivers, force_of, hand, in_turn, interrupts, lost
from tridiff.fuzz.campaign.findings import Unfinished, doubt, unfinished
from tridiff.fuzz.campaign.known import Known, known_findings, provide, release_claims, replayed
from tridiff.fuzz.campaign.program_rate import generated, program_rate
from tridiff.fuzz.campaign.record import (
    CampaignOptions,
    Counts,
    IssueCounts,
    Plan,
    ProgramRate,
    ShardResult,
    ShardSpec,
    Summary,
    TargetCounts,
)
from tridiff.fuzz.campaign.shard import finish_finding, run_shard
from tridiff.fuzz.campaign.store import ShardStore, read_counts, shard_path
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Environment, decode, pretty_json

AGAIN = 2
"""How often a shard that was lost is run again. One that ended with an error of its own is given one more chance."""

STUCK = 5.0
"""Seconds beyond its time after which a driver is killed; cases are given up by the driver itself before that."""

NO_TIME = "no time was left"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A moment of a running campaign."""

    counts: Counts
    shards_done: int
    shards: int
    elapsed: float
    findings: tuple[str, ...]


Watcher = Callable[[Progress], None]


def _run_since(spec: ShardSpec, directory: str, moment: float) -> ShardResult:
    """Run a shard whose time counts from a moment (monotonic) at which this process may not have been there yet."""
    late = max(time.monotonic() - moment, 0.0)
    if spec.left is not None and spec.overtime is not None:
        spec = replace(spec, left=spec.left - late, overtime=spec.overtime - late)
    return run_shard(spec, directory)


class Campaign:
    """One campaign and its state directory, which no other process can run until `close`. Create with `start` or
    `resume`, then `run`, and `finish` when what it found is where it belongs."""

    def __init__(self, plan: Plan, folder: Path, owned: state.Owned) -> None:
        self.plan = plan
        self.state = folder
        self._owned = owned

    @classmethod
    def start(cls, plan: Plan, *, root: Path, known: Known | None = None) -> "Campaign":
        """Write the plan under root/<id>, and what the corpus knows; TridiffError when that campaign exists or the disk
        is full."""
        campaign = cls(*state.create(plan, root))
        if known is not None:
            try:
                provide(campaign.state, known)
            except OSError as error:
                raise TridiffError(f"{campaign.state} cannot be written ({error.strerror})",
                                   fix="free disk space or choose another --state directory") from None
        return campaign

    @classmethod
    def resume(cls, name: str, *, root: Path) -> "Campaign":
        """An interrupted campaign; an empty name means the newest unfinished one. TridiffError if there is none, if it
        is running, or if it was started on another Triton, torch or GPU."""
        return cls(*state.reopen(name, root))

    def close(self) -> None:
        """Let others run the campaign; so does the end of the process."""
        self._owned.release()

    def finish(self, summary: Summary) -> None:
        """Note that nothing is left to do, unless the campaign was interrupted or lost work. The last thing that is
        done to a campaign: what is not finished can be resumed."""
        if summary.interrupted or summary.errors:
            return
        try:
            (self.state / "finished").touch()
        except OSError as error:
            raise TridiffError(f"{self.state} cannot be written ({error.strerror})", fix=(
                f"free disk space, then run `tridiff fuzz --resume --id {self.plan.id}`")) from None

    def admitted(self) -> frozenset[str]:
        """Ids of findings that the corpus gained from this campaign, also when it was interrupted and is resumed."""
        try:
            return frozenset((self.state / "admitted").read_text().split())
        except FileNotFoundError:
            return frozenset()

    def admit(self, name: str) -> None:
        """Note that the corpus gained a finding from this campaign."""
        with open(self.state / "admitted", "a") as file:
            file.write(f"{name}\n")

    def _counts_by_shard(self) -> Iterator[Counts]:
        for path in sorted(self.state.glob("shard-*.sqlite")):
            with contextlib.suppress(sqlite3.Error):
                database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
                try:
                    yield read_counts(database)
                finally:
                    database.close()

    def counts(self) -> Counts:
        """Totals over all shards, read from their files."""
        total = Counts()
        for counts in self._counts_by_shard():
            total = total.plus(counts)
        return total

    def shards_started(self) -> int:
        """Shards that have judged a case."""
        return sum(counts.executed > 0 for counts in self._counts_by_shard())

    def run(self, watch: Watcher) -> Summary:
        """Run all shards that have not finished, those that are lost again; Ctrl-C, SIGTERM and SIGHUP stop them, keep
        everything and are reported. Raises TridiffError when the state folder cannot be used any more."""
        run = _Run(self, watch)
        with cache_in_memory(self.state), interrupts() as asked, drivers(self.plan.options) as executor:
            run.shards(executor, asked)
            if not asked():
                run.unfinished(executor, asked)
            interrupted = asked()
        if not (self.state / "plan.json").exists():
            raise TridiffError(f"{self.state} is gone, and with it what was recorded",
                               fix="leave a campaign's state alone while it runs")
        return run.summary(interrupted)

    def stop(self) -> None:
        """Have all shards end after the case that they run."""
        with contextlib.suppress(OSError):
            (self.state / "stop").touch()

    def _all_findings(self) -> list[CorpusEntry]:
        return [decode(path.read_bytes(), CorpusEntry, source=str(path))
                for path in sorted((self.state / "findings").glob("*.json"))]

    def findings(self) -> list[CorpusEntry]:
        """All findings of this campaign that count, shrunk."""
        return [entry for entry in self._all_findings() if not doubt(entry)]

    def unconfirmed(self) -> dict[str, tuple[str, ...]]:
        """Ids of those that do not, by why they do not."""
        found: dict[str, list[str]] = {}
        for entry in self._all_findings():
            if doubt(entry):
                found.setdefault(doubt(entry), []).append(entry.id)
        return {why: tuple(names) for why, names in sorted(found.items())}

    def shards(self) -> tuple[ShardSpec, ...]:
        """All shards: those of the plan, and those that were added while it ran."""
        return self.plan.shards + dealt(self.state)

    def ledger(self, triton: str) -> Ledger:
        """The cells that all shards reached."""
        return outcomes.ledger(replace(self.plan, shards=self.shards()), self.state, triton)

    def merge(self, path: Path) -> None:
        """All outcomes of all shards in one SQLite file, with the plan."""
        outcomes.merge(replace(self.plan, shards=self.shards()), self.state, path)


class _Run:
    """One run of a campaign: what has come in so far."""

    def __init__(self, campaign: Campaign, watch: Watcher) -> None:
        self._campaign, self._watch, self._state = campaign, watch, campaign.state
        self._options = campaign.plan.options
        self._specs = {spec.index: spec for spec in campaign.shards()}
        self._started = time.monotonic()
        self._results: dict[int, ShardResult] = {}
        for spec in self._specs.values():
            done = self._recorded(spec)
            if done is not None:
                self._results[spec.index] = done
        waiting = [spec for spec in self._specs.values() if spec.index not in self._results]
        self._waiting = Deal(campaign.plan, self._state, waiting, tuple(self._results.values()))
        spent = sum(result.seconds for result in self._results.values())
        self._clock = Clock(waiting, self._options, spent=spent)
        self._failures: dict[int, list[str]] = {}
        """Shard to what went wrong with it, each time it did."""
        self._lost: set[int] = set()
        """Shards that did not come to their end."""
        self._left_out: list[ShardSpec] = []
        """Shards for which no time was left."""

    def _recorded(self, spec: ShardSpec) -> ShardResult | None:
        path = shard_path(self._state, spec.index)
        if not path.exists():
            return None
        store = ShardStore(path)
        try:
            return store.result()
        finally:
            store.close()

    def _told(self) -> None:
        elapsed = time.monotonic() - self._started
        progress = Progress(
            counts=self._campaign.counts(), shards_done=len(self._results), shards=len(self._specs), elapsed=elapsed,
            findings=tuple(sorted(path.stem for path in (self._state / "findings").glob("*.json"))))
        with contextlib.suppress(OSError):  # The terminal may be gone: that is what SIGHUP says.
            self._watch(progress)

    # -- shards ---------------------------------------------------------------------------------

    def shards(self, executor: concurrent.futures.Executor, asked: Callable[[], bool]) -> None:
        """Run all that wait."""
        directory = str(self._state.resolve())

        def start(spec: ShardSpec) -> concurrent.futures.Future[ShardResult]:
            self._specs[spec.index] = spec
            allotted = self._clock.allot(spec, self._waiting.pressing() + 1,
                                         unfinished=len(list((self._state / "unfinished").glob("*.json"))))
            if self._options.scheduler:
                return executor.submit(run_shard, allotted, directory)
            limit = None if allotted.overtime is None else allotted.overtime + STUCK
            return hand(executor, limit, _run_since, allotted, directory, time.monotonic())

        for ended in in_turn(self._waiting, start, at_once=self._options.workers, asked=asked,
                             stop=self._campaign.stop, force=force_of(executor)):
            for spec, future in ended:
                self._take(future, spec, over=asked() or self._clock.over())
            self._told()
            if self._clock.over() and self._waiting and self._campaign.counts().executed:
                self._left_out += self._waiting.waiting()
                self._waiting.close()

    def _take(self, future: "concurrent.futures.Future[ShardResult]", spec: ShardSpec, *, over: bool) -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is None:
            result = future.result()
            self._results[spec.index] = result
            self._waiting.ended(result)
            if not result.error:
                if not result.stopped:
                    self._adopt(result)
                return
            problem, chances = result.error, 1
        else:
            problem = str(error) if lost(future) else f"{type(error).__name__}: {error}"
            chances = AGAIN
            if over and lost(future) and self._untouched(spec):
                self._left_out.append(spec)
                return
        failures = self._failures.setdefault(spec.index, [])
        failures.append(problem)
        with contextlib.suppress(OSError):
            release_claims(self._state, shard=spec.index)
        if len(failures) > chances or over or not self._state.exists():
            self._lost.add(spec.index)
        else:
            self._results.pop(spec.index, None)
            self._waiting.append(spec)

    def _untouched(self, spec: ShardSpec) -> bool:
        """Whether a shard whose process was killed had not begun with a case."""
        path = shard_path(self._state, spec.index)
        if not path.exists():
            return True
        store = ShardStore(path)
        try:
            return store.counts().executed == 0 and store.inflight() is None
        finally:
            store.close()

    def _adopt(self, result: ShardResult) -> None:
        """Keep what a shard on a machine with a disk of its own sent back: its totals and its findings."""
        path = shard_path(self._state, result.spec.index)
        if path.exists() or not self._state.exists():
            return
        store = ShardStore(path)
        store.finish(result)
        store.close()
        (self._state / "findings").mkdir(exist_ok=True)
        for entry in result.findings:
            (self._state / "findings" / f"{entry.id}.json").write_text(pretty_json(entry))

    def unfinished(self, executor: concurrent.futures.Executor, asked: Callable[[], bool]) -> None:
        """Go on with findings that shards had no time to shrink, all workers at once."""
        left = unfinished(self._state)
        seconds = self._clock.spare(len(left))
        directory = str(self._state.resolve())

        def finish(one: Unfinished) -> concurrent.futures.Future[None]:
            return hand(executor, seconds + STUCK, finish_finding, self._specs[one.shard], directory, one, seconds)

        for _ in in_turn(collections.deque(left if seconds >= 1 else ()), finish, at_once=max(len(left), 1),
                         asked=asked, stop=self._campaign.stop, force=force_of(executor)):
            self._told()

    # -- summary --------------------------------------------------------------------------------

    def summary(self, interrupted: bool) -> Summary:
        """What came of it."""
        for spec in self._specs.values():
            self._recount(spec)
        seconds = time.monotonic() - self._started
        by_target: dict[tuple[str, str, str], Counts] = {}
        reasons: dict[str, int] = {}
        known: dict[str, int] = {}
        issues: dict[str, dict[str, IssueCounts]] = {}
        environments: list[Environment] = []
        left_out: dict[str, set[str]] = {}
        for result in self._results.values():
            if result.left_out:
                left_out.setdefault(result.left_out, set()).add(f"{result.spec.target} on {result.spec.backend}")
                continue
            key = (result.spec.target, result.spec.subject, result.spec.backend)
            by_target[key] = by_target.get(key, Counts()).plus(result.counts)
            for reason, number in result.reasons.items():
                reasons[reason] = reasons.get(reason, 0) + number
            for issue, cases in result.issues.items():
                told = issues.setdefault(f"{result.spec.target} {result.spec.subject}", {})
                told[issue] = told.get(issue, IssueCounts()).plus(cases)
            for signature, number in result.known_seen.items():
                known[signature] = known.get(signature, 0) + number
            if result.environment.triton and result.environment not in environments:
                environments.append(result.environment)
        for spec in self._left_out:
            if (spec.target, spec.subject, spec.backend) not in by_target:
                left_out.setdefault(NO_TIME, set()).add(f"{spec.target} on {spec.backend}")
        return Summary(
            id=self._campaign.plan.id, options=self._options, environments=tuple(environments),
            counts=self._campaign.counts(),
            by_target=tuple(TargetCounts(target=t, subject=s, backend=b, counts=c)
                            for (t, s, b), c in sorted(by_target.items())),
            new_findings=tuple(entry.id for entry in self._campaign.findings()),
            known_findings=tuple(sorted(known)), issues=issues, not_checked_reasons=reasons,
            left_out={reason: tuple(sorted(names)) for reason, names in sorted(left_out.items())},
            errors=self._said(lost=True), repaired=self._said(lost=False),
            unconfirmed=self._campaign.unconfirmed(), stopped_failing=self._stopped_failing(),
            seconds=round(seconds, 2), interrupted=interrupted,
            programs=self._program_rate(seconds))

    def _stopped_failing(self) -> tuple[str, ...]:
        """Entries that were expected to fail here and do not, of those that were replayed."""
        told = replayed(self._state)
        failing = {one.finding for one in told if one.fails}
        return tuple(dict.fromkeys(name for one in told if one.finding not in failing for name in one.stopped))

    def _recount(self, spec: ShardSpec) -> None:
        """What a shard that did not come to its end recorded, and runs made to finish findings after it had ended."""
        result, path = self._results.get(spec.index), shard_path(self._state, spec.index)
        if not path.exists() or (result is not None and not (result.findings and result.counts.executed)):
            return
        store = ShardStore(path)
        if result is not None:
            self._results[spec.index] = replace(result, counts=store.counts())
        elif store.counts().executed:
            self._results[spec.index] = ShardResult(
                spec=spec, counts=store.counts(), known_seen=store.known_seen(known_findings(spec, self._state)),
                issues=store.issues(), reasons=store.reasons(), cells=store.cells(), stopped=True)
        store.close()

    def _said(self, *, lost: bool) -> tuple[str, ...]:
        """What went wrong, one line for equal ones, of shards that were lost or of those that came to their end."""
        lines: dict[str, None] = {}
        for index, problems in self._failures.items():
            if (index in self._lost) is lost:
                spec = self._specs[index]
                lines.update(dict.fromkeys(f"{spec.target} on {spec.backend}: {problem}" for problem in problems))
        return tuple(lines)

    def _program_rate(self, seconds: float) -> ProgramRate | None:
        judged: list[tuple[str, str]] = []
        counts = Counts()
        for index, result in self._results.items():
            path = shard_path(self._state, index)
            if generated(result.spec.target) and path.exists():
                store = ShardStore(path)
                judged += [(result.spec.target, digest) for digest in store.judged()]
                store.close()
                counts = counts.plus(result.counts)
        return program_rate(judged, counts, seconds)


def campaign_id(options: CampaignOptions) -> str:
    """Date, time and backends: sortable and readable."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    kinds = "-".join(dict.fromkeys(backend.partition(":")[0] for backend in options.backends))
    return f"{stamp}-{kinds}-{os.getpid() % 1000:03}"
