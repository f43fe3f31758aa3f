"""One shard: a Hypothesis driver with its worker, from a seed and a budget to findings."""

import hashlib
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Flaky, HypothesisException, Unsatisfiable

from fuzz.backends import kind
from fuzz.campaign.findings import Unfinished, built, keep, settle, write
from fuzz.campaign.record import ShardResult, ShardSpec
from fuzz.campaign.store import ShardStore
from fuzz.content.counter import finalise
from fuzz.corpus.cause import finding_of
from fuzz.errors import TridiffError
from fuzz.records import Case, CorpusEntry, Environment, Outcome, Signature, Verdict
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

SHRINK_SHARE = 0.2
"""Part of a shard's seconds that shrinking may take from finding. What does not fit is done when the campaign has drawn
its last case, by workers that would otherwise stand still."""

SHORTEST_SHRINK = 5.0
"""Seconds of shrinking that even the shortest shard has."""

HANG_AGAIN = 2.0
"""Hang limits that the compiler has for a proposal of a smaller case. If not to end is the finding, what is left must
not end within the full limit either."""

_pools: dict[tuple[str, int], Pool] = {}


class _RoundOver(BaseException):
    """Ends a Hypothesis run from inside: budget used up or stop asked for."""


class _Failing(Exception):
    """Tells Hypothesis that a case shows the signature being shrunk."""


def _fail() -> None:
    # Hypothesis tells failures apart by where they are raised: there must be one place.
    raise _Failing


def pool_for(spec: ShardSpec, state: Path) -> Pool:
    """The process's pool for the shard's backend and device; kept warm between shards. Each architecture has its own:
    what Triton 3.6.0 compiles depends on what its process compiled for first (corpus/compile_order.md)."""
    key = (spec.backend, spec.device)
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
    a subject does; what goes wrong in a strategy or an oracle becomes the result's `error`, beside what was found.
    """
    state = Path(directory)
    state.mkdir(parents=True, exist_ok=True)
    driver = _Driver(spec, state)
    try:
        return driver.run()
    except TridiffError as error:
        return driver.result(error=str(error))
    except Exception as error:
        return driver.result(error=f"{type(error).__name__}: {error}")
    finally:
        driver.store.close()


def finish_finding(spec: ShardSpec, directory: str, unfinished: Unfinished, seconds: float) -> None:
    """Go on for `seconds` with a finding for which shard `spec` had no time. What goes wrong leaves it as it was."""
    driver = _Driver(spec, Path(directory))
    try:
        driver.finish(unfinished, seconds)
    except TridiffError:
        return
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
        self.found: list[tuple[float, int, Case]] = []
        self.fault = spec.subject.partition("+fault:")[2]
        if self.fault not in self.target.faults:
            self.fault = ""
        self.control_failed = 0
        self.untouched = 0
        """Drawn cases that the planted fault leaves as they are."""
        self.shrinking = 0.0
        self.granted = math.inf
        """The moment at which shrinking the present finding ends."""
        self.cut_short = False
        """Whether something of the present finding was left out because it could not be done by then."""
        self.endless = ""
        """The stage in which the present finding does not end; "" if it does."""
        self.first: tuple[Case, Outcome] | None = None
        """The present finding as it was drawn."""
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
        if self.spec.max_cases is not None and self.executed + self.untouched >= self.spec.max_cases:
            return True
        if (self.state / "stop").exists() or os.getppid() != self.parent:
            self.stopped = True
            return True
        if self.spec.most_findings is not None and len(self.findings) >= self.spec.most_findings:
            return True
        return self.spec.max_cases is None and self._spent() >= self.spec.seconds

    def _grant(self) -> None:
        """Fix how long the finding that just turned up may be shrunk: within the shard's share of its time, and so that
        the campaign ends when it said it would. Shards with a number of cases have all the time they want."""
        self.cut_short = False
        if self.spec.overtime is not None:
            share = max(SHRINK_SHARE * self.spec.seconds, SHORTEST_SHRINK) - self.shrinking
            self.granted = min(time.monotonic() + share, self.began + self.spec.overtime)

    def _may_begin(self, seconds: float = 0.0) -> bool:
        """Whether something that takes up to `seconds` may still be done for the present finding."""
        fits = time.monotonic() + seconds < self.granted and not (self.state / "stop").exists()
        self.cut_short |= not fits
        return fits

    def _compile_limit(self, phase: str) -> float | None:
        """How long the compiler may take over a proposal of a smaller case; None: as long as ever."""
        return HANG_AGAIN * self.spec.hang_limit if phase == "shrink" else None

    def _longest(self, phase: str) -> float:
        """Seconds that a run for the present finding may take: those of a hang, 0 (not worth counting) otherwise."""
        if self.endless == "compile":
            return self._compile_limit(phase) or self.pool.options.compile_limit
        return self.spec.hang_limit if self.endless else 0.0

    # -- running cases --------------------------------------------------------------------------

    def execute(self, case: Case, phase: str) -> Outcome | None:
        """Record, run, record; None for a case that the worker refused, or one that the control fails as well."""
        self.store.begin(case, round_number=self.round)
        compiled = self.pool.compile_seconds
        try:
            outcome = self.pool.execute(case, self.spec.subject, backend=self.spec.backend,
                                        compile_limit=self._compile_limit(phase))
        except TridiffError as error:
            self.store.refused(round_number=self.round, reason=error.problem)
            if not error.fix.startswith("run `tridiff doctor`"):
                self.executed += phase == "fuzz"
                return None
            raise
        reached: set[str] = set()
        if phase == "fuzz" and outcome.verdict in (Verdict.AGREE, Verdict.DISAGREE):
            reached = {*self.target.cells(case), *outcome.cells}
        self.store.end(outcome, case, phase=phase, round_number=self.round, cells=sorted(reached),
                       compiling=self.pool.compile_seconds - compiled)
        self.executed += phase == "fuzz"
        if self.spec.control and phase != "confirm" and outcome.verdict.failed and self._fails_in_control(case):
            self.control_failed += 1
            return None
        return outcome

    def _fails_in_control(self, case: Case) -> bool:
        try:
            return self.pool.execute(case, self.spec.control, backend=self.spec.backend).verdict.failed
        except TridiffError:
            return True

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
            before = self.executed + self.untouched
            self._one_round()
            self.round += 1
            if self.executed + self.untouched == before and not self.exhausted():
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
            self._begin(outcome.signature, case, outcome)
            self._conclude(outcome.signature, case, outcome)
        self.round += 1

    def _is_new(self, outcome: Outcome) -> bool:
        return (outcome.verdict.failed and outcome.signature is not None
                and finding_of(outcome.signature) not in self.known and self._claim(outcome.signature))

    def _claim(self, signature: Signature) -> bool:
        """Whether this shard is the one to shrink the finding; others then treat it as known."""
        finding = finding_of(signature)
        self.known.add(finding)
        claims = self.state / "claims"
        claims.mkdir(exist_ok=True)
        try:
            (claims / hashlib.blake2b(finding.encode(), digest_size=8).hexdigest()).touch(exist_ok=False)
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
                if self.fault and not self.target.touched(case, self.fault):
                    self.untouched += 1
                    return
                outcome = self.execute(case, "fuzz")
                if outcome is None or not self._is_new(outcome):
                    return
                hunted = outcome.signature
                assert hunted is not None
                best = (simplicity(case, self.target), case, outcome)
                failing[case.digest] = True
                hunting = time.monotonic()
                self.found.append((round(hunting - self.started - self.shrinking, 3), self.executed, case))
                self._begin(hunted, case, outcome)
                deadline = hunting + self.spec.shrink_seconds
                if self.spec.shrink and self._may_begin(self._longest("shrink")):
                    _fail()
                raise _RoundOver
            digest = case.digest
            if digest not in failing:
                if (runs >= SHRINK_RUNS or time.monotonic() > deadline or not self._may_begin(self._longest("shrink"))):
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

    def _begin(self, signature: Signature, case: Case, outcome: Outcome) -> None:
        """A finding turned up: it is on disk before anything is tried with it, and has its time."""
        self._grant()
        self.first = case, outcome
        self.endless = signature.kind if signature.verdict is Verdict.HANG else ""
        write(self.state, self._entry(signature, case, outcome, 1, 1))
        keep(self.state, Unfinished(shard=self.spec.index, signature=signature, case=case, outcome=outcome))

    def finish(self, one: Unfinished, seconds: float) -> None:
        """Go on with a finding for which there was no time."""
        self._begin(one.signature, one.case, one.outcome)
        self.granted = time.monotonic() + seconds
        self._conclude(one.signature, one.case, one.outcome)

    def _conclude(self, signature: Signature, case: Case, outcome: Outcome) -> None:
        """Minimise, confirm k of n, write the entry; note what there was no time for."""

        def run(candidate: Case) -> Outcome:
            found = self.execute(candidate, "shrink") if self._may_begin(self._longest("shrink")) else None
            if found is None:
                raise TridiffError("refused", fix="propose another case")
            return found

        case_final, outcome_final = case, outcome
        if self.spec.shrink and self._may_begin():
            shrunk = minimise(case, outcome, target=self.target, run=run, inputs=self.pool.inputs,
                              seconds=min(2 * self.spec.shrink_seconds, self.granted - time.monotonic()))
            case_final, outcome_final = shrunk.case, shrunk.outcome
        again: list[Outcome | None] = []
        while len(again) < (1 if self.endless else CONFIRMATIONS) and self._may_begin(self._longest("confirm")):
            again.append(self.execute(case_final, "confirm"))
        failed = sum(one is not None and one.signature == signature for one in again)
        if self.endless == "compile" and failed == 0 and self.first is not None and case_final != self.first[0]:
            # The smaller case was given less time than the compiler has: it may be slow and no more.
            (case_final, outcome_final), again = self.first, []
        elif again and failed == 0 and case_final != case:
            case_final, outcome_final = case, outcome
        # A run that found the case is the only one if there was no time for another.
        entry = self._entry(signature, case_final, outcome_final, failed if again else 1, len(again) or 1)
        self.findings.append(entry)
        write(self.state, entry)
        settle(self.state, signature)
        if self.cut_short or time.monotonic() >= self.granted:
            keep(self.state, Unfinished(shard=self.spec.index, signature=signature, case=case_final,
                                        outcome=outcome_final))
        self.endless = ""

    def _entry(self, signature: Signature, case: Case, outcome: Outcome, failed: int, runs: int) -> CorpusEntry:
        return built(signature, case, outcome, failed=failed, runs=runs, environment=self.pool.environment)

    def result(self, *, error: str = "", left_out: str = "") -> ShardResult:
        return ShardResult(
            spec=self.spec, counts=self.store.counts(), findings=tuple(self.findings),
            known_seen=self.store.known_seen(frozenset(self.spec.known)), reasons=self.store.reasons(),
            found_after=tuple(seconds for seconds, _, _ in self.found),
            found_cases=tuple(number for _, number, _ in self.found),
            found_as=tuple(case for _, _, case in self.found), control_failed=self.control_failed,
            cells=self.store.cells(), environment=self.environment,
            replacements=tuple(round(s, 4) for s in self.pool.replacement_seconds[self.first_replacement:]),
            left_out=left_out, stopped=self.stopped, error=error)
