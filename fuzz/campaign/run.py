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
from typing import NamedTuple, cast

from msgspec.structs import replace

from tridiff.fuzz.campaign import outcomes, state
from tridiff.fuzz.campaign.cache import cache_in_memory
from tridiff.fuzz.campaign.clock import Clock
from tridiff.fuzz.campaign.deal import Deal, dealt
from tridiff.fuzz.campaign.drivers import Waiting, drivers, force_of, hand, in_turn, interrupts, lost
from tridiff.fuzz.campaign.early import Early
from tridiff.fuzz.campaign.findings import Unfinished, doubt, hurries, unfinished
from tridiff.fuzz.campaign.gathered import Gathered
from tridiff.fuzz.campaign.known import Known, provide, release_claims
from tridiff.fuzz.campaign.record import CampaignOptions, Counts, Plan, ShardResult, ShardSpec, Summary
from tridiff.fuzz.campaign.shard import finish_finding, run_shard
from tridiff.fuzz.campaign.store import ShardStore, counts_of, shard_path
from tridiff.fuzz.campaign.told import PARTS, Tellings
from tridiff.fuzz.campaign.totals import Totals
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.records import CorpusEntry, decode, pretty_json
from tridiff.fuzz.workers.preloaded import Preloaded

AGAIN = 2
"""How often a shard that was lost is run again. One that ended with an error of its own is given one more chance."""

EACH_SECONDS = 0.4
"""How often it is told how far the campaign is: what all shards recorded is read for that."""

WORTH = 5.0
"""Seconds with fewer of which nothing more is drawn, where findings did not need all that was kept for them."""

STUCK = 5.0
"""Seconds beyond its time after which a driver is killed; cases are given up by the driver itself before that."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A moment of a running campaign."""

    counts: Counts
    shards_done: int
    shards: int
    elapsed: float
    findings: tuple[str, ...]


class _Early(NamedTuple):
    """A finding that is taken up for some seconds while others draw, in one of the places for processes."""

    one: Unfinished
    seconds: float
    place: int


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
        self.preloaded: contextlib.AbstractContextManager[Preloaded] | None = None
        """What was started early of its processes; the context ends with its run."""
        self.until: float | None = None
        """The moment (monotonic) at which its time is over, findings told and all; None where it has none, was resumed
        or has not begun."""
        self.untold: Callable[[], float] | None = None
        """How many findings there are of which people are still to be told, if somebody does; half of one is a part."""

    @classmethod
    def start(cls, plan: Plan, *, root: Path, known: Known | None = None) -> "Campaign":
        """Write the plan under root/<id>, and what the corpus knows; TridiffError when that campaign exists or the disk
        is full."""
        campaign = cls(*state.create(plan, root))
        if known is not None:
            with writing(campaign.state, fix="free disk space or choose another --state directory"):
                provide(campaign.state, known)
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
        with writing(self.state, fix=f"free disk space, then run `tridiff fuzz --resume --id {self.plan.id}`"):
            (self.state / "finished").touch()

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
                yield counts_of(path)

    def counts(self) -> Counts:
        """Totals over all shards, read from their files."""
        total = Counts()
        for counts in self._counts_by_shard():
            total = total.plus(counts)
        return total

    def shards_started(self) -> int:
        """Shards that have judged a case."""
        return sum(counts.executed > 0 for counts in self._counts_by_shard())

    def run(self, watch: Watcher, *, since: float | None = None) -> Summary:
        """Run all shards that have not finished, those that are lost again; Ctrl-C, SIGTERM and SIGHUP stop them, keep
        everything and are reported. since: the moment (monotonic) from which the campaign's time counts, default now.
        Raises TridiffError when the state folder cannot be used any more."""
        run = _Run(self, watch, since)
        self.until = run.until if since is not None else None
        with cache_in_memory(self.state), interrupts() as asked, (
                drivers(self.plan.options, self.preloaded)) as executor:
            run.shards(executor, asked)
            while not asked():
                run.unfinished(executor, asked)
                if not run.goes_on():
                    break
                run.shards(executor, asked)
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

    def doubtful(self) -> list[CorpusEntry]:
        """All findings that do not count (`findings.doubt` says why)."""
        return [entry for entry in self._all_findings() if doubt(entry)]

    def unconfirmed(self) -> dict[str, tuple[str, ...]]:
        """Ids of those that do not, by why they do not."""
        found: dict[str, list[str]] = {}
        for entry in self.doubtful():
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

    def __init__(self, campaign: Campaign, watch: Watcher, since: float | None) -> None:
        self._campaign, self._watch, self._state = campaign, watch, campaign.state
        self._options = campaign.plan.options
        self._open = {spec.index: spec for spec in campaign.shards()}
        """Shards that have not come to their end, by number."""
        self._totals = Totals()
        """Of the others."""
        self._started = time.monotonic() if since is None else since
        results = [done for spec in list(self._open.values()) if (done := self._recorded(spec)) is not None]
        for result in results:
            self._ended(result)
        waiting = list(self._open.values())
        self._waiting = Deal(campaign.plan, self._state, waiting, results)
        spent = sum(result.seconds for result in results)
        self._clock = Clock(waiting, self._options, spent=spent, since=self._started)
        self._early = Early(self._options)
        self._told_at, self._tellings = 0.0, Tellings(self._state)
        self._executed = False
        """Whether any case was judged."""
        self._failures: dict[int, tuple[ShardSpec, list[str]]] = {}
        """By number, shards and what went wrong with them, each time it did."""
        self._lost: set[int] = set()
        """Shards that did not come to their end."""
        self._left_out: list[ShardSpec] = []
        """Shards whose process was killed at the end, before they had begun."""
        self._cut = False
        """Whether the time ended before the shards did."""
        self._tried: set[str] = set()
        """Findings that may become smaller and had time for that when nothing was drawn any more."""

    @property
    def until(self) -> float | None:
        """When the campaign's time is over, if it has one."""
        return self._clock.until

    def _recorded(self, spec: ShardSpec) -> ShardResult | None:
        path = shard_path(self._state, spec.index)
        if not path.exists():
            return None
        store = ShardStore(path)
        try:
            return store.result()
        finally:
            store.close()

    def _ended(self, result: ShardResult) -> None:
        """A shard came to its end: what it counted is kept."""
        self._open.pop(result.spec.index, None)
        self._totals.add(result)

    def _told(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if now < self._told_at + EACH_SECONDS and not last:
            return
        counts, shards = self._counts(), len(self._open) + self._totals.shards
        findings = tuple(sorted(path.stem for path in (self._state / "findings").glob("*.json")))
        told = self._tellings.all()
        self._clock.reserve(
            counts.executed + counts.shrink_runs, shards=shards,
            findings=max(len(findings) - len(told) / len(PARTS), 0) if self._campaign.untold is None else (
                self._campaign.untold()), told=len(told) / len(PARTS), telling=sum(one.seconds for one in told))
        self._executed = counts.executed > 0
        elapsed, self._told_at = now - self._started, time.monotonic()
        progress = Progress(
            counts=counts, shards_done=self._totals.shards, shards=shards, elapsed=elapsed,
            findings=findings)
        with contextlib.suppress(OSError):  # The terminal may be gone: that is what SIGHUP says.
            self._watch(progress)

    def _counts(self) -> Counts:
        """Totals over all shards; files of those that came to their end are not read again."""
        total = self._totals.counts
        for index in self._open:
            path = shard_path(self._state, index)
            if path.exists():
                with contextlib.suppress(sqlite3.Error):
                    total = total.plus(counts_of(path))
        return total

    # -- shards

    def shards(self, executor: concurrent.futures.Executor, asked: Callable[[], bool]) -> None:
        """Run all that wait."""
        directory = str(self._state.resolve())
        places: dict[int, int | None] = {}

        def take(place: int) -> ShardSpec | _Early:
            left = self._clock.left()
            # Files are read for that only where there is somebody for what they hold.
            if self._early.may(left) and (found := self._early.next(unfinished(self._state), self._open, left)):
                return _Early(*found, place)
            spec = self._waiting.popleft(None if self._options.scheduler else place)
            places[spec.index] = place
            return spec

        def start(spec: ShardSpec | _Early) -> concurrent.futures.Future[ShardResult | None]:
            if isinstance(spec, _Early):
                found_by = next(one for one in self._campaign.shards() if one.index == spec.one.shard)
                return self._follow_up(executor, found_by, spec.one, spec.seconds, place=spec.place)
            self._open[spec.index] = spec
            allotted = self._clock.allot(spec, self._waiting.pressing() + 1, unfinished=self._unfinished())
            allotted = replace(allotted, lacking=tuple(self._waiting.lacking(spec).items()))
            if self._options.scheduler:
                places.clear()
                return executor.submit(run_shard, allotted, directory)
            limit = None if allotted.overtime is None else allotted.overtime + STUCK
            return hand(executor, limit, _run_since, allotted, directory, time.monotonic(),
                        place=places.pop(spec.index))

        waiting: Waiting[ShardSpec | _Early] = self._waiting
        for ended in in_turn(waiting, start, at_once=self._options.workers, asked=asked,
                             stop=self._campaign.stop, force=force_of(executor), take=take):
            for spec, future in ended:
                if isinstance(spec, _Early):
                    self._early.ended(spec.one)
                else:
                    self._take(cast("concurrent.futures.Future[ShardResult]", future), spec,
                               over=asked() or self._clock.over())
            self._told()
            if self._over() and self._waiting and (self._clock.given_up() or self._executed or (
                    self._campaign.counts().executed)):
                self._cut = True
                self._waiting.close()
        self._told(last=True)

    def _unfinished(self) -> int:
        """How many findings may become smaller and had no time of their own for it."""
        return len({path.name for path in (self._state / "unfinished").glob("*.json") if hurries(path.stem)}
                   - self._tried)

    def _over(self) -> bool:
        """Whether nothing more is started. Where whatever was planned has had its turn, what is kept for findings that
        may become smaller is not drawn away."""
        return self._clock.over(unfinished=0 if self._waiting.owing() else self._unfinished())

    def _take(self, future: "concurrent.futures.Future[ShardResult]", spec: ShardSpec, *, over: bool) -> None:
        if future.cancelled():
            return
        error = future.exception()
        result: ShardResult | None = None
        if error is None:
            result = future.result()
            self._waiting.ended(result)
            if not result.error:
                self._ended(result)
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
        _, failures = self._failures.setdefault(spec.index, (spec, []))
        failures.append(problem)
        with contextlib.suppress(OSError):
            release_claims(self._state, shard=spec.index)
        if len(failures) > chances or over or not self._state.exists():
            self._lost.add(spec.index)
            if result is not None:
                self._ended(result)
        else:
            self._waiting.append(spec)

    def _untouched(self, spec: ShardSpec) -> bool:
        """Whether a shard whose process was killed had not begun with a case."""
        path = shard_path(self._state, spec.index)
        if not path.exists():
            return True
        store = ShardStore(path)
        try:
            return store.counts().executed == 0 and not store.inflight()
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
        """Go on with findings that shards had no time to shrink, each worker with one after another: what some do not
        use of their time is for those behind them."""
        waiting = collections.deque(unfinished(self._state))
        self._tried |= {path.name for path in (self._state / "unfinished").glob("*.json")}
        specs = {spec.index: spec for spec in (self._campaign.shards() if waiting else ())}

        def finish(one: Unfinished) -> concurrent.futures.Future[ShardResult | None]:
            return self._follow_up(executor, specs[one.shard], one, self._clock.spare(len(waiting) + 1))

        if self._clock.spare(len(waiting)) < 1:
            return
        for _ in in_turn(waiting, finish, at_once=self._options.workers, asked=asked, stop=self._campaign.stop,
                         force=force_of(executor)):
            self._told()
            if self._clock.spare(len(waiting)) < 1:
                waiting.clear()

    def _follow_up(self, executor: concurrent.futures.Executor, spec: ShardSpec, one: Unfinished, seconds: float, *,
                   place: int | None = None) -> concurrent.futures.Future[ShardResult | None]:
        """Go on for some seconds with a finding of a shard."""
        return hand(executor, seconds + STUCK, finish_finding, spec, str(self._state.resolve()), one, seconds,
                    place=place)

    def goes_on(self) -> bool:
        """Whether more is drawn after all: findings did not need all the time that was kept for them."""
        unfinished = 0 if self._waiting.owing() else self._unfinished()
        if not self._cut or self._clock.over(unfinished=unfinished, least=WORTH):
            return False
        self._cut = False
        self._waiting.open()
        return bool(self._waiting)

    def summary(self, interrupted: bool) -> Summary:
        """What came of it."""
        return Gathered(
            plan=self._campaign.plan, state=self._state, totals=self._totals, open_=self._open,
            failures=self._failures, lost=self._lost,
            left_out=[*self._left_out, *(self._waiting.waiting() if self._cut else ())]).summary(
            counts=self._campaign.counts(), findings=self._campaign.findings(),
            unconfirmed=self._campaign.unconfirmed(), seconds=time.monotonic() - self._started,
            interrupted=interrupted)


def campaign_id(options: CampaignOptions) -> str:
    """Date, time and backends: sortable and readable."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    kinds = "-".join(dict.fromkeys(backend.partition(":")[0] for backend in options.backends))
    return f"{stamp}-{kinds}-{os.getpid() % 1000:03}"
