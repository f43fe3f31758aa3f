"""Draws that mostly keep clear of what was seen to fail, so that a search has time for what was not."""

from collections.abc import Callable

from hypothesis import strategies as st

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Limits, Target
from tridiff.fuzz.target.subjects import without_fault

_UNAVOIDED = 50
"""One draw in so many keeps a pattern that is avoided, ..."""

_UNREACHED = 2
"""... and one of so many where the case alone reaches a cell at which draws are aimed: a cell of which no case can be
judged has a reason only if cases of it ran, and then nothing is aimed at it any more."""


def cases(target: Target, limits: Limits, *, subject: str) -> st.SearchStrategy[Case]:
    """What a target draws within the limits; of a case that has the pattern of an issue which `limits.avoid` names, on
    a subject that has the defect, mostly what the issue has drawn instead. Issues that have nothing are drawn as ever.

    The same draws come of the same seed and limits, and with nothing to avoid they are the target's own.
    """
    avoided = tuple(one for one in all_issues() if one.name in limits.avoid and (one.instead or one.relative))
    if not avoided:
        return target.draw.cases(limits)
    return _clear(target, limits, without_fault(subject), avoided)


def series(target: Target, limits: Limits, *, subject: str, number: int) -> st.SearchStrategy[tuple[Case, ...]]:
    """What `cases` draws, followed by the same with other values (`Draw.again`): up to `number` cases in all, none of
    them twice, and but for the first none that has a pattern which is avoided."""
    drawn = cases(target, limits, subject=subject)
    if number == 1 or target.draw.again is None:
        return drawn.map(lambda case: (case,))
    avoided = tuple(one for one in all_issues() if one.name in limits.avoid)
    return _series(drawn, target.draw.again, number, lambda case: not any(
        one.concerns(case, without_fault(subject)) for one in avoided))


@st.composite
def _series(draw: st.DrawFn, drawn: st.SearchStrategy[Case], again: Callable[[Case], st.SearchStrategy[Case]],
            number: int, clear: Callable[[Case], bool]) -> tuple[Case, ...]:
    found = [draw(drawn)]
    for _ in range(number - 1):
        other = draw(again(found[0]))
        found += [other] if other not in found and clear(other) else []
    return tuple(found)


@st.composite
def _clear(draw: st.DrawFn, target: Target, limits: Limits, subject: str, avoided: tuple[KnownIssue, ...]) -> Case:
    case = draw(target.draw.cases(limits))
    clear = clear_of(case, target, subject, avoided, choose=lambda count: draw(st.integers(0, count - 1)))
    if clear == case or not limits.aims:
        return clear
    lost = {*target.coverage.cells(case)}.difference(target.coverage.cells(clear))
    alone = any(cell in lost for cell, _ in limits.aims)
    return case if alone and draw(st.integers(0, _UNREACHED - 1)) else clear


def clear_of(case: Case, target: Target, subject: str, avoided: tuple[KnownIssue, ...], *,
             choose: Callable[[int], int]) -> Case:
    """The case, or its nearest legal relative without the patterns that are to be avoided; with each of them once in
    fifty choices. choose(n): a number from 0 to n - 1, 0 being what shrinking prefers."""
    for issue in avoided:
        if issue.concerns(case, subject) and choose(_UNAVOIDED) != _UNAVOIDED - 1:
            without = issue.instead or issue.relative
            assert without is not None
            relative = without(case)
            if relative is not None and target.draw.valid(relative):
                case = relative
    return case
