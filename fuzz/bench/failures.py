"""Failures whose cause is known, each made small as a campaign makes its findings small.

Causes are the planted faults of targets, on the interpreter, and known issues, by their entries. A planted fault is a
cause of its own; its name is hidden in what is kept, or it would tell the cause.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.known.issues import all_issues, issue_of_entry
from tridiff.fuzz.records import Blame, Case, CorpusEntry, Evidence, Outcome, Verdict
from tridiff.fuzz.registry import find, select
from tridiff.fuzz.shrink.explicit import minimise
from tridiff.fuzz.target import Limits
from tridiff.fuzz.target.subjects import with_fault, without_fault

LIMITS = Limits(elements=1 << 8, rows=1 << 4)
"""Sizes of drawn cases: a handful of programs each."""

Run = Callable[[Case, str, str], Outcome]
"""Runs a case on a subject and a backend; TridiffError if it cannot be run."""

Inputs = Callable[[Case, str], Evidence]
"""The inputs of a case on a backend, nothing launched."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failing run. cause: what is known to be wrong. subject: as it was run, with its fault. drawn: the case as it
    was drawn. case, outcome: the smallest one found, and what it gave; `runs` were made to find it. issues: known
    issues that it is attributed to. blame: as a campaign stores it, where it was asked for."""

    cause: str
    subject: str
    drawn: str
    case: Case
    outcome: Outcome
    runs: int = 0
    issues: tuple[str, ...] = ()
    blame: Blame | None = None

    @property
    def told(self) -> Outcome:
        """What a campaign would see that does not know of the fault."""
        hidden = without_fault(self.subject)
        assert self.outcome.signature is not None
        signature = replace(self.outcome.signature, subject=hidden)
        return replace(self.outcome, subject=hidden, signature=signature)


class Laboratory:
    """Makes failures small. runs, seconds: at most, for one failure."""

    def __init__(self, run: Run, inputs: Inputs, *, runs: int, seconds: float) -> None:
        self.run, self._inputs, self._runs, self._seconds = run, inputs, runs, seconds
        self.slipped = 0
        """Failures whose smallest case fails without the fault as well; they are left out."""

    def instead(self, run: Run, inputs: Inputs) -> Laboratory:
        """One with the same budgets that runs something else."""
        return Laboratory(run, inputs, runs=self._runs, seconds=self._seconds)

    def outcome(self, case: Case, subject: str, backend: str) -> Outcome | None:
        """None for a case that cannot be run."""
        try:
            return self.run(case, subject, backend)
        except TridiffError:
            return None

    def failing(self, case: Case, subject: str, backend: str) -> Outcome | None:
        """The outcome of a case that fails, None for any other."""
        outcome = self.outcome(case, subject, backend)
        return outcome if outcome is not None and outcome.verdict.failed and outcome.signature is not None else None

    def agrees(self, case: Case, subject: str, backend: str) -> bool:
        """Whether the case is right on a subject."""
        outcome = self.outcome(case, subject, backend)
        return outcome is not None and outcome.verdict is Verdict.AGREE

    def small(self, case: Case, outcome: Outcome, *, cause: str) -> Failure:
        """The failure behind the case."""
        subject, backend, drawn = outcome.subject, outcome.backend, case.digest
        runs = 0
        if self._runs:
            shrunk = minimise(case, outcome, target=find(case.target), max_runs=self._runs, seconds=self._seconds,
                              run=lambda one: self.run(one, subject, backend),
                              inputs=lambda one: self._inputs(one, backend))
            case, outcome, runs = shrunk.case, shrunk.outcome, shrunk.runs
        failure = Failure(cause=cause, subject=subject, drawn=drawn, case=case, outcome=outcome, runs=runs)
        issues = Attribution(lambda relative: self.run(relative, subject, backend)).issues(case, failure.told)
        return replace(failure, issues=issues)


def of_faults(laboratory: Laboratory, *, targets: Sequence[str], each: int, draws: int, seed: int) -> Iterator[Failure]:
    """Failures of planted faults on the interpreter, at most `each` of one fault: cases that agree without it."""
    for target in select(tuple(targets)):
        if not target.faults.planted or "interpreter" not in target.backends:
            continue
        cases = draw_cases(target.name, LIMITS, draws, seed=seed)
        place = target.faults.shared_as or target.name
        right: dict[str, bool] = {}
        for fault in target.faults.planted:
            subject, failures = with_fault("own", fault), 0
            for case in cases:
                if failures == each:
                    break
                if not target.faults.affects(case, fault):
                    continue
                outcome = laboratory.failing(case, subject, "interpreter")
                if outcome is None:
                    continue
                if case.digest not in right:
                    right[case.digest] = laboratory.agrees(case, "own", "interpreter")
                if not right[case.digest]:
                    continue
                failures += 1
                found = laboratory.small(case, outcome, cause=f"{place} {fault}")
                if laboratory.agrees(found.case, "own", "interpreter"):
                    yield found
                else:
                    laboratory.slipped += 1


def of_issues(laboratory: Laboratory, entries: Iterable[CorpusEntry], backends: Sequence[str]) -> Iterator[Failure]:
    """Failures of the entries of known issues, as they are and with other warps and stages. What an entry shows that is
    none of its issue's (of a backend on which that does not show, or of another text) is left out."""
    for entry in entries:
        issue = issue_of_entry(entry.case.target, entry.id)
        where = {one.backend for one in entry.expected if one.verdict.failed} & set(backends)
        if not issue:
            continue
        for backend in sorted(where):
            # The interpreter knows neither warps nor stages.
            choices = [()] if kind(backend) == "interpreter" else itertools.product((1, 2, 4, 8), (1, 3))
            for choice in choices:
                options = dict(zip(("num_warps", "num_stages"), choice, strict=False))
                changed = replace(entry.case.options, **options)
                case = replace(entry.case, options=changed)
                outcome = laboratory.failing(case, entry.signature.subject, backend)
                if outcome is not None and any(
                        one.name == issue and one.shows_on(backend) and one.shows_as(outcome.signature)
                        for one in all_issues() if outcome.signature is not None):
                    yield laboratory.small(case, outcome, cause=f"issue {issue}")


def read(path: Path) -> list[Failure]:
    """Failures that were kept."""
    return [msgspec.json.decode(line, type=Failure) for line in path.read_bytes().splitlines()]


def kept(failures: Iterable[Failure], path: Path | None, *, seconds: float, most: int) -> Iterator[Failure]:
    """The failures until there are enough or the time is up, each added to a file, a line of JSON, once it is there."""
    end = time.monotonic() + seconds
    for one in itertools.islice(failures, most):
        if path is not None:
            with path.open("ab") as file:
                file.write(msgspec.json.encode(one) + b"\n")
        yield one
        if time.monotonic() > end:
            return
