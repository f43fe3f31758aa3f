"""The search of one shard: draw cases, and follow up what turns up new until it is small, confirmed and written."""

import contextlib
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Flaky, FlakyFailure, HypothesisException, HypothesisWarning, Unsatisfiable

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.aiming import Aiming
from tridiff.fuzz.campaign.budget import Budget
from tridiff.fuzz.campaign.findings import Sighting, Unfinished, built, id_of, keep, settle, withdraw, write
from tridiff.fuzz.campaign.glimpses import Glimpses
from tridiff.fuzz.campaign.joined import Joined, contents
from tridiff.fuzz.campaign.known import KnownFindings
from tridiff.fuzz.campaign.nearest import nearest_of
from tridiff.fuzz.campaign.neighbours import Beside
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.recorder import Recorder
from tridiff.fuzz.campaign.rounds import Broken, Failing, Hunted, RoundOver, fail
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.corpus.cause import finding_of, finding_of_pair, findings_of, of_any_form
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known import Attribution, avoiding
from tridiff.fuzz.known.attribute import cause
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.records import Case, CorpusEntry, Outcome, Signature, Verdict
from tridiff.fuzz.records.outcome import PERHAPS_TRAPPED
from tridiff.fuzz.shrink.explicit import minimise
from tridiff.fuzz.shrink.order import simplicity
from tridiff.fuzz.strategies.choice import noted
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits, Target
from tridiff.fuzz.target.subjects import PLAIN, fault_of
from tridiff.fuzz.workers.pool import NoWorker, TimeUp

ROUND = 300
"""Cases per Hypothesis run; a fresh seed afterwards keeps its memory of past examples small."""

RARE = 2.0
"""Drawn cases that reach no changed function, for each that does, above which those that do are looked at more closely.
"""

PATTERNED = 12
"""Cases with the pattern of a known issue after which a shard that is about it ends, if any of them failed."""

UNSEEN = 10 * PATTERNED
"""The same where none did: the form of an issue does not show in every value."""

SHRINK_RUNS = 250
CONFIRMATIONS = 5


class Hunt:
    """Draws the cases of one shard and follows up new findings."""

    def __init__(self, spec: ShardSpec, state: Path, *, target: Target, budget: Budget, recorder: Recorder,
                 known: KnownFindings) -> None:
        self._spec, self._state, self._target = spec, state, target
        self._budget, self._recorder, self._known = budget, recorder, known
        self._attribution = Attribution(self._run_beside, shows=lambda issue: self._is_known(cause(issue)))
        self._failing: frozenset[str] = frozenset()
        """Known issues that failed in this shard, whose patterns are mostly avoided from the next round on."""
        self._avoided = self._failing
        """Those that this round avoids."""
        self._finding = ""
        """The present finding, by its cause."""
        self._hurried = self._unasked = False
        """Whether there was no time to ask what is known: about the failure looked at last, and the present finding,
        which then is told as seen once, not as new."""
        self._hunted: Hunted | None = None
        self._first: tuple[Case, Outcome] | None = None
        """The present finding as it was drawn."""
        self._fault = fault_of(spec.subject)
        if self._fault not in target.faults.planted:
            self._fault = ""
        self._untouched = 0
        """Drawn cases that the planted fault leaves as they are."""
        self._wanted = tuple(one for one in all_issues() if one.name == spec.issue)
        """Of these the pattern is to be in whatever is drawn; in anything where there are none."""
        self._nearest = nearest_of(self._wanted, spec)
        """Which of them run; None where any case is wanted."""
        self._given_up = 0
        """Draws of this round that came to no case."""
        self._aiming = Aiming(spec, recorder)
        self._beside = Beside()
        self._joined = Joined(spec, state, target=target, recorder=recorder, until=budget.until)
        self._glimpses = Glimpses(by_form=spec.builds is not None)
        self._time_up = False
        """Whether the time ended while a case ran."""
        self.findings: list[CorpusEntry] = []
        self.sightings: list[Sighting] = []

    # -- drawing

    def run(self, first: tuple[Case, ...] = ()) -> None:
        """Draw until the budget is used up. first: cases to judge before.

        Raises TridiffError for a strategy that draws nothing or not the same twice, and when nothing can be run or
        written any more."""
        for case in first:
            if self._exhausted():
                break
            with contextlib.suppress(TimeUp):
                self._judge(case)
            self._recorder.round += 1
        while not self._time_up and not self._exhausted():
            self._search()
            self._joined.finish(self._judge, go_on=self._may_finish)

    def _may_finish(self) -> bool:
        """Whether cases that wait are judged; whoever resumes what somebody ended goes on with the rest."""
        most = self._spec.most_findings
        return not (self._budget.stopped or self._time_up) and (most is None or len(self.findings) < most)

    def _search(self) -> None:
        """Draw until enough cases have an outcome or wait for one."""
        while not self._time_up and not self._exhausted():
            if self._joined.judge_alone(self._judge):
                continue
            if self._beside:
                with contextlib.suppress(TimeUp):
                    self._judge(self._beside.take())
                self._recorder.round += 1
                continue
            before = self._drawn()
            self._one_round()
            self._recorder.round += 1
            self._follow_glimpses()
            if self._drawn() == before and not (self._wanted or self._time_up or self._exhausted()):
                raise TridiffError(f"{self._spec.target} draws no cases", fix="check its strategy")

    def _drawn(self) -> int:
        return self._recorder.executed + self._untouched + len(self._recorder.unreached) + len(self._joined)

    def _exhausted(self) -> bool:
        enough = self._aiming.over
        enough |= self._spec.enough is not None and self._recorder.reaching >= self._spec.enough
        enough |= bool(self._wanted) and self._drawn() >= (PATTERNED if self._recorder.failed else UNSEEN)
        return enough or self._budget.exhausted(cases=self._drawn(), findings=len(self.findings))

    def _execute(self, case: Case, phase: str) -> Outcome | None:
        return self._recorder.execute(case, phase, compile_limit=self._budget.compile_limit(phase),
                                      until=self._budget.until)

    def _run_beside(self, case: Case, subject: str = "") -> Outcome:
        """Run a case that is neither drawn nor a smaller form of one: a relative, or an entry of the corpus, which may
        be of another subject. Raises TimeUp also where no worker is left: nothing is known then."""
        try:
            return self._recorder.pool.execute(case, subject or self._spec.subject, backend=self._spec.backend,
                                               until=self._budget.until)
        except NoWorker:
            raise TimeUp from None

    def _judge(self, case: Case) -> Outcome | None:
        """Run a case that Hypothesis did not draw just now."""
        outcome = self._execute(case, "fuzz")
        signature = outcome.signature if outcome is not None else None
        if outcome is not None and signature is not None and self._is_new(case, outcome):
            self._begin(signature, case, outcome)
            self.conclude(signature, case, outcome)
        elif outcome is not None:
            self._look_beside(case)
        return outcome

    def _follow_glimpses(self) -> None:
        """Judge what was met on the way to a smallest case as if it had been drawn, also where the time for drawing is
        over, but not beyond a number of cases or of findings."""
        most, number = self._spec.most_findings, self._spec.max_cases
        while self._budget.may_repeat("fuzz") and (most is None or len(self.findings) < most) and (
                number is None or self._drawn() < number) and (case := self._glimpses.take()) is not None:
            with contextlib.suppress(TimeUp):
                self._judge(case)
            self._recorder.round += 1

    def _look_beside(self, case: Case) -> None:
        """Where few drawn cases reach what has changed, those that do are followed by cases beside them."""
        rare = len(self._recorder.unreached) > RARE * self._recorder.executed
        if self._spec.scout and rare and not self._spec.first and self._recorder.reaches():
            self._beside.follow(case)

    def _is_new(self, case: Case, outcome: Outcome) -> bool:
        """Whether the case shows a finding that this shard is to follow up."""
        new: str | None = None
        self._hurried = False
        for finding in self._findings(case, outcome):
            if self._is_known(finding):
                self._recorder.store.saw(self._known.called(finding))
            else:
                new = new or finding
        if outcome.verdict.failed:
            self._recorder.store.tally(self._attribution.last)
        if new is None:
            return False
        if not self._known.claim(new):
            self._recorder.store.saw(self._known.called(new))
            return False
        self._finding, self._unasked = new, self._hurried
        return not self._accident(case, outcome)

    def _accident(self, case: Case, outcome: Outcome) -> bool:
        """Whether a worker that was killed is not killed again by the same case, or a launch that a trap behind an
        assertion may have stopped does not fail again without a reason: nothing is made smaller then. It is told, and
        what is like it may be followed up later."""
        signature = outcome.signature
        if signature is None or outcome.verdict is not Verdict.CRASH or not (
                signature.kind == signal.SIGKILL.name or outcome.reason.startswith(PERHAPS_TRAPPED)):
            return False
        again = self._execute(case, "confirm")
        if again is not None and again.signature == signature:
            return False
        write(self._state, self._entry(signature, case, outcome, 0, 1))
        self._known.withdraw(self._finding)
        return True

    def _findings(self, case: Case, outcome: Outcome) -> tuple[str, ...]:
        if not outcome.verdict.failed or outcome.signature is None:
            return ()
        issues: tuple[str, ...] = ()
        if self._spec.builds is not None:
            # Defects of both builds cancel: what is left is not one of them, whatever it looks like.
            return (self._by_signature(outcome),)
        try:
            issues = self._attribution.issues(case, outcome)
        except TimeUp:
            self._hurried = True
        self._failing |= set(issues)
        return findings_of(outcome.signature, issues, outcome.log)

    def _by_signature(self, outcome: Outcome) -> str:
        """The finding of a failure that is named by its signature, label included."""
        assert outcome.signature is not None
        return finding_of(outcome.signature) if self._spec.builds is None else finding_of_pair(
            outcome.signature, outcome.backend)

    def _is_known(self, finding: str) -> bool:
        """Whether the corpus or another shard has it. When there is no time to ask, it is told as seen once."""
        try:
            return self._known.is_known(finding, self._run_beside)
        except TimeUp:
            self._hurried = True
        return False

    def _shows(self, signature: Signature, case: Case, outcome: Outcome) -> bool:
        """Whether a smaller case shows the present finding, by its cause; one of another label if no known issue
        accounts for it, as far as there was time to ask."""
        self._hurried = False
        found = self._findings(case, outcome)
        return self._finding in found if outcome.signature == signature else (
            found == (self._by_signature(outcome),) and not self._hurried)

    def _one_round(self) -> None:
        """Draw cases until the round is full or a new finding turns up, which is then shrunk."""
        self._hunted, self._given_up = None, 0
        try:
            with warnings.catch_warnings():
                # Hypothesis names a strategy whose filter refuses something, which nobody reads here.
                warnings.filterwarnings("ignore", "Generating overly large repr", HypothesisWarning)
                self._hypothesis()()
        except (RoundOver, Failing):
            pass
        except Broken as error:
            raise error.cause from None
        except Unsatisfiable:
            return
        except Flaky as error:
            # A case that was failing and is not drawn again shows at least that it failed.
            ours = isinstance(error, FlakyFailure) and all(isinstance(one, Failing) for one in error.exceptions)
            if not ours:
                raise TridiffError(f"{self._spec.target} does not draw the same case twice: {error}",
                                   fix="report this strategy") from error
        except HypothesisException as error:
            raise TridiffError(f"{self._spec.target}: {error}", fix="report this strategy") from error
        finally:
            self._recorder.store.gave_up(self._given_up)
        hunted = self._hunted
        if hunted is not None:
            if not self.conclude(hunted.signature, hunted.case, hunted.outcome):
                self.sightings.pop()
            self._budget.shrunk(hunted.since)

    def _hypothesis(self) -> Callable[[], None]:
        self._avoided = self._failing
        aims = self._aiming.begin()
        limits = Limits(elements=self._spec.elements, rows=self._spec.rows,
                        variants=kind(self._spec.backend) != "interpreter", avoid=self._avoided,
                        only=frozenset(self._spec.only), aims=tuple(sorted(aims.items())),
                        mode=self._joined.mode(), backend="" if self._spec.subject == PLAIN else self._spec.backend,
                        releases=tuple(one.triton for one in self._recorder.pool.environments()))

        def attempt(cases: tuple[Case, ...]) -> None:
            try:
                failing = self._attempt(*cases)
            except TimeUp:
                # Nothing is known of the case, and nothing is wrong with what drew it.
                self._time_up = self._hunted is None
                raise RoundOver from None
            except Exception as error:
                raise Broken(error) from error
            if failing:
                fail()

        def gave_up() -> None:
            self._given_up += self._hunted is None

        drawn = avoiding.series(self._target, limits, subject=self._spec.subject,
                                number=contents(self._spec, self._target))
        run = hypothesis.given(noted(drawn, gave_up))(attempt)
        run = hypothesis.settings(
            max_examples=ROUND, database=None, deadline=None, derandomize=False, print_blob=False, backend=BACKEND,
            report_multiple_bugs=False, verbosity=Verbosity.quiet, suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink))(run)
        seed = finalise(self._spec.seed + (self._recorder.round << 20))
        seeded: Callable[[], None] = hypothesis.seed(seed)(run)
        return seeded

    def _attempt(self, case: Case, *more: Case) -> bool:
        """Whether the case shows the finding being shrunk; before there is one, whether it is the first to show one.
        more: the case with other values."""
        hunted = self._hunted
        if hunted is None:
            return self._try(case, more)
        digest = case.digest
        if digest not in hunted.failing:
            late = time.monotonic() > hunted.since + self._spec.shrink_seconds
            if hunted.runs >= SHRINK_RUNS or late or not self._budget.may_begin("shrink"):
                # Answering "no" would let Hypothesis go on drawing for up to five minutes.
                raise RoundOver
            hunted.runs += 1
            outcome = self._execute(case, "shrink")
            hunted.failing[digest] = outcome is not None and outcome.signature == hunted.signature and (
                self._shows(hunted.signature, case, outcome))
            self._glimpses.note(case, outcome)
            if outcome is not None and hunted.failing[digest]:
                rank = simplicity(case, self._target)
                if rank < hunted.rank:  # type: ignore[operator]
                    hunted.rank, hunted.case, hunted.outcome = rank, case, outcome
        return hunted.failing[digest]

    def _try(self, case: Case, more: tuple[Case, ...]) -> bool:
        if self._exhausted():
            raise RoundOver
        if self._spec.max_cases is not None:
            more = more[:self._spec.max_cases - self._drawn() - 1]
        if self._fault and not self._target.faults.affects(case, self._fault):
            self._untouched += 1
            return False
        if self._nearest is not None:
            if not self._nearest.due(case):
                return False
            self._beside.add(self._nearest.choose())
            raise RoundOver
        if self._joined.takes(case):
            if self._joined.add((case, *more)) or self._aiming.due():
                raise RoundOver
            return False
        outcome = self._execute(case, "fuzz")
        if outcome is None or not self._is_new(case, outcome):
            if outcome is not None:
                self._look_beside(case)
                self._go_on(outcome, more)
            if self._failing != self._avoided or self._beside or self._aiming.due():
                raise RoundOver  # the next round keeps clear of what failed just now, and is aimed afresh
            return False
        assert outcome.signature is not None
        self._hunted = Hunted(signature=outcome.signature, rank=simplicity(case, self._target), case=case,
                              outcome=outcome, since=time.monotonic(), failing={case.digest: True})
        self.sightings.append(Sighting(seconds=round(self._budget.hunting(), 3), cases=self._recorder.executed,
                                       case=case))
        self._begin(outcome.signature, case, outcome)
        if self._spec.shrink and self._budget.may_begin("shrink"):
            return True
        raise RoundOver

    def _go_on(self, outcome: Outcome, more: tuple[Case, ...]) -> None:
        """Judge a case's call with other values, if it passed with its own."""
        for case in more if outcome.verdict is Verdict.AGREE else ():
            if self._exhausted():
                raise RoundOver
            self._judge(case)

    # -- findings

    def _begin(self, signature: Signature, case: Case, outcome: Outcome, *, seconds: float | None = None) -> None:
        """A finding turned up: it is on disk before anything is tried with it, and has its time."""
        self._budget.grant(signature, seconds=seconds)
        self._glimpses.begin(signature)
        self._first = case, outcome
        entry = self._entry(signature, case, outcome, 0, 0)
        write(self._state, entry)
        self._known.written(self._finding, entry.id)
        self._keep(signature, case, outcome)

    def finish(self, one: Unfinished, seconds: float) -> None:
        """Go on with a finding for which there was no time. Where there was none to ask what is known, it is asked now,
        and what is known is none."""
        self._finding = one.finding or finding_of(one.signature)
        self._budget.grant(one.signature, seconds=seconds)
        if one.unasked and not self._still_new(one):
            return
        self._begin(one.signature, one.case, one.outcome, seconds=self._budget.granted())
        self.conclude(one.signature, one.case, one.outcome)

    def _still_new(self, one: Unfinished) -> bool:
        """Whether a finding that was told without asking is to be followed up. If it is known, or another one, what was
        told of it is taken back."""
        self._hurried = False
        found = self._findings(one.case, one.outcome)
        known = [finding for finding in found if self._is_known(finding)]
        self._unasked = self._hurried
        if self._finding in found and self._finding not in known:
            return True
        for finding in known:
            self._recorder.store.saw(self._known.called(finding))
        withdraw(self._state, id_of(one.signature, self._finding))
        self._known.withdraw(self._finding)
        self._finding = next((finding for finding in found if finding not in known), "")
        return bool(self._finding) and self._known.claim(self._finding)

    def conclude(self, signature: Signature, case: Case, outcome: Outcome) -> bool:
        """Minimise, confirm k of n, write the entry; note what there was no time for. False for what turns out to be a
        finding that is known, or followed up elsewhere."""
        # A known issue and an assertion are not named by what the case contains.
        any_form = self._finding == self._by_signature(outcome)

        def run(candidate: Case) -> Outcome:
            try:
                found = self._execute(candidate, "shrink") if self._budget.may_begin("shrink") else None
            except TimeUp:
                found = None
            if found is None or (of_any_form(found.signature) == of_any_form(signature)
                                 and not self._shows(signature, candidate, found)):
                raise TridiffError("refused", fix="propose another case")
            self._glimpses.note(candidate, found)
            return found

        budget, endless = self._budget, self._budget.endless
        came = tried = 0
        if not self._unasked and (self._spec.shrink or not budget.may_begin()):
            # Before anything else: a finding that came again counts, however little time is left to make it small.
            came, tried = self._confirm(outcome, case, times=1, may_begin=budget.may_repeat)
        case_final, outcome_final = case, outcome
        if self._spec.shrink and budget.may_begin():
            shrunk = minimise(case, outcome, target=self._target, run=run, inputs=self._recorder.pool.inputs,
                              any_form=any_form, seconds=min(2 * self._spec.shrink_seconds, budget.granted()))
            case_final, outcome_final = shrunk.case, shrunk.outcome
        failed, runs = self._confirm(outcome_final, case_final)
        if endless == "compile" and failed == 0 and self._first is not None and case_final != self._first[0]:
            # The smaller case was given less time than the compiler has: it may be slow and no more.
            case_final, outcome_final = self._first
            failed, runs = self._confirm(outcome_final, case_final)
        elif runs and failed == 0 and case_final != case:
            case_final, outcome_final = case, outcome
        elif not runs and came:
            case_final, outcome_final, failed, runs = case, outcome, came, tried
        budget.endless = ""
        begun, called, signature_final = id_of(signature, self._finding), self._finding, outcome_final.signature
        assert signature_final is not None
        if any_form:
            self._finding = self._by_signature(outcome_final)
        entry = self._entry(signature_final, case_final, outcome_final, failed, runs)
        told = self._finding == called or (not self._is_known(self._finding) and self._known.claim(self._finding))
        if told:
            self.findings.append(entry)
            write(self._state, entry)
            self._known.written(self._finding, entry.id)
            settle(self._state, entry)
            if budget.ran_out():
                self._keep(signature_final, case_final, outcome_final)
        else:
            self._recorder.store.saw(self._known.called(self._finding))
        if entry.id != begun:
            # Last of all: whoever goes on after a kill finds what was begun, and makes it small again.
            self._known.became(called, self._finding)
            withdraw(self._state, begun)
        return told

    def _confirm(self, shown: Outcome, case: Case, *, times: int = CONFIRMATIONS,
                 may_begin: Callable[[str], bool] | None = None) -> tuple[int, int]:
        """(how often the case failed as it is shown, how often there was time to run it)."""
        again: list[bool] = []
        may_begin = may_begin or self._budget.may_begin
        with contextlib.suppress(TimeUp):
            while len(again) < (1 if self._budget.endless else times) and may_begin("confirm"):
                outcome = self._execute(case, "confirm")
                again.append(outcome is not None and outcome.signature == shown.signature)
        return sum(again), len(again)

    def _keep(self, signature: Signature, case: Case, outcome: Outcome) -> None:
        keep(self._state, Unfinished(shard=self._spec.index, signature=signature, case=case, outcome=outcome,
                                     finding=self._finding, unasked=self._unasked))

    def _entry(self, signature: Signature, case: Case, outcome: Outcome, failed: int, runs: int) -> CorpusEntry:
        return built(signature, case, outcome, failed=failed, runs=runs, environment=self._recorder.pool.environment,
                     finding=self._finding)
