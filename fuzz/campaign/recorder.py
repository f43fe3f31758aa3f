"""Runs the cases of one shard, with every one on disk before it runs and its outcome before the next."""

from collections.abc import Callable

from tridiff.fuzz.backends.watched import with_effect
from tridiff.fuzz.campaign.lacking import missed
from tridiff.fuzz.campaign.processes import progressed
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.pair.pool import PairPool, Unreached
from tridiff.fuzz.reasons import reason_class
from tridiff.fuzz.records import Case, JointOutcome, Outcome, Verdict
from tridiff.fuzz.target import Target
from tridiff.fuzz.workers.pool import NoWorker, Pool, TimeUp

Observer = Callable[[Case, str, Outcome | None], None]
"""Told of every run: the case, the phase ("fuzz", "shrink" or "confirm") and the outcome, None if there is none that
counts."""

Keeper = Callable[[Case, str, Outcome, int], None]
"""Keeps more of a run than the store does: the case, the phase, the outcome, and how many drawn cases are recorded. It
is asked before the outcome is recorded, so that a run that is recorded is kept; one that was cut off in between is kept
twice, with the same number."""


class Recorder:
    """Executes and records. `executed` counts the drawn cases of this and earlier runs of the shard."""

    def __init__(self, spec: ShardSpec, *, target: Target, pool: Pool | PairPool, store: ShardStore,
                 observe: Observer | None = None, keep: Keeper | None = None) -> None:
        self._spec, self._target, self._observe, self._keep = spec, target, observe, keep
        self.pool, self.store = pool, store
        self._lacking = frozenset(cell for cell, _ in spec.lacking)
        self.executed = store.counts().executed
        self.round = store.next_round()
        """Number of the present Hypothesis run; part of its seed."""
        self.control_failed = 0
        self.unreached: list[Case] = []
        """Drawn cases that were given back: they reach nothing that has changed."""
        self.reaching = 0
        """Drawn cases that reached a changed function."""
        self.failed = 0
        """Drawn cases that failed; of pairs, in either build."""

    def execute(self, case: Case, phase: str, *, compile_limit: float | None = None,
                until: float | None = None) -> Outcome | None:
        """Record, run, record; None for a case that the worker refused, or one that the control fails as well.

        compile_limit, until: as for `Pool.execute`. Raises TimeUp at that moment, when nothing is recorded, and
        TridiffError when nothing can be run or written any more."""
        outcome = self._recorded(case, phase, compile_limit, until)
        progressed()
        if outcome is not None and self._spec.control and phase != "confirm" and outcome.verdict.failed and (
                self._fails_in_control(case, until)):
            self.control_failed += 1
            outcome = None
        if self._observe is not None:
            self._observe(case, phase, outcome)
        return outcome

    def _recorded(self, case: Case, phase: str, compile_limit: float | None, until: float | None) -> Outcome | None:
        self.store.begin(case, round_number=self.round, phase=phase)
        if isinstance(self.pool, PairPool):
            self.pool.shrinking = phase == "shrink"
            self.pool.scouting = self._spec.scout and phase == "fuzz"
        compiled = self.pool.compile_seconds
        try:
            outcome = self.pool.execute(case, self._spec.subject, backend=self._spec.backend,
                                        compile_limit=compile_limit, until=until)
        except NoWorker:
            raise  # The case stays in flight: whoever runs the shard again judges it first.
        except TimeUp:
            self.store.withdraw()
            raise
        except Unreached:
            assert isinstance(self.pool, PairPool)
            self.store.withdraw(cells=self.pool.reached(self._target.draw.thing(case)))
            self.unreached.append(case)
            return None
        except TridiffError as error:
            self.store.refused(round_number=self.round, phase=phase, reason=error.problem,
                               cells=self._missed(case, error.problem) if phase == "fuzz" else ())
            self.executed += phase == "fuzz"
            return None
        self._end(case, outcome, phase, compiling=self.pool.compile_seconds - compiled)
        self.reaching += phase == "fuzz" and self.reaches()
        self.failed += phase == "fuzz" and self._failed(outcome)
        return outcome

    def execute_joined(self, cases: tuple[Case, ...], *, until: float | None = None) -> JointOutcome:
        """Run cases that are held in a joint launch, and record the outcomes that count; the others stay held."""
        compiled = self.pool.compile_seconds
        found = self.launch_joined(cases, until=until)
        each = (self.pool.compile_seconds - compiled) / len(cases)
        passed = {id(one) for one in found.passed()}
        for case, outcome in zip(cases, found.outcomes, strict=False):
            if id(outcome) in passed:
                self.store.begin(case, round_number=self.round)
                self._end(case, outcome, "fuzz", compiling=each)
                if self._observe is not None:
                    self._observe(case, "fuzz", outcome)
        progressed()
        return found

    def launch_joined(self, cases: tuple[Case, ...], *, until: float | None = None) -> JointOutcome:
        """Run cases in a joint launch and record nothing. Raises what `execute` does; a worker that refuses the launch
        has found nothing out."""
        assert not isinstance(self.pool, PairPool)
        try:
            return self.pool.execute_joined(cases, self._spec.subject, backend=self._spec.backend, until=until)
        except NoWorker:
            raise
        except TridiffError as error:
            return JointOutcome(verdict=Verdict.NOT_CHECKED, reason=error.problem)

    def _end(self, case: Case, outcome: Outcome, phase: str, *, compiling: float) -> None:
        """Record the outcome of the case in flight, and what it reached."""
        reached: set[str] = set()
        if phase == "fuzz" and outcome.verdict in (Verdict.AGREE, Verdict.DISAGREE):
            reached = {*self._target.coverage.cells(case), *outcome.cells}
            if isinstance(self.pool, PairPool):
                reached = self.pool.marked(reached, self._target.draw.thing(case))
        elif phase == "fuzz":
            reached = self._missed(case, outcome.reason if outcome.verdict is Verdict.NOT_CHECKED else (
                f"{outcome.verdict.value} {outcome.signature.kind if outcome.signature else ''}".strip()))
        if self._keep is not None:
            self._keep(case, phase, outcome, self.executed)
        self.store.end(outcome, case, phase=phase, round_number=self.round, cells=sorted(reached), compiling=compiling)
        self.executed += phase == "fuzz"

    def _missed(self, case: Case, reason: str) -> set[str]:
        """What is counted of a case that is not judged, of each cell that it was to reach and that lacks cases."""
        cells = self._target.coverage.cells(case) if self._lacking else ()
        return {missed(cell, reason_class(reason)) for cell in cells if cell in self._lacking}

    def reaches(self) -> bool:
        """Whether the case that ran last on both builds ran statements that differ, to some effect."""
        last = self.pool.last if isinstance(self.pool, PairPool) else None
        return last is not None and bool(with_effect(last.reached))

    def _failed(self, outcome: Outcome) -> bool:
        last = self.pool.last if isinstance(self.pool, PairPool) else None
        return outcome.verdict.failed if last is None else last.relation.fails

    def _fails_in_control(self, case: Case, until: float | None) -> bool:
        try:
            return self.pool.execute(case, self._spec.control, backend=self._spec.backend, until=until).verdict.failed
        except NoWorker:
            raise
        except TridiffError:
            return True
