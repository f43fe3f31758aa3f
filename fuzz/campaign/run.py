"""Run a campaign: submit its shards, watch them, gather what they found."""

import collections
import concurrent.futures
import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.campaign.budget import SHORTEST_SHRINK
from tridiff.fuzz.campaign.cache import cache_in_memory
from tridiff.fuzz.campaign.drivers import drivers, in_turn, interrupts
from tridiff.fuzz.campaign.findings import Unfinished, unfinished
from tridiff.fuzz.campaign.plan import LONGEST_SHARD
from tridiff.fuzz.campaign.program_rate import generated, program_rate
from tridiff.fuzz.campaign.record import (
    CampaignOptions,
    Counts,
    Plan,
    ProgramRate,
    ShardResult,
    ShardSpec,
    Summary,
    TargetCounts,
)
from tridiff.fuzz.campaign.shard import finish_finding, run_shard
from tridiff.fuzz.campaign.store import ShardStore, read_counts
from tridiff.fuzz.coverage.record import DIGEST_CHARACTERS, Ledger
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Environment, decode, pretty_json

COUNTED = "#"
"""Marks cells of which only the number of different ones is kept."""

SHORTEST_SHARD = 0.25
"""Seconds that a shard gets even when the campaign's time is up; a finding gets SHORTEST_SHRINK."""

GRACE = 0.1
"""Part of a campaign's time that shrinking may take beyond it."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A moment of a running campaign."""

    counts: Counts
    shards_done: int
    shards: int
    elapsed: float
    findings: tuple[str, ...]


Watcher = Callable[[Progress], None]


class _Clock:
    """Shares what is left of a campaign's time among the shards that have not started, so that slow starts and
    shrinking shorten the shards that follow and not the night, and what targets left out do not use falls to the
    others. Shards with a number of cases are left alone."""

    def __init__(self, waiting: Iterable[ShardSpec], options: CampaignOptions) -> None:
        self._workers = options.workers
        self._grace = max(SHORTEST_SHRINK, GRACE * options.seconds)
        self._end = time.monotonic() + sum(spec.seconds for spec in waiting) / options.workers

    def allot(self, spec: ShardSpec, remaining: int) -> ShardSpec:
        """The next shard with its seconds; `remaining` counts it and all after it."""
        if spec.max_cases is not None:
            return spec
        left = max(self._end - time.monotonic(), 0.0)
        share = left * self._workers / max(remaining, self._workers)
        return replace(spec, seconds=max(min(max(spec.seconds, LONGEST_SHARD), share), SHORTEST_SHARD),
                       shrink_seconds=max(min(spec.shrink_seconds, left), SHORTEST_SHRINK), overtime=left + self._grace)


    def spare(self, findings: int) -> float:
        """Seconds that each of so many findings can be shrunk when nothing is drawn any more."""
        left = max(self._end + self._grace - time.monotonic(), 0.0)
        return left * self._workers / max(findings, self._workers)


class Campaign:
    """One campaign and its state directory. Create with `start` or `resume`, then `run`."""

    def __init__(self, plan: Plan, state: Path) -> None:
        self.plan = plan
        self.state = state

    @classmethod
    def start(cls, plan: Plan, *, root: Path) -> "Campaign":
        """Write the plan under root/<id>; TridiffError when that campaign exists or the disk is full."""
        state = root / plan.id
        try:
            state.mkdir(parents=True)
            (state / "plan.json").write_text(pretty_json(plan))
        except FileExistsError:
            raise TridiffError(f"campaign {plan.id} exists", fix="resume it or choose another --id") from None
        except OSError as error:
            raise TridiffError(f"{state} cannot be written ({error.strerror})",
                               fix="free disk space or choose another --state directory") from None
        return cls(plan, state)

    @classmethod
    def resume(cls, name: str, *, root: Path) -> "Campaign":
        """An interrupted campaign; an empty name means the newest unfinished one."""
        found = sorted((p.parent for p in root.glob("*/plan.json")), key=lambda p: p.stat().st_mtime)
        if name:
            found = [p for p in found if p.name == name]
        else:
            found = [p for p in found if not (p / "finished").exists()]
        if not found:
            raise TridiffError(f"no campaign {name or 'to resume'} under {root}", fix="start one with `tridiff fuzz`")
        state = found[-1]
        plan = decode((state / "plan.json").read_bytes(), Plan, source=str(state / "plan.json"))
        (state / "stop").unlink(missing_ok=True)
        (state / "finished").unlink(missing_ok=True)
        # A finding claimed but not written was lost with its shard: it may be found again.
        written = {path.stem.rpartition("-")[2] for path in (state / "findings").glob("*.json")}
        for claim in (state / "claims").glob("*"):
            if claim.name not in written:
                claim.unlink()
        return cls(plan, state)

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

    def _found(self) -> tuple[str, ...]:
        return tuple(sorted(path.stem for path in (self.state / "findings").glob("*.json")))

    def run(self, watch: Watcher) -> Summary:
        """Run all shards that have not finished; Ctrl-C stops them, keeps everything and is reported."""
        started = time.monotonic()
        results: dict[int, ShardResult] = {}
        for spec in self.plan.shards:
            path = self.state / f"shard-{spec.index:05}.sqlite"
            if path.exists():
                store = ShardStore(path)
                done = store.result()
                store.close()
                if done is not None:
                    results[spec.index] = done
        waiting = collections.deque(spec for spec in self.plan.shards if spec.index not in results)
        clock = _Clock(waiting, self.plan.options)
        errors: list[str] = []
        state = str(self.state.resolve())
        with cache_in_memory(self.state), drivers(self.plan.options) as executor, interrupts() as asked:
            def start(spec: ShardSpec) -> concurrent.futures.Future[ShardResult]:
                return executor.submit(run_shard, clock.allot(spec, len(waiting) + 1), state)

            for ended in in_turn(waiting, start, at_once=self.plan.options.workers, asked=asked, stop=self._stop):
                for spec, future in ended:
                    self._take(future, spec, results, errors)
                watch(self._progress(len(results), started))
            if not asked():
                left = unfinished(self.state)
                seconds = clock.spare(len(left))
                shards = {spec.index: spec for spec in self.plan.shards}

                def finish(one: Unfinished) -> concurrent.futures.Future[None]:
                    return executor.submit(finish_finding, shards[one.shard], state, one, seconds)

                # What shards had no time to shrink, all workers at once.
                for _ in in_turn(collections.deque(left if seconds >= 1 else ()), finish, at_once=max(len(left), 1),
                                 asked=asked, stop=self._stop):
                    watch(self._progress(len(results), started))
            interrupted = asked()
        self._recount(results)
        summary = self._summary(results, errors, time.monotonic() - started, interrupted)
        if not interrupted:
            (self.state / "finished").touch()
        return summary

    def _stop(self) -> None:
        (self.state / "stop").touch()

    def _progress(self, shards_done: int, started: float) -> Progress:
        return Progress(counts=self.counts(), shards_done=shards_done, shards=len(self.plan.shards),
                        elapsed=time.monotonic() - started, findings=self._found())

    def _recount(self, results: dict[int, ShardResult]) -> None:
        """Runs made to finish findings came after their shards had ended."""
        for index, result in results.items():
            if result.findings and result.counts.executed:
                store = ShardStore(self.state / f"shard-{index:05}.sqlite")
                results[index] = replace(result, counts=store.counts())
                store.close()

    def _take(self, future: "concurrent.futures.Future[ShardResult]", spec: ShardSpec,
              results: dict[int, ShardResult], errors: list[str]) -> None:
        try:
            result = future.result()
        except Exception as error:
            errors.append(f"shard {spec.index} ({spec.target}): {type(error).__name__}: {error}")
            return
        if result.error:
            errors.append(f"{spec.target} on {spec.backend}: {result.error}")
        results[spec.index] = result
        if not result.stopped and not result.error:
            self._adopt(result)

    def _adopt(self, result: ShardResult) -> None:
        """Keep what a shard on a machine with a disk of its own sent back: its totals and its findings."""
        path = self.state / f"shard-{result.spec.index:05}.sqlite"
        if path.exists():
            return
        store = ShardStore(path)
        store.finish(result)
        store.close()
        (self.state / "findings").mkdir(exist_ok=True)
        for entry in result.findings:
            (self.state / "findings" / f"{entry.id}.json").write_text(pretty_json(entry))

    def findings(self) -> list[CorpusEntry]:
        """All findings of this campaign, shrunk."""
        return [decode(path.read_bytes(), CorpusEntry, source=str(path))
                for path in sorted((self.state / "findings").glob("*.json"))]

    def _summary(self, results: dict[int, ShardResult], errors: list[str], seconds: float,
                 interrupted: bool) -> Summary:
        by_target: dict[tuple[str, str, str], Counts] = {}
        reasons: dict[str, int] = {}
        known: dict[str, int] = {}
        environments: list[Environment] = []
        left_out: dict[str, set[str]] = {}
        for result in results.values():
            if result.left_out:
                left_out.setdefault(result.left_out, set()).add(f"{result.spec.target} on {result.spec.backend}")
                continue
            key = (result.spec.target, result.spec.subject, result.spec.backend)
            by_target[key] = by_target.get(key, Counts()).plus(result.counts)
            for reason, number in result.reasons.items():
                reasons[reason] = reasons.get(reason, 0) + number
            for signature, number in result.known_seen.items():
                known[signature] = known.get(signature, 0) + number
            if result.environment.triton and result.environment not in environments:
                environments.append(result.environment)
        return Summary(
            id=self.plan.id, options=self.plan.options, environments=tuple(environments), counts=self.counts(),
            by_target=tuple(TargetCounts(target=t, subject=s, backend=b, counts=c)
                            for (t, s, b), c in sorted(by_target.items())),
            new_findings=self._found(), known_findings=tuple(sorted(known)), not_checked_reasons=reasons,
            left_out={reason: tuple(sorted(names)) for reason, names in sorted(left_out.items())},
            errors=tuple(dict.fromkeys(errors)), seconds=round(seconds, 2), interrupted=interrupted,
            programs=self._program_rate(results, seconds))

    def _program_rate(self, results: dict[int, ShardResult], seconds: float) -> ProgramRate | None:
        judged: list[tuple[str, str]] = []
        counts = Counts()
        for index, result in results.items():
            if generated(result.spec.target):
                store = ShardStore(self.state / f"shard-{index:05}.sqlite")
                judged += [(result.spec.target, digest) for digest in store.judged()]
                store.close()
                counts = counts.plus(result.counts)
        return program_rate(judged, counts, seconds)

    def ledger(self, triton: str) -> Ledger:
        """The cells that all shards reached."""
        reached: dict[str, dict[str, dict[str, int]]] = {}
        digests: dict[tuple[str, str, str], set[str]] = {}
        for spec in self.plan.shards:
            path = self.state / f"shard-{spec.index:05}.sqlite"
            if not path.exists():
                continue
            store = ShardStore(path)
            result = store.result()
            found = store.cells() or (result.cells if result else {})
            store.close()
            total = reached.setdefault(spec.backend, {}).setdefault(spec.target, {}) if found else {}
            for cell, cases in found.items():
                if cell.startswith(COUNTED):
                    what, _, digest = cell.removeprefix(COUNTED).rpartition(" ")
                    digests.setdefault((spec.backend, spec.target, what), set()).add(digest)
                else:
                    total[cell] = total.get(cell, 0) + cases
        different: dict[str, dict[str, dict[str, int]]] = {}
        listing: dict[str, dict[str, dict[str, str]]] = {}
        for (backend, target, what), members in sorted(digests.items()):
            different.setdefault(backend, {}).setdefault(target, {})[what] = len(members)
            listed = "".join(sorted(digest[:DIGEST_CHARACTERS] for digest in members))
            listing.setdefault(backend, {}).setdefault(target, {})[what] = listed
        return Ledger(triton=triton, reached=reached, different=different, digests=listing)

    def merge(self, path: Path) -> None:
        """All outcomes of all shards in one SQLite file, with the plan and the environments."""
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        database.execute("create table campaign (id text, plan text)")
        database.execute("insert into campaign values (?, ?)", (self.plan.id, pretty_json(self.plan)))
        database.execute("create table outcomes (shard integer, number integer, target text, subject text, "
                         "backend text, round integer, phase text, verdict text, signature text, reason text, "
                         "digest text, rows integer, launches integer, compiled integer, seconds real, compiling real, "
                         "judging real)")
        database.commit()
        for spec in self.plan.shards:
            shard = self.state / f"shard-{spec.index:05}.sqlite"
            if not shard.exists():
                continue
            database.execute("attach ? as shard", (str(shard),))
            database.execute(
                "insert into outcomes select ?, number, ?, ?, ?, round, phase, verdict, signature, reason, digest, "
                "rows, launches, compiled, seconds, compiling, judging from shard.outcomes",
                (spec.index, spec.target, spec.subject, spec.backend))
            database.commit()
            database.execute("detach shard")
        database.close()


def campaign_id(options: CampaignOptions) -> str:
    """Date, time and backends: sortable and readable."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    kinds = "-".join(dict.fromkeys(backend.partition(":")[0] for backend in options.backends))
    return f"{stamp}-{kinds}-{os.getpid() % 1000:03}"
