"""One shard: a Hypothesis driver with its worker, from a seed and a budget to findings.

Three parts work together: `budget` says how long, `recorder` runs cases and keeps what became of them, `hunt` draws
them and follows up what is new.
"""

import contextlib
import dataclasses
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.builds.alike import Alike
from tridiff.fuzz.campaign.budget import Budget
from tridiff.fuzz.campaign.findings import Unfinished
from tridiff.fuzz.campaign.hunt import Hunt
from tridiff.fuzz.campaign.known import KnownFindings, known_findings
from tridiff.fuzz.campaign.record import ShardResult, ShardSpec
from tridiff.fuzz.campaign.recorder import Observer, Recorder
from tridiff.fuzz.campaign.store import ShardStore, shard_path
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.pair.log import PairLog
from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.registry import find
from tridiff.fuzz.target.subjects import of_inductor
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.fuzz.workers.preloaded import WATCHED

_pools: dict[tuple[str, bool, int, tuple[str, str] | None], Pool | PairPool] = {}


_preloaded = ""


def use_preloaded(folder: str) -> None:
    """Have the zygotes of this process forked by the campaign's preloaded processes. folder: theirs."""
    global _preloaded
    _preloaded = folder


def pool_for(spec: ShardSpec, state: Path) -> Pool | PairPool:
    """The process's pool for the shard's kind of backend and device, and for what Inductor's subjects import; kept warm
    between shards."""
    more = of_inductor(spec.subject) and kind(spec.backend) != "cuda"
    key = (kind(spec.backend), more, spec.device, spec.builds)
    pool = _pools.get(key)
    wanted = PoolOptions(backend=spec.backend, device=spec.device, hang_limit=spec.hang_limit, memory=spec.memory,
                         cache_directory=str(state / "cache" / kind(spec.backend)), spare=kind(spec.backend) == "cuda",
                         preloaded=_preloaded, more=more)
    if pool is not None and (pool.options.hang_limit, pool.options.memory) != (wanted.hang_limit, wanted.memory):
        pool.close()
        pool = None
    if pool is None:
        pool = _pools[key] = Pool(wanted) if spec.builds is None else _pair(wanted, spec.builds, spec.alike, state)
    pool.options = dataclasses.replace(pool.options, backend=spec.backend)
    return pool


def _pair(options: PoolOptions, builds: tuple[str, str], alike: Alike, state: Path) -> PairPool:
    """What each side compiles is kept by itself: Triton's cache does not tell two copies of one version apart."""
    before, after = (
        dataclasses.replace(options, build=build, cache_directory=str(state / "cache" / side / kind(options.backend)))
        for side, build in zip(("baseline", "candidate"), builds, strict=True))
    with contextlib.suppress(OSError):
        before = dataclasses.replace(before, watched=(Path(options.preloaded) / WATCHED).read_text())
    return PairPool(Pool(before), Pool(after), alike=alike)


def close_pools() -> None:
    """End all workers of this process."""
    while _pools:
        _pools.popitem()[1].close()


def run_shard(spec: ShardSpec, directory: str, *, observe: Observer | None = None) -> ShardResult:
    """Run one shard to the end of its budget, or until the campaign is stopped.

    `directory` holds the campaign's state; shards on another machine pass a local one. observe: told of every run.
    Never raises for what a subject does; what goes wrong in a strategy or an oracle becomes the result's `error`,
    beside what was found.
    """
    state = Path(directory)
    state.mkdir(parents=True, exist_ok=True)
    shard = _Shard(spec, state, observe)
    try:
        return shard.run()
    except TridiffError as error:
        return shard.result(error=str(error))
    except Exception as error:
        return shard.result(error=f"{type(error).__name__}: {error}")
    finally:
        shard.store.close()


def finish_finding(spec: ShardSpec, directory: str, unfinished: Unfinished, seconds: float) -> None:
    """Go on for `seconds` with a finding for which shard `spec` had no time. What goes wrong leaves it as it was."""
    shard = _Shard(spec, Path(directory), None)
    try:
        shard.hunt.finish(unfinished, seconds)
    except TridiffError:
        return
    finally:
        shard.store.close()


class _Shard:
    """The parts of one shard, put together."""

    def __init__(self, spec: ShardSpec, state: Path, observe: Observer | None) -> None:
        self.spec, self.state = spec, state
        self.store = ShardStore(shard_path(state, spec.index))
        self.target, self.pool = find(spec.target), pool_for(spec, state)
        self.environment = Environment(backend=spec.backend)
        keep = PairLog(state, spec.index, self.pool, issue=spec.issue).note if isinstance(
            self.pool, PairPool) else None
        self.first_replacement = len(self.pool.replacement_seconds)
        self.recorder = Recorder(spec, target=self.target, pool=self.pool, store=self.store, observe=observe,
                                 keep=keep)
        self.budget = Budget(spec, state, spent_before=self.store.counts().busy_seconds,
                             compile_limit=self.pool.options.compile_limit)
        self.hunt = Hunt(spec, state, target=self.target, budget=self.budget, recorder=self.recorder,
                         known=KnownFindings(spec, state, environment=lambda: self.pool.environment))

    def run(self) -> ShardResult:
        self.environment = self.pool.environment
        self.budget.start()
        # Of a pair, what one build lacks cannot be compared.
        lacking = next(filter(None, (self.target.run.lacking(replace(one, backend=self.spec.backend))
                                     for one in self.pool.environments())), "")
        if lacking:
            result = self.result(left_out=lacking)
            self.store.finish(result)
            return result
        # Those come first that had no outcome when the shard was killed.
        self.hunt.run((*self.store.inflight(), *self._first()))
        result = self.result()
        if not self.budget.stopped:
            self.store.finish(result)
        return result

    def _first(self) -> tuple[Case, ...]:
        """Listed cases that come before those that are drawn, unless an earlier run of the shard had them."""
        if self.spec.scout:
            ran = self.store.ran()
            return tuple(case for case in self.spec.first if case.digest not in ran)
        return self.spec.first[self.recorder.executed:]

    def result(self, *, error: str = "", left_out: str = "") -> ShardResult:
        sightings = self.hunt.sightings
        return ShardResult(
            spec=replace(self.spec, lacking=()), counts=self.store.counts(),
            findings=tuple(self.hunt.findings),
            known_seen=self.store.known_seen(known_findings(self.spec, self.state)), reasons=self.store.reasons(),
            issues=self.store.issues(), found_after=tuple(one.seconds for one in sightings),
            found_cases=tuple(one.cases for one in sightings),
            found_as=tuple(one.case for one in sightings), control_failed=self.recorder.control_failed,
            failed=self.recorder.failed, cells=self.store.cells(), environment=self.environment,
            seconds=round(self.budget.spent(), 3),
            replacements=tuple(round(s, 4) for s in self.pool.replacement_seconds[self.first_replacement:]),
            deferred=tuple(self.recorder.unreached) if self.spec.first else (), left_out=left_out,
            stopped=self.budget.stopped, error=error)
