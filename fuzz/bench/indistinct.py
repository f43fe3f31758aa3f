"""Which two failures of two planted faults nothing tells apart: each fault gives the same outputs on the other's case.

Whoever has the two cases then has one finding, whatever it is told by: one repair of either kernel is all that could
tell of two. Such pairs are counted on their own, beside those that are put together wrongly.
"""

import re
from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.bench.failures import Failure
from tridiff.fuzz.records import Case, Outcome
from tridiff.fuzz.registry import find
from tridiff.fuzz.target.subjects import fault_of

_PLACE = re.compile(r"^.*?, program \(")
"""The line of a kernel, which differs between two faulty ones."""

Ask = Callable[[Case, str, str], Outcome | None]
"""The outcome of a case on a subject and a backend; None if it cannot be run."""

Shown = tuple[object, ...]


class Indistinct:
    """Asks by running, each case once on each fault."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._shown: dict[tuple[str, str], Shown] = {}

    def __call__(self, one: Failure, other: Failure) -> bool:
        """Whether each fault fails on the other's case as the other does."""
        if one.place != other.place or not one.place:
            return False
        return self._as(one, other) and self._as(other, one)

    def _as(self, failure: Failure, other: Failure) -> bool:
        # Of targets that share what faults are planted in, each has its own of them.
        case = failure.case
        if fault_of(other.subject) not in find(case.target).faults.planted:
            case = replace(case, target=other.case.target)
            target = find(case.target)
            if fault_of(other.subject) not in target.faults.planted or not target.draw.valid(case):
                return False
        return self._of(case, other.subject, failure.outcome.backend) == shown(failure.outcome)

    def _of(self, case: Case, subject: str, backend: str) -> Shown:
        key = (case.digest, subject)
        if key not in self._shown:
            outcome = self._ask(case, subject, backend)
            self._shown[key] = () if outcome is None else shown(outcome)
        return self._shown[key]


def shown(outcome: Outcome) -> Shown:
    """All that one run shows, without the subject's name and its kernel's line; () of a case that does not fail."""
    if not outcome.verdict.failed or outcome.signature is None:
        return ()
    told, evidence = outcome.signature, outcome.evidence
    values = None if evidence is None else tuple(sorted(evidence.actual.items()))
    return told.verdict, told.kind, told.where, _PLACE.sub("", outcome.reason), outcome.failing_rows, values
