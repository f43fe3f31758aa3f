"""Which known issue a failure belongs to, asked where campaigns and replays run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.records import Case, Outcome, Signature, Verdict

Execute = Callable[[Case], Outcome]
"""Runs a case on the subject and backend of the failure in question; TridiffError if it cannot be run."""


def cause(issue: str) -> str:
    """The finding that all failures of an issue are."""
    return f"issue {issue}"


def _names(issues: list[KnownIssue]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.name for one in issues))


def is_issue(finding: str) -> bool:
    """Whether a finding is a known issue."""
    return finding.startswith("issue ")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was found about one failure. possible: issues whose pattern the case has and that show as it fails; issues:
    those that it belongs to; refuted: those that it might have been, had not their relative failed as well."""

    possible: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    refuted: tuple[str, ...] = ()


class Attribution:
    """Attributes failures of one subject on one backend to known issues. Remembers what relatives gave.

    Use one per shard; `execute` is asked about relatives only, at most one more than there are issues for a failure.
    """

    def __init__(self, execute: Execute) -> None:
        self._execute = execute
        self._fails: dict[str, bool] = {}
        self.controls = 0
        """Relatives that were run."""
        self.last = Answer()
        """About the failure that was asked about last."""

    def issues(self, case: Case, outcome: Outcome) -> tuple[str, ...]:
        """Names of the issues that a failure belongs to: what every wrong element is predicted by, or, where nothing
        can be predicted, those without whose pattern the case does not fail. () for a failure that is none of them."""
        self.last = Answer()
        signature = outcome.signature
        if signature is None or not outcome.verdict.failed:
            return ()
        possible = [one for one in issues_of(case, outcome.subject)
                    if one.shows_on(outcome.backend) and one.shows_as(signature)]
        names, refuted = self._belongs(case, outcome, signature, possible)
        self.last = Answer(possible=_names(possible), issues=names, refuted=_names(refuted))
        return names

    def _belongs(self, case: Case, outcome: Outcome, signature: Signature,
                 possible: list[KnownIssue]) -> tuple[tuple[str, ...], list[KnownIssue]]:
        repaired = _names([one for one in possible if one.repair and one.name in outcome.explained_by])
        if repaired:
            return repaired, []
        possible = [one for one in possible if not one.repair]
        told = [one for one in possible if one.tells(signature)]
        if told:
            return self._controlled(case, told) if any(one.relative for one in told) else ((told[0].name,), [])
        explained = [one for one in possible if one.explains and one.name in outcome.explained_by]
        if explained and {one.name for one in explained} == set(outcome.explained_by):
            controlled = [one for one in explained if one.relative]
            return (outcome.explained_by, []) if not controlled or self._passes(case, controlled) else ((), controlled)
        return self._controlled(case, [one for one in possible if not one.explains])

    def _controlled(self, case: Case, possible: list[KnownIssue]) -> tuple[tuple[str, ...], list[KnownIssue]]:
        """The issues of which the case must be rid of not to fail, the first one that suffices alone if one does; and
        those that are refuted."""
        possible = [one for one in possible if one.relative]
        if not possible:
            return (), []
        if not self._passes(case, possible):
            return (), possible
        if len(possible) > 1:
            alone = next((one for one in possible if self._passes(case, [one])), None)
            if alone is not None:
                return (alone.name,), []
        return _names(possible), []

    def _passes(self, case: Case, rid_of: list[KnownIssue]) -> bool:
        """Whether the case agrees once it is rid of the patterns. One that cannot be is no control: False."""
        relative: Case | None = case
        for one in rid_of:
            if relative is not None and one.match(relative):
                assert one.relative is not None
                relative = one.relative(relative)
        if relative is None or relative == case:
            return False
        if relative.digest not in self._fails:
            self.controls += 1
            try:
                outcome = self._execute(relative)
                # What is left of other issues, to the element, is none of this one.
                self._fails[relative.digest] = outcome.verdict is not Verdict.AGREE and not outcome.explained_by
            except TridiffError:
                self._fails[relative.digest] = True
        return not self._fails[relative.digest]
