"""How long a kernel runs on two builds: launches of both in turn, so that a clock that drifts drifts for both."""

import statistics
from collections.abc import Callable

from tridiff.fuzz.records import Case, Outcome
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.records.pair import RunTime
from tridiff.fuzz.registry import find

ROUNDS = 5
"""Turns that each build has."""

LAUNCHES = 5
"""Launches in one turn, of which the median counts."""

SHORTEST = 20e-6
"""Seconds below which a kernel says more about its launch than about its code."""

EACH = 2
"""Cases of one target that are timed by one pool."""

One = Callable[[Observe], tuple[Outcome, Observed | None]]


def timeable(case: Case) -> bool:
    """Whether launches of a case can be repeated on the arrays that one left behind: nothing is cleared between them,
    and no program waits for another."""
    target = find(case.target)
    return bool(case.arrays) and not target.run.written and not target.run.waiting_programs(case)


def run_times(baseline: One, candidate: One) -> RunTime | None:
    """Time both, in turn; None for a kernel that is too short, or that one side cannot time."""
    turns: tuple[list[float], list[float]] = [], []
    for _ in range(ROUNDS):
        for found, one in zip(turns, (baseline, candidate), strict=True):
            _, seen = one(Observe(timed=LAUNCHES))
            if seen is None or not seen.seconds:
                return None
            found.append(statistics.median(seen.seconds))
            if found[0] < SHORTEST:
                return None
    return of_turns(*turns)


def of_turns(before: list[float], after: list[float]) -> RunTime:
    """Medians of the turns, and how far the turns of the less steady build lie apart."""
    middle = statistics.median(before), statistics.median(after)
    spread = max((max(turns) - min(turns)) / median for turns, median in zip((before, after), middle, strict=True))
    return RunTime(baseline=middle[0], candidate=middle[1], spread=round(spread, 4))
