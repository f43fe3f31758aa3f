"""One shard: a Hypothesis driver with its worker, from a seed and a budget to findings."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Flaky, HypothesisException, Unsatisfiable

from fuzz.backends import kind
from fuzz.campaign.record import ShardResult, ShardSpec
from fuzz.campaign.store import ShardStore
from fuzz.content.counter import finalise
from fuzz.corpus.expected import torch_matters
from fuzz.corpus.store import entry_id
from fuzz.errors import TridiffError
from fuzz.records import Case, CorpusEntry, Environment, Evidence, Expectation, Outcome, Signature, Verdict, pretty_json
from fuzz.shrink.explicit import minimise
from fuzz.shrink.order import simplicity
from fuzz.strategies.independent import BACKEND
from fuzz.target import Limits, Target
from fuzz.targets import find
from fuzz.workers.pool import Pool, PoolOptions

ROUND = 300
"""Cases per Hypothesis run; a fresh seed afterwards keeps its memory of past examples small."""

SHRINK_RUNS = 250
CONFIRMATIONS = 5

_pools: dict[tuple[str, int], Pool] = {}


class _RoundOver(BaseException):
    """Ends a Hypothesis run from inside: budget used up or stop asked for."""


class _Failing(Exception):
    """Tells Hypothesis that a case shows the signature being shrunk."""


def _fail() -> None:
    # Hypothesis tells failures apart by where they are raised: there must be one place.
    raise _Failing


def pool_for(spec: ShardSpec, state: Path) -> Pool:
    """The process's pool for the shard's backend and device; kept warm between shards."""
    key = (kind(spec.backend), spec.device)
    pool = _pools.get(key)
    wanted = PoolOptions(backend=spec.backend, device=spec.device, hang_limit=spec.hang_limit, memory=spec.memory,
                         cache_directory=str(state / "cache" / kind(spec.backend)), spare=kind(spec.backend) == "cuda")
    if pool is not None and (pool.options.hang_limit, pool.options.memory) != (wanted.hang_limit, wanted.memory):
        pool.close()
        pool = None
    if pool is None:
        pool = _pools[key] = Pool(wanted)
    return pool


def close_pools() -> None:
    """End all workers of this process."""
    while _pools:
        _pools.popitem()[1].close()


def run_shard(spec: ShardSpec, directory: str) -> ShardResult:
    """Run one shard to the end of its budget, or until the campaign is stopped.

    `directory` holds the campaign's state; shards on another machine pass a local one. Never raises for what
    a subject does; a TridiffError becomes the result's `error`.
    """
    state = Path(directory)
    state.mkdir(parents=True, exist_ok=True)
    driver = _Driver(spec, state)
    try:
        return driver.run()
    except TridiffError as error:
        return driver.result(error=str(error))
    finally:
        driver.store.close()


class _Driver:
    def __init__(self, spec: ShardSpec, state: Path) -> None:
        self.spec, self.state = spec, state
        self.target: Target = find(spec.target)
        self.store = ShardStore(state / f"shard-{spec.index:05}.sqlite")
        self.environment = Environment(backend=spec.backend)
        self.pool = pool_for(spec, state)
        self.known = set(spec.known)
        self.findings: list[CorpusEntry] = []
        self.found: list[tuple[float, int]] = []
        self.shrinking = 0.0
        self.parent = os.getppid()
        self.round = self.store.next_round()
        self.began = self.started = time.monotonic()
        recorded = self.store.counts()
        self.executed, self.spent_before = recorded.executed, recorded.busy_seconds
        self.first_replacement = len(self.pool.replacement_seconds)
        self.stopped = False

    # -- budget ---------------------------------------------------------------------------------

    def _spent(self) -> float:
        return self.spent_before + time.monotonic() - self.started

    def exhausted(self) -> bool:
        if self.spec.max_cases is not None and self.executed >= self.spec.max_cases:
            return True
        if (self.state / "stop").exists() or os.getppid() != self.parent:
            self.stopped = True
            return True
        if self.spec.most_findings is not None and len(self.findings) >= self.spec.most_findings:
            return True
        return self.spec.max_cases is None and self._spent() >= self.spec.seconds

    def _may_shrink(self, seconds: float) -> float:
        """How many of `seconds` shrinking may take now, so that the campaign ends when it said it would."""
        if self.spec.overtime is None:
            return seconds
        return min(seconds, max(self.began + self.spec.overtime - time.monotonic(), 0.0))

    # -- running cases --------------------------------------------------------------------------

    def execute(self, case: Case, phase: str) -> Outcome | None:
        """Record, run, record; None for a case that the worker refused."""
        self.store.begin(case, round_number=self.round)
        try:
            outcome = self.pool.execute(case, self.spec.subject, backend=self.spec.backend)
        except TridiffError as error:
            self.store.refused(round_number=self.round, reason=error.problem)
            if not error.fix.startswith("run `tridiff doctor`"):
                self.executed += phase == "fuzz"
                return None
            raise
        reached: set[str] = set()
        if phase == "fuzz" and outcome.verdict in (Verdict.AGREE, Verdict.DISAGREE):
            reached = {*self.target.cells(case), *outcome.cells}
        self.store.end(outcome, case, phase=phase, round_number=self.round, cells=sorted(reached))
        self.executed += phase == "fuzz"
        return outcome

    def _limits(self) -> Limits:
        return Limits(elements=self.spec.elements, rows=self.spec.rows,
                      variants=kind(self.spec.backend) != "interpreter")

    def run(self) -> ShardResult:
        self.environment = self.pool.environment
        self.started = time.monotonic()
        lacking = self.target.lacking(msgspec.structs.replace(self.environment, backend=self.spec.backend))
        if lacking:
            result = self.result(left_out=lacking)
            self.store.finish(result)
            return result
        interrupted = self.store.inflight()
        if interrupted is not None and not self.exhausted():
            self._judge_inflight(interrupted)
        while not self.exhausted():
            before = self.executed
            self._one_round()
            self.round += 1
            if self.executed == before and not self.exhausted():
                raise TridiffError(f"{self.spec.target} draws no cases", fix="check its strategy")
        result = self.result()
        if not self.stopped:
            self.store.finish(result)
        return result

    def _judge_inflight(self, case: Case) -> None:
        """Run again the case that was interrupted, before anything else."""
        outcome = self.execute(case, "fuzz")
        if outcome is not None and self._is_new(outcome):
            assert outcome.signature is not None
            self._conclude(outcome.signature, case, outcome)
        self.round += 1

    def _is_new(self, outcome: Outcome) -> bool:
        return (outcome.verdict.failed and outcome.signature is not None
                and outcome.signature.key not in self.known and self._claim(outcome.signature))

    def _claim(self, signature: Signature) -> bool:
        """Whether this shard is the one to shrink the finding; others then treat it as known."""
        self.known.add(signature.key)
        claims = self.state / "claims"
        claims.mkdir(exist_ok=True)
        try:
            (claims / signature.digest).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _one_round(self) -> None:
        """Draw cases until the round is full or a new finding turns up, which is then shrunk."""
        hunted: Signature | None = None
        best: tuple[object, Case, Outcome] | None = None
        failing: dict[str, bool] = {}
        deadline = hunting = 0.0
        runs = 0

        def attempt(case: Case) -> None:
            nonlocal hunted, best, deadline, hunting, runs
            if hunted is None:
                if self.exhausted():
                    raise _RoundOver
                outcome = self.execute(case, "fuzz")
                if outcome is None or not self._is_new(outcome):
                    return
                hunted = outcome.signature
                best = (simplicity(case, self.target), case, outcome)
                failing[case.digest] = True
                hunting = time.monotonic()
                self.found.append((round(hunting - self.started - self.shrinking, 3), self.executed))
                deadline = hunting + self._may_shrink(self.spec.shrink_seconds)
                if self.spec.shrink:
                    _fail()
                raise _RoundOver
            digest = case.digest
            if digest not in failing:
                if runs >= SHRINK_RUNS or time.monotonic() > deadline or (self.state / "stop").exists():
                    # Answering "no" would let Hypothesis go on drawing for up to five minutes.
                    raise _RoundOver
                runs += 1
                outcome = self.execute(case, "shrink")
                failing[digest] = outcome is not None and outcome.signature == hunted
                if failing[digest] and outcome is not None:
                    found = (simplicity(case, self.target), case, outcome)
                    if best is None or found[0] < best[0]:  # type: ignore[operator]
                        best = found
            if failing[digest]:
                _fail()

        try:
            self._hypothesis(attempt)()
        except (_RoundOver, _Failing, Flaky):
            pass
        except Unsatisfiable:
            return
        except HypothesisException as error:
            raise TridiffError(f"{self.spec.target}: {error}", fix="report this strategy") from error
        if hunted is not None and best is not None:
            self._conclude(hunted, best[1], best[2])
            self.shrinking += time.monotonic() - hunting

    def _hypothesis(self, attempt: Callable[[Case], None]) -> Callable[[], None]:
        strategy = self.target.cases(self._limits())
        run = hypothesis.given(strategy)(attempt)
        run = hypothesis.settings(
            max_examples=ROUND, database=None, deadline=None, derandomize=False, print_blob=False, backend=BACKEND,
            report_multiple_bugs=False, verbosity=Verbosity.quiet, suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink))(run)
        seeded: Callable[[], None] = hypothesis.seed(finalise(self.spec.seed + (self.round << 20)))(run)
        return seeded

    # -- findings -------------------------------------------------------------------------------

    def _conclude(self, signature: Signature, case: Case, outcome: Outcome) -> None:
        """Minimise, confirm k of n, write the entry."""

        def run(candidate: Case) -> Outcome:
            found = self.execute(candidate, "shrink")
            if found is None:
                raise TridiffError("refused", fix="propose another case")
            return found

        if self.spec.shrink:
            shrunk = minimise(case, outcome, target=self.target, run=run, inputs=self.pool.inputs,
                              seconds=self._may_shrink(2 * self.spec.shrink_seconds))
            case_final, outcome_final = shrunk.case, shrunk.outcome
        else:
            case_final, outcome_final = case, outcome
        confirmations = 1 if outcome.verdict.value == "hang" else CONFIRMATIONS
        again = [self.execute(case_final, "confirm") for _ in range(confirmations)]
        failed = sum(one is not None and one.signature == signature for one in again)
        if failed == 0 and case_final != case:
            case_final, outcome_final = case, outcome
        entry = build_entry(signature, case_final, outcome_final, failed, confirmations, self.pool)
        self.findings.append(entry)
        folder = self.state / "findings"
        folder.mkdir(exist_ok=True)
        temporary = folder / f".{entry.id}.{os.getpid()}"
        temporary.write_text(pretty_json(entry))
        temporary.rename(folder / f"{entry.id}.json")

    def result(self, *, error: str = "", left_out: str = "") -> ShardResult:
        return ShardResult(
            spec=self.spec, counts=self.store.counts(), findings=tuple(self.findings),
            known_seen=self.store.known_seen(frozenset(self.spec.known)), reasons=self.store.reasons(),
            found_after=tuple(seconds for seconds, _ in self.found),
            found_cases=tuple(number for _, number in self.found),
            cells=self.store.cells(), environment=self.environment,
            replacements=tuple(round(s, 4) for s in self.pool.replacement_seconds[self.first_replacement:]),
            left_out=left_out, stopped=self.stopped, error=error)


def build_entry(signature: Signature, case: Case, outcome: Outcome, failed: int, runs: int, pool: Pool) -> CorpusEntry:
    """The corpus entry of one shrunk finding."""
    environment = pool.environment
    torch_version = environment.torch.partition("+")[0] if torch_matters(signature.subject) else ""
    about = f" ({signature.about})" if signature.about else ""
    title = f"{signature.target}{about}, {signature.subject} on {outcome.backend}: {outcome.reason}"[:300]
    return CorpusEntry(
        id=entry_id(signature), title=title, signature=signature, case=case,
        evidence=outcome.evidence or Evidence(), status="stable" if failed == runs else "flaky",
        reproduced=f"{failed}/{runs}",
        expected=(Expectation(subject=signature.subject, triton=environment.triton, backend=outcome.backend,
                              verdict=outcome.verdict, kind=signature.kind, torch=torch_version),),
        found_in=environment)
