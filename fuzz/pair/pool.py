"""Workers of two builds as one pool: a case goes to both, and its outcome is how the two stand to each other."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from tridiff.fuzz.pair.relate import relate
from tridiff.fuzz.records import Case, Environment, Evidence, Outcome, RowCounts, Seconds, Signature, Verdict
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.records.pair import PairOutcome, Relation
from tridiff.fuzz.workers.pool import Pool, PoolOptions

REPEATS = 4
"""How often each side runs again when a difference turns up that was not seen before."""


class PairPool:
    """What a `Pool` is to one build: `execute` runs a case on both and returns an outcome for the pair.

    A pair that differs is an outcome that disagrees, with a signature whose kind begins with the relation; what was
    found in detail is in `last`. Whoever searches and shrinks need not know that there are two builds."""

    def __init__(self, baseline: Pool, candidate: Pool) -> None:
        self.baseline, self.candidate = baseline, candidate
        self.last: PairOutcome | None = None
        """Of the case that ran last; None if one side refused it."""
        self._seen: set[str] = set()
        """Keys of differences that came again each time."""

    @property
    def options(self) -> PoolOptions:
        return self.candidate.options

    @options.setter
    def options(self, options: PoolOptions) -> None:
        self.candidate.options = options
        self.baseline.options = replace(options, build=self.baseline.options.build)

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
        return self.baseline.environment, self.candidate.environment

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
        if inputs_only:
            return self.candidate.execute(case, subject, backend=backend, inputs_only=True, until=until)

        def one(pool: Pool, chunks: Mapping[str, tuple[int, ...]] | None = None) -> tuple[Outcome, Observed | None]:
            outcome = pool.execute(case, subject, backend=backend, want_inputs=want_inputs, until=until,
                                   compile_limit=compile_limit, observe=Observe(chunks=dict(chunks or {})))
            return outcome, pool.observed

        def fetch(chunks: Mapping[str, tuple[int, ...]]) -> tuple[Observed | None, Observed | None]:
            return one(self.baseline, chunks)[1], one(self.candidate, chunks)[1]

        before, first = one(self.baseline)
        after, second = one(self.candidate)
        pair = relate(case, before, after, (first, second), fetch)
        key = f"{case.target} | {subject} | {pair.relation.value} | {pair.kind} | {pair.where}"
        if pair.relation.different and key not in self._seen:
            flaky = ""
            for side, pool, told in (("baseline", self.baseline, (before, first)),
                                     ("candidate", self.candidate, (after, second))):
                for _ in range(REPEATS):
                    if not flaky and not _same(told, one(pool)):
                        flaky = side
            if flaky:
                pair = msgspec.structs.replace(pair, relation=Relation.FLAKY, flaky=flaky, reason=(
                    f"the {flaky} does not give the same twice: {pair.reason}")[:2000])
            else:
                self._seen.add(key)
        before_version, after_version = (one.triton for one in self.environments())
        self.last = pair = msgspec.structs.replace(pair, versions=(before_version, after_version))
        return outcome_of(pair, subject)

    def close(self) -> None:
        """End the workers of both builds."""
        try:
            self.baseline.close()
        finally:
            self.candidate.close()


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

