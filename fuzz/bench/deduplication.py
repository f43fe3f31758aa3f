"""Are failures of one cause put together, and those of two causes apart? Measured on failures whose cause is known.

    python -m tridiff.fuzz.bench.deduplication --failures 1000 --seconds 300 --json

Causes are the planted faults of targets (the subject's name is hidden first, or it would tell the cause) and known
issues, by their entries under several options. A failure's finding is what a campaign makes of it: the known issues
that it is attributed to, else its signature's key (`fuzz.corpus.cause`). Nothing is shrunk and nothing is blamed, so
that this is the least that a campaign tells apart.

Every pair of failures counts. Precision: of the pairs that were put together, how many have one cause. Recall: of the
pairs that have one cause, how many were put together. Pairs of two faults of one target are told of on their own: they
are two wrong lines in one kernel, and a signature holds what came out wrong and not which line did it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.bench.draws import draw_cases
from tridiff.fuzz.corpus.cause import findings_of
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.known.issues import issue_of_entry
from tridiff.fuzz.records import Case, CorpusEntry, Outcome, Verdict
from tridiff.fuzz.registry import select
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.pool import Pool, PoolOptions

LIMITS = Limits(elements=1 << 8, rows=1 << 4)
"""Sizes of drawn cases: a handful of programs each."""

Run = Callable[[Case, str, str], Outcome]
"""Runs a case on a subject and a backend; TridiffError if it cannot be run."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failing run. cause: what is known to be wrong. place: the kernel that the cause lies in, where causes of one
    kernel are told apart by what comes out alone; "" otherwise. finding: what a campaign would file it under."""

    cause: str
    finding: str
    place: str = ""


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of failures. together: put under one finding; alike: of one cause; both: of these, both. near: pairs that
    were put together and are of two causes in one place."""

    failures: int
    causes: int
    findings: int
    together: int
    alike: int
    both: int
    near: int

    @property
    def precision(self) -> float:
        """1 where nothing was put together."""
        return self.both / self.together if self.together else 1.0

    @property
    def precision_of_places(self) -> float:
        """Without pairs of two causes in one place."""
        return self.both / (self.together - self.near) if self.together > self.near else 1.0

    @property
    def recall(self) -> float:
        """1 where no two failures have one cause."""
        return self.both / self.alike if self.alike else 1.0


def scored(failures: Sequence[Failure]) -> Scores:
    """The pairs of these failures."""
    def pairs(keys: Iterable[tuple[str, ...]]) -> int:
        return sum(number * (number - 1) // 2 for number in Counter(keys).values())

    together = pairs((one.finding,) for one in failures)
    both = pairs((one.finding, one.cause) for one in failures)
    placed = [one for one in failures if one.place]
    near = pairs((one.finding, one.place) for one in placed) - pairs(
        (one.finding, one.place, one.cause) for one in placed)
    return Scores(failures=len(failures), causes=len({one.cause for one in failures}),
                  findings=len({one.finding for one in failures}), together=together,
                  alike=pairs((one.cause,) for one in failures), both=both, near=near)


def found(outcome: Outcome, case: Case, run: Run, subject: str, backend: str) -> str:
    """The finding of a failure, the name of a planted fault hidden."""
    hidden = subject.partition("+fault:")[0]
    signature = outcome.signature
    assert signature is not None
    signature = msgspec.structs.replace(signature, subject=hidden)
    told = msgspec.structs.replace(outcome, subject=hidden, signature=signature)
    issues = Attribution(lambda relative: run(relative, subject, backend)).issues(case, told)
    return findings_of(signature, issues)[0]


def of_faults(run: Run, *, targets: Sequence[str], each: int, draws: int, seed: int) -> Iterator[Failure]:
    """Failures of planted faults on the interpreter, at most `each` of one fault: cases that agree without it."""
    for target in select(tuple(targets)):
        if not target.faults.planted or "interpreter" not in target.backends:
            continue
        cases = draw_cases(target.name, LIMITS, draws, seed=seed)
        right: dict[str, bool] = {}
        for fault in target.faults.planted:
            place = target.faults.shared_as or target.name
            failures = 0
            for case in cases:
                if failures == each:
                    break
                if not target.faults.affects(case, fault):
                    continue
                outcome = _outcome(run, case, f"own+fault:{fault}", "interpreter")
                if outcome is None or not outcome.verdict.failed or outcome.signature is None:
                    continue
                if case.digest not in right:
                    control = _outcome(run, case, "own", "interpreter")
                    right[case.digest] = control is not None and control.verdict is Verdict.AGREE
                if right[case.digest]:
                    failures += 1
                    yield Failure(cause=f"{place} {fault}", place=place, finding=found(
                        outcome, case, run, f"own+fault:{fault}", "interpreter"))


def of_issues(run: Run, entries: Iterable[CorpusEntry], backends: Sequence[str]) -> Iterator[Failure]:
    """Failures of the entries of known issues, as they are and with other warps and stages."""
    for entry in entries:
        issue = issue_of_entry(entry.case.target, entry.id)
        where = {one.backend for one in entry.expected if one.verdict.failed} & set(backends)
        if not issue or not where:
            continue
        subject = entry.signature.subject
        for backend in sorted(where):
            # The interpreter knows neither warps nor stages.
            choices = [()] if kind(backend) == "interpreter" else itertools.product((1, 2, 4, 8), (1, 3))
            for choice in choices:
                options = dict(zip(("num_warps", "num_stages"), choice, strict=False))
                changed = msgspec.structs.replace(entry.case.options, **options)
                case = msgspec.structs.replace(entry.case, options=changed)
                outcome = _outcome(run, case, subject, backend)
                if outcome is not None and outcome.verdict.failed and outcome.signature is not None:
                    yield Failure(cause=f"issue {issue}", finding=found(outcome, case, run, subject, backend))


def _outcome(run: Run, case: Case, subject: str, backend: str) -> Outcome | None:
    try:
        return run(case, subject, backend)
    except TridiffError:
        return None


def told(scores: Scores) -> dict[str, float]:
    """The figures, by name."""
    shares = {"precision": scores.precision, "precision_of_places": scores.precision_of_places,
              "recall": scores.recall}
    return {**msgspec.to_builtins(scores), **{name: round(share, 4) for name, share in shares.items()}}


def read(path: Path) -> list[Failure]:
    """Failures that were kept."""
    return [msgspec.json.decode(line, type=Failure) for line in path.read_bytes().splitlines()]


def main() -> None:
    """Collect failures until there are enough or the time is up, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--failures", type=int, default=1000, help="how many are enough")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--each", type=int, default=15, help="failures of one planted fault at the most")
    parser.add_argument("--draws", type=int, default=40, help="cases drawn for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=Path("corpus"))
    parser.add_argument("--backends", nargs="*", default=["interpreter", "compile:sm_90"])
    parser.add_argument("--part", choices=("both", "issues", "faults"), default="both")
    parser.add_argument("--keep", type=Path, help="add failures to this file, a line of JSON each, and go on from it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("targets", nargs="*", help="names or globs; default all")
    given = parser.parse_args()
    pools: dict[str, Pool] = {}

    def run(case: Case, subject: str, backend: str) -> Outcome:
        family = kind(backend)
        if family not in pools:
            pools[family] = Pool(PoolOptions(backend=backend))
        return pools[family].execute(case, subject, backend=backend)

    entries = [one for one in Corpus(given.corpus).entries() if isinstance(one, CorpusEntry)]
    failures = read(given.keep) if given.keep is not None and given.keep.exists() else []
    before = len(failures)
    began = time.monotonic()
    try:
        parts = {"issues": of_issues(run, entries, given.backends),
                 "faults": of_faults(run, targets=given.targets, each=given.each, draws=given.draws, seed=given.seed)}
        for one in itertools.chain.from_iterable(
                part for name, part in parts.items() if given.part in ("both", name)):
            failures.append(one)
            if len(failures) >= given.failures or time.monotonic() - began > given.seconds:
                break
    finally:
        for pool in pools.values():
            pool.close()
    if given.keep is not None:
        with given.keep.open("ab") as file:
            file.write(b"".join(msgspec.json.encode(one) + b"\n" for one in failures[before:]))
    figures = told(scored(failures))
    print(json.dumps(figures) if given.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
