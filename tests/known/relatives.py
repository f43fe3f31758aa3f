"""What each known issue with a relative is asked: whether it is one, and whether it decides whose a failure is."""

from msgspec.structs import replace

from tridiff.fuzz.known import KnownIssue
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.registry import find


def relative_of(issue: KnownIssue, case: Case) -> Case:
    """The relative of a case that has the pattern of an issue: a legal case of its target, without the pattern."""
    assert issue.match(case) and issue.relative is not None
    relative = issue.relative(case)
    assert relative is not None and find(relative.target).draw.valid(relative) and not issue.match(relative)
    return relative


def is_told_by_its_control(issue: str, case: Case, failure: Outcome) -> Outcome:
    """A failure is the issue's where the relative agrees, and nobody's where it fails alike. How it agrees."""
    right = replace(failure, verdict=Verdict.AGREE, signature=None)
    assert Attribution(lambda one: right).issues(case, failure) == (issue,)
    assert Attribution(lambda one: failure).issues(case, failure) == ()
    return right
