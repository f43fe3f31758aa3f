"""Workers of two builds as one pool: a case goes to both, and its outcome is how the two stand to each other."""

import collections
import contextlib
import functools
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.watched import changes, effect, with_effect, with_statements
from tridiff.fuzz.builds.alike import Alike
from tridiff.fuzz.pair.relate import SHARED_BYTES, changed_code, relate
from tridiff.fuzz.pair.times import EACH, run_times, timeable
from tridiff.fuzz.records import Case, Environment, Evidence, Outcome, RowCounts, Seconds, Signature, Verdict
from tridiff.fuzz.records.observed import Observe, Observed, Stop
from tridiff.fuzz.records.pair import PairOutcome, Relation
from tridiff.fuzz.registry import find
from tridiff.fuzz.workers.pool import DIE_STARTING, NoWorker, Pool, PoolOptions

CONTROL: dict[Stop, int] = {"source": 50, "code": 20}
"""Of so many pairs that are equal there one goes on all the same: equal code that gives other results would show."""

CONTROL_OF_IDLE = 20
"""Likewise of cases that run statements which differ and come to the same in both builds."""

EQUAL = "="
"""Marks coverage cells that only equal code reached."""

REACHED = "@"
"""Marks a cell that is the number of a change, with what the target showed behind it ..."""

FUNCTION = "f"
"""... this in front of it, where only the function ran, not the statements that differ, ..."""

IDLE = "s"
"""... or this, where these ran and came to the same in both builds."""

CODE_AGAIN, ANSWERS_AGAIN = 5, 2
"""Further runs of each side whose code, or whose answers, are another one's. Of one in four compilations of a loop that
3.6.0 splits among partitions it makes another kernel; what undefined memory holds may be the same twice.
"""

_LAST: dict[Stop, str] = {"source": "source", "code": "ptx"}
"""The stage that decides."""

REPEATS = {"cuda": 4, "interpreter": 2, "compile": 1, "evaluated": 1}
"""How often each side runs again when a difference turns up that was not seen before, by kind of backend: a device may
do another thing each time, a compiler hardly ever does. What is shrunk is confirmed on both sides, as everything is."""

PLAIN = Observe()

CANDIDATE_DIES = f"of the candidate, {DIE_STARTING}"
"""How it is told that nothing runs on the candidate where the baseline's workers stand ready."""

PATIENCE, LEAST_PATIENCE = 20.0, 20.0
"""A candidate has so many times what the baseline took for a case to compile one of its kernels, and so many seconds
at least: a compiler that hangs now is told within a short gate."""


@contextlib.contextmanager
def _candidates() -> Iterator[None]:
    """Whoever hears that workers die while starting hears whose they are."""
    try:
        yield
    except NoWorker as error:
        if not error.problem.startswith(DIE_STARTING):
            raise
        raise NoWorker(f"{CANDIDATE_DIES}{error.problem.removeprefix(DIE_STARTING)}", fix=error.fix) from None


class Unreached(Exception):
    """The case runs no statement that the two builds have different, as far as the baseline tells; the candidate was
    not asked."""


class PairPool:
    """What a `Pool` is to one build: `execute` runs a case on both and returns an outcome for the pair.
    Raises Unreached while `scouting`.

    A pair that differs is an outcome that disagrees, with a signature whose kind begins with the relation; what was
    found in detail is in `last`. Whoever searches and shrinks need not know that there are two builds."""

    def __init__(self, baseline: Pool, candidate: Pool, *, alike: Alike = Alike()) -> None:  # noqa: B008 (frozen)
        """alike: what both builds share: equal code is launched on a device, and an equal source IR compiled, unless
        nothing behind it can tell the builds apart."""
        self.baseline, self.candidate = baseline, candidate
        self._alike = alike
        self._changes = changes(baseline.options.watched)
        self._equal: dict[Stop, int] = {stop: number - 1 for stop, number in CONTROL.items()}
        """Pairs so far that were equal there; the first is a control."""
        self.last: PairOutcome | None = None
        """Of the case that ran last; None if one side refused it."""
        self._seen: dict[str, int] = {}
        """Keys of differences that came again each time, and how often they did."""
        self._timed: collections.Counter[str] = collections.Counter()
        """Cases of each target that ran against the clock."""
        self.shrinking = False
        """Whether the next case is a smaller form of the last one that differed when it was drawn."""
        self.scouting = False
        """Whether the baseline alone runs the next case first, and the candidate only if that reaches a change."""
        self._reached: set[int] = set()
        self._idle = 0
        """Cases so far whose statements that differ had no effect."""
        """Numbers of the changed functions that the present case ran on the baseline."""
        self._drawn = Relation.SAME
        """How that one differed."""

    @property
    def options(self) -> PoolOptions:
        return self.candidate.options

    @options.setter
    def options(self, options: PoolOptions) -> None:
        self.candidate.options = options
        own = self.baseline.options
        self.baseline.options = replace(options, build=own.build, cache_directory=own.cache_directory)

    @property
    def folder(self) -> Path:
        return self.candidate.folder

    @property
    def environment(self) -> Environment:
        """Of the candidate; both sides are started, the baseline first."""
        self.environments()
        return self.candidate.environment

    def environments(self) -> tuple[Environment, Environment]:
        """Of the baseline and of the candidate."""
        before = self.baseline.environment
        with _candidates():
            return before, self.candidate.environment

    @property
    def replacement_seconds(self) -> list[float]:
        return self.baseline.replacement_seconds + self.candidate.replacement_seconds

    @property
    def compile_seconds(self) -> float:
        return self.baseline.compile_seconds + self.candidate.compile_seconds

    def inputs(self, case: Case, subject: str = "own") -> Evidence:
        return self.candidate.inputs(case, subject)

    def execute(self, case: Case, subject: str, *, backend: str | None = None, want_inputs: bool = False,
                inputs_only: bool = False, compile_limit: float | None = None, until: float | None = None,
                observe: Observe | None = None) -> Outcome:
        """The outcome of the pair; as for `Pool.execute`. What one side refuses is refused."""
        self.last = None
        self._reached = set()
        if inputs_only:
            return self.candidate.execute(case, subject, backend=backend, inputs_only=True, until=until)

        longest = 0.0

        def one(pool: Pool, observe: Observe = PLAIN) -> tuple[Outcome, Observed | None]:
            nonlocal longest
            began, limit = time.monotonic(), compile_limit
            if pool is self.candidate and longest:
                limit = min(limit or math.inf, max(PATIENCE * longest, LEAST_PATIENCE))
            with _candidates() if pool is self.candidate else contextlib.nullcontext():
                outcome = pool.execute(case, subject, backend=backend, want_inputs=want_inputs, until=until,
                                       compile_limit=limit, observe=observe)
            if pool is self.baseline:
                longest = max(longest, time.monotonic() - began)
                self._reached.update(pool.reached)
            return outcome, pool.observed

        def fetch(chunks: Mapping[str, tuple[int, ...]]) -> tuple[Observed | None, Observed | None]:
            wanted = Observe(chunks=dict(chunks))
            return one(self.baseline, wanted)[1], one(self.candidate, wanted)[1]

        ran = None
        if self.scouting and not self.shrinking and not self._at_import():
            stop: Stop = next(self._stops(case, subject, backend), "")
            ran = one(self.baseline, Observe(stop=stop))
            if not with_effect(self._reached) and not ran[0].verdict.failed and not self._controls():
                raise Unreached
            ran = None if stop else ran
        compiling = self.baseline.compile_seconds, self.candidate.compile_seconds
        early = self._unlike(one) if self.shrinking and not want_inputs else None
        if early is not None:
            return early
        ahead = None
        for stop in self._stops(case, subject, backend):
            ahead = self._ahead(case, stop, one)
            if ahead is None:
                break
            if not ahead.launched:
                self.last = ahead = self._noted(ahead, compiling)
                return outcome_of(ahead, subject)
        before, first = ran or one(self.baseline)
        after, second = one(self.candidate)
        pair = relate(case, before, after, (first, second), fetch)
        if ahead is not None:
            pair = _with_what_was_compiled(pair, ahead)
        pair = self._noted(pair, compiling)
        key = f"{case.target} | {subject} | {pair.relation.value} | {pair.kind} | {pair.where}"
        if pair.relation.different and key not in self._seen:
            flaky = ""
            for side, pool, told in (("baseline", self.baseline, (before, first)),
                                     ("candidate", self.candidate, (after, second))):
                # Whoever waits for the end of one that hangs waits long.
                for _ in range(1 if after.verdict is Verdict.HANG else REPEATS[kind(backend or self.options.backend)]):
                    if not flaky and not _same(told, one(pool)):
                        flaky = side
            if flaky:
                pair = _flaky(pair, flaky, f"give the same twice: {pair.reason}")
            else:
                self._seen[key] = REPEATS[kind(backend or self.options.backend)]
        elif pair.code_changed and pair.versions[0] == pair.versions[1] and not pair.relation.different:
            pair = self._code_again(pair, ahead, one)
        if pair.relation.different:
            pair = msgspec.structs.replace(pair, repeated=self._seen.get(key, 0))
        elif self._to_time(pair):
            pair = msgspec.structs.replace(pair, run_time=run_times(
                functools.partial(one, self.baseline), functools.partial(one, self.candidate)))
            self._timed[case.target] += 1
        self.last = pair
        if not self.shrinking:
            self._drawn = pair.relation
        return outcome_of(pair, subject)

    def _to_time(self, pair: PairOutcome) -> bool:
        """Whether both kernels of a pair are to run against the clock: both are right, and not the same code."""
        return (pair.relation in (Relation.SAME, Relation.NUMERIC) and "ptx" in pair.code_changed
                and kind(pair.candidate.backend) == "cuda" and pair.candidate.verdict is Verdict.AGREE
                and not self.shrinking and self._timed[pair.case.target] < EACH and timeable(pair.case))

    def _unlike(self, one: Callable[[Pool], tuple[Outcome, Observed | None]]) -> Outcome | None:
        """What the side says that failed when the case was larger, if it does not fail now: the other side need not be
        asked, the difference is not there. None if it fails, and where both are wanted."""
        side = {Relation.REGRESSION: self.candidate, Relation.FIXED: self.baseline}.get(self._drawn)
        if side is None:
            return None
        outcome, seen = one(side)
        large = any(number > SHARED_BYTES.get(outcome.backend.partition(":")[2], number)
                    for name, number in (seen.resources if seen is not None else {}).items() if name == "shared")
        return outcome if outcome.verdict is Verdict.AGREE and not large else None

    def _code_again(self, pair: PairOutcome, ahead: PairOutcome | None,
                    one: Callable[[Pool, Observe], tuple[Outcome, Observed | None]]) -> PairOutcome:
        """Two builds of one version should make one code: a pair of which a side does not make its own again is
        flaky. Each kind of difference is looked at once for a target. ahead: what was compiled before the case ran."""
        key = f"{pair.case.target} | {pair.candidate.backend} | code | {' '.join(pair.code_changed)}"
        # A run launches more often than was compiled ahead: each is compared with what came about as it did.
        alone = ahead if ahead is not None and ahead.code_changed else None
        observed, wanted = (alone or pair).observed, Observe(stop="code" if alone else "", anew=True)
        if key in self._seen or observed is None:
            return pair
        times = ANSWERS_AGAIN if any(seen.answers for seen in observed) else CODE_AGAIN
        unsteady: dict[str, str] = {}
        for side, pool, seen in zip(("baseline", "candidate"), (self.baseline, self.candidate), observed, strict=True):
            for again in (one(pool, wanted)[1] for _ in range(times)):
                if again is not None:
                    unsteady |= {name: side for name in seen.answers.keys() | again.answers.keys()
                                 if seen.answers.get(name) != again.answers.get(name)}
                    if changed_code(_without(seen, unsteady), _without(again, unsteady)):
                        return _flaky(pair, side, "compile to the same code twice")
        # An answer that is another one each time (undefined memory was read) says nothing of the others.
        left = changed_code(*(_without(seen, unsteady) for seen in observed)) if unsteady else pair.code_changed
        if not left:
            return _flaky(pair, next(iter(unsteady.values())), "compile to the same code twice")
        self._seen[key] = 1
        return msgspec.structs.replace(pair, code_changed=left)

    def _controls(self) -> bool:
        """Whether a case whose statements that differ came to the same in both builds is a control of that claim."""
        if not with_statements(self._reached):
            return False
        self._idle += 1
        return self._idle % CONTROL_OF_IDLE == 1

    def _at_import(self) -> bool:
        """Whether all that differs ran when the baseline's worker imported Triton, so that no case runs it: what it did
        then may show in any."""
        return bool(self._changes) and {effect(one) for one in self._changes} <= set(self.baseline.imported)

    def _noted(self, pair: PairOutcome, compiling: tuple[float, float]) -> PairOutcome:
        """With the versions, and the seconds of compiling since both had taken so many."""
        before, after = (one.triton for one in self.environments())
        return msgspec.structs.replace(pair, versions=(before, after), reached=tuple(sorted(self._reached)), imported=(
            self.baseline.imported), compiling=(
            round(self.baseline.compile_seconds - compiling[0], 4),
            round(self.candidate.compile_seconds - compiling[1], 4)))

    def _stops(self, case: Case, subject: str, backend: str | None) -> Iterator[Stop]:
        """Where a pair may end early: at equal source IR if both builds are alike behind it; at equal code on a device,
        where both launch alike. For launches that do not depend on what earlier ones gave."""
        sort = kind(backend or self.options.backend)
        ahead_of_time = bool(case.arrays) and "+" not in subject and "compile" in find(case.target).backends
        if sort == "interpreter" or not ahead_of_time:
            return
        if self._alike.behind_source:
            yield "source"
        if self._alike.launch and sort == "cuda":
            yield "code"

    def _ahead(self, case: Case, stop: Stop, one: Callable[[Pool, Observe], tuple[Outcome, Observed | None]],
               ) -> PairOutcome | None:
        """What both make of the case's launches up to there, and whether that is all there is to do; None if one fails
        to."""
        (before, first), (after, second) = (one(pool, Observe(stop=stop)) for pool in (self.baseline, self.candidate))
        if before.verdict.failed or after.verdict.failed or first is None or second is None:
            return None
        equal = _LAST[stop] in first.code and first.code == second.code
        self._equal[stop] += equal
        control = equal and self._equal[stop] % CONTROL[stop] == 0
        return PairOutcome(
            case=case, relation=Relation.IDENTICAL_CODE, baseline=before, candidate=after, observed=(first, second),
            launched=not equal or control, control=control,
            # Other source IR may end in the same code, which is compared later.
            code_changed=changed_code(first, second) if stop == "code" else ())

    def marked(self, cells: set[str], thing: str = "") -> set[str]:
        """Coverage cells of the last case, as the campaign is to take them: what equal code reaches brings nothing.
        With a cell for each changed function that it ran; thing: what its target showed."""
        if self.last is None:
            return cells
        equal = self.last.relation is Relation.IDENTICAL_CODE
        return self.reached(thing) | ({EQUAL + cell for cell in cells} if equal else cells)

    def reached(self, thing: str) -> set[str]:
        """Cells for each change whose function the last case ran, for its statements, and for an effect of these.
        thing: what the case's target showed."""
        return {f"{REACHED}{mark}{number} {thing}" for mark, numbers in (
            (FUNCTION, {one for one in self._reached if one >= 0}), (IDLE, with_statements(self._reached)),
            ("", with_effect(self._reached))) for number in numbers}

    def close(self) -> None:
        """End the workers of both builds."""
        try:
            self.baseline.close()
        finally:
            self.candidate.close()


def _with_what_was_compiled(pair: PairOutcome, ahead: PairOutcome) -> PairOutcome:
    """A pair whose kernels were compiled before it ran: their number, cells and code are those of the compilation."""
    before, after = (
        msgspec.structs.replace(ran, compiled_kernels=ran.compiled_kernels + made.compiled_kernels,
                                cells=tuple(sorted({*ran.cells, *made.cells})))
        for ran, made in ((pair.baseline, ahead.baseline), (pair.candidate, ahead.candidate)))
    observed = pair.observed
    if ahead.code_changed and ahead.observed is not None and observed is not None:
        # What differs and what was seen belong together.
        first, second = (msgspec.structs.replace(ran, code=made.code) for ran, made in
                         zip(observed, ahead.observed, strict=True))
        observed = first, second
    return msgspec.structs.replace(pair, baseline=before, candidate=after, control=ahead.control, observed=observed,
                                   code_changed=ahead.code_changed or pair.code_changed)


def _flaky(pair: PairOutcome, side: str, lacks: str) -> PairOutcome:
    """A pair of which a side does not do what it should each time: what is apart of its code or answers says nothing
    either."""
    return msgspec.structs.replace(pair, relation=Relation.FLAKY, flaky=side, code_changed=(),
                                   reason=f"the {side} does not {lacks}"[:2000])


def _without(seen: Observed, names: Collection[str]) -> Observed:
    """What was observed, less these answers."""
    return msgspec.structs.replace(seen, answers={
        name: answer for name, answer in seen.answers.items() if name not in names})


def _same(one: tuple[Outcome, Observed | None], other: tuple[Outcome, Observed | None]) -> bool:
    """Whether two runs of one side gave the same."""
    (first, seen), (second, again) = one, other
    if (first.verdict, first.signature) != (second.verdict, second.signature):
        return False
    if seen is None or again is None:
        return seen is again
    return all(output.unordered or (name in again.outputs and output.chunks == again.outputs[name].chunks)
               for name, output in seen.outputs.items())


def outcome_of(pair: PairOutcome, subject: str) -> Outcome:
    """The outcome that stands for a pair."""
    before, after = pair.baseline, pair.candidate
    verdict = Verdict.AGREE
    signature = None
    if pair.relation.different:
        speaks = after.signature or before.signature
        verdict = Verdict.DISAGREE
        signature = Signature(target=after.target, subject=subject, verdict=verdict,
                              kind=f"{pair.relation.value}: {pair.kind}", where=pair.where,
                              about=speaks.about if speaks else "")
    elif pair.relation in (Relation.NOT_CHECKED, Relation.FLAKY):
        verdict = Verdict.NOT_CHECKED
    side = after if pair.relation is not Relation.FIXED else before
    return Outcome(
        case_digest=pair.case.digest, target=after.target, subject=subject, backend=after.backend, verdict=verdict,
        reason=pair.reason or (pair.relation.value if verdict is not Verdict.AGREE else ""), signature=signature,
        rows=after.rows if after.rows.judged else RowCounts(agree=before.rows.agree),
        failing_rows=side.failing_rows, evidence=side.evidence, launches=before.launches + after.launches,
        compiled_kernels=before.compiled_kernels + after.compiled_kernels, cells=after.cells,
        seconds=Seconds(materialise=before.seconds.materialise + after.seconds.materialise,
                        launch=before.seconds.launch + after.seconds.launch,
                        judge=before.seconds.judge + after.seconds.judge))

