"""Which known issue a failure belongs to, asked where campaigns and replays run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.issue import ASTRAY, KnownIssue
from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.records import Case, Outcome, Signature, Verdict
from tridiff.fuzz.records.outcome import ALL_OPEN

_DEEPEST = 2
"""How many relatives of relatives are looked at: a case has rarely more than three defects."""
_NO_DEEPER = _DEEPEST + 1
NOT_EVALUATED = "not evaluated: "
"""How the reason begins why the evaluator gives no values of a kernel that compiles."""
_REGISTERS = "ptxas needs more registers"
"""How the reason begins why a kernel is not checked that compiles up to there."""
_OF_NO_VALUE = ("another_type", "another_shape", "TypeError:", "AttributeError:", "BlockTruthValue", "out_of_bounds",
                "ValueError: Cannot perform a binary operation between ", *ASTRAY)
"""How kinds of failure begin that are seen before any value is, that Python raises whatever the values are, or that are
seen of places in memory."""
Execute = Callable[[Case], Outcome]
"""Runs a case on the subject and backend of the failure in question; TridiffError if it cannot be run."""


def cause(issue: str) -> str:
    """The finding that all failures of an issue are."""
    return f"issue {issue}"


def _names(issues: list[KnownIssue]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.name for one in issues))


def _possible(case: Case, outcome: Outcome, signature: Signature) -> list[KnownIssue]:
    """The issues whose pattern a case has, and that may show as it fails."""
    return [one for one in issues_of(case, outcome.subject)
            if one.shows_on(outcome.backend) and one.shows_as(signature)]


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

    Use one per shard; `execute` is asked about relatives only: for a failure at most one more than twice the number of
    its possible issues, and as many again for a relative that fails in another way. shows: whether an issue, by its
    name, fails on this build; where each of several would do alone, it is the first that does. What is predicted by one
    that does not, or told by its errors, is asked of those that do (as many relatives again): it is one of
    them if one accounts for it.
    """

    def __init__(self, execute: Execute, *, shows: Callable[[str], bool] | None = None) -> None:
        self._execute = execute
        self._shows = shows
        self._fails: dict[tuple[str, bool, tuple[str, ...], frozenset[str]], bool] = {}
        self._left_out: frozenset[str] = frozenset()
        """The issues, by their names, to which nothing belongs just now."""
        self._of_a_hang = False
        self._enough: tuple[str, ...] = ()
        """How reasons begin why a relative is not checked that controls a failure of no value all the same."""
        self.controls = 0
        """Changes that were run."""
        self.last = Answer()
        """About the failure that was asked about last."""

    def issues(self, case: Case, outcome: Outcome) -> tuple[str, ...]:
        """Names of the issues that a failure belongs to: what every wrong element is predicted by, or, where nothing
        can be predicted, those without whose pattern the case does not fail. () for a failure that is none of them."""
        self.last = Answer()
        signature = outcome.signature
        if signature is None or not outcome.verdict.failed:
            return ()
        self._of_a_hang = outcome.verdict is Verdict.HANG
        self._enough = (ALL_OPEN, NOT_EVALUATED, *((_REGISTERS,) if outcome.verdict is Verdict.COMPILE_ERROR else ()))
        possible = _possible(case, outcome, signature)
        names, refuted = self._belongs(case, outcome, signature, possible, 0)
        self.last = Answer(possible=_names(possible), issues=names, refuted=_names(refuted))
        return names

    def _belongs(self, case: Case, outcome: Outcome, signature: Signature, possible: list[KnownIssue],
                 depth: int) -> tuple[tuple[str, ...], list[KnownIssue]]:
        values = outcome.verdict not in (Verdict.COMPILE_ERROR, Verdict.HANG) and not (
            signature.kind.startswith(_OF_NO_VALUE))
        repaired = _names([one for one in possible if one.repair and one.name in outcome.explained_by])
        if repaired:
            return repaired, []
        possible = [one for one in possible if not one.repair]
        told = [one for one in possible if one.tells(signature)]
        explained = [one for one in possible if one.explains and one.name in outcome.explained_by]
        refuted: list[KnownIssue] = []
        if told:
            names, refuted = self._controlled(case, told, depth, values)
            uncontrolled = self._likeliest(one.name for one in told if not one.relative)
            if uncontrolled and not names:
                names = (uncontrolled,)
        elif explained and {one.name for one in explained} == set(outcome.explained_by):
            controlled = [one for one in explained if one.relative]
            passes = not controlled or self._passes(case, controlled, depth, values)
            names, refuted = (outcome.explained_by, []) if passes else ((), controlled)
        else:
            return self._controlled(case, [one for one in possible if not one.explains], depth, values)
        absent = {one.name for one in possible if one.name in names and not self._likely(one)}
        if absent:
            live = [one for one in possible if one.name not in absent and self._likely(one)]
            names = self._instead(absent, case, outcome, signature, live, depth, values) or names
        return names, refuted

    def _instead(self, absent: set[str], case: Case, outcome: Outcome, signature: Signature, live: list[KnownIssue],
                 depth: int, values: bool) -> tuple[str, ...]:
        """Of issues that fail on this build, those to which a failure belongs that seemed one of `absent`, which do
        not: one that predicts it or is told by it as well, else those without whose pattern nothing is left, of the
        absent ones neither. () if the failure is theirs."""
        outer, self._left_out = self._left_out, self._left_out | absent
        try:
            for one in live:
                if (one.name in outcome.explained_too or one.tells(signature)) and (
                        not one.relative or self._passes(case, [one], depth, values)):
                    return (one.name,)
            return self._controlled(case, [one for one in live if not one.explains], depth, values)[0]
        finally:
            self._left_out = outer

    def _controlled(self, case: Case, possible: list[KnownIssue], depth: int,
                    values: bool) -> tuple[tuple[str, ...], list[KnownIssue]]:
        """The issues of which the case must be rid not to fail, one that suffices alone if one does, else without those
        that need not be among them; and those that are refuted. One of which it cannot be rid is none of them."""
        possible = [one for one in possible if one.relative and one.relative(case) is not None]
        if not possible:
            return (), []
        rid_of_all = self._passes(case, possible, depth, values)
        if len(possible) > 1:
            # Alone also where the relative without all of them fails: what one change makes right, several may break.
            alone = self._likeliest(
                one.name for one in possible if self._passes(case, [one], _NO_DEEPER, values))
            if alone:
                return (alone,), []
        if not rid_of_all:
            return (), possible
        needed = possible
        # Those that do not fail on this build first: they are the last to be needed.
        for one in sorted(possible, key=self._likely) if len(possible) > 1 else ():
            fewer = [other for other in needed if other is not one]
            if fewer and self._passes_without(one, case, fewer, depth, values):
                needed = fewer
        return _names(needed), []

    def _likely(self, issue: KnownIssue) -> bool:
        """Whether an issue fails on this build, as far as anybody can say."""
        return self._shows is None or self._shows(issue.name)

    def _likeliest(self, names: Iterator[str]) -> str:
        """The first of them that fails on this build, else the first; "" of none."""
        first = next(names, "")
        if not first or self._shows is None or self._shows(first):
            return first
        return next(filter(self._shows, names), first)

    def _passes(self, case: Case, rid_of: list[KnownIssue], depth: int, values: bool) -> bool:
        """Whether the case agrees once it is rid of the patterns, or fails in another way that belongs to other issues.
        One that cannot be rid of them is no control: False. Of a failure that has nothing to do with `values`, one that
        compiles and runs is a control even where the contract leaves all that it computes open, and one that compiles
        even where it cannot be evaluated."""
        relative: Case | None = case
        for one in rid_of:
            if relative is not None and one.within(relative):
                assert one.relative is not None
                relative = one.relative(relative)
        if relative is None or relative == case:
            return False
        key = relative.digest, depth > _DEEPEST, () if values else self._enough, self._left_out
        if key not in self._fails:
            self.controls += 1
            try:
                outcome = self._execute(relative)
                if self._says_nothing(outcome):
                    outcome = self._execute(relative)
                # What is left of other issues, to the element or by a control of its own, is none of this one.
                self._fails[key] = not (
                    outcome.verdict is Verdict.AGREE or self._predicted(outcome)
                    or (not values and outcome.verdict is Verdict.NOT_CHECKED
                        and outcome.reason.startswith(self._enough))
                    or self._belongs_to_others(relative, outcome, rid_of, depth + 1))
            except TridiffError:
                self._fails[key] = True
        return not self._fails[key]

    def _passes_without(self, issue: KnownIssue, case: Case, rid_of: list[KnownIssue], depth: int,
                        values: bool) -> bool:
        """Whether the case passes once it is rid of the others, though nothing that is left may belong to the issue."""
        outer, self._left_out = self._left_out, self._left_out | {issue.name}
        try:
            return self._passes(case, rid_of, depth, values)
        finally:
            self._left_out = outer

    def _says_nothing(self, outcome: Outcome) -> bool:
        """Whether a relative met a time limit or lost its worker, as it may on a busy machine: it is run once more."""
        if outcome.verdict is Verdict.HANG:
            return not self._of_a_hang
        return outcome.verdict is Verdict.NOT_CHECKED and not outcome.reason.startswith(self._enough)

    def _predicted(self, outcome: Outcome) -> bool:
        """Whether issues predict all that is wrong of a relative, to which something may belong just now."""
        ways = outcome.explained_by, *((name,) for name in outcome.explained_too)
        return any(way and self._left_out.isdisjoint(way) for way in ways)

    def _belongs_to_others(self, relative: Case, outcome: Outcome, rid_of: list[KnownIssue], depth: int) -> bool:
        signature = outcome.signature
        if signature is None or not outcome.verdict.failed or depth > _DEEPEST:
            return False
        others = [one for one in _possible(relative, outcome, signature)
                  if one not in rid_of and one.name not in self._left_out]
        return bool(self._belongs(relative, outcome, signature, others, depth)[0])
