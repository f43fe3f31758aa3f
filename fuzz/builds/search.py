"""k of n: search for the first bad build among some in order."""

from collections.abc import Callable
from dataclasses import dataclass, field

RUNS = 3
"""Runs of each build; one that fails in some and not in others is unclear, and more are made."""

MOST_RUNS = 9


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One build under test. fails: runs the case once. close: ends its processes."""

    fails: Callable[[], bool]
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True, kw_only=True)
class FirstBad:
    """first_bad, last_good: neighbours in the order; first_good: where the first is bad and the last is good, the build
    from which on it is right. "" where there is none. problem: why nothing was found. runs: by build, "failed/made"."""

    first_bad: str = ""
    last_good: str = ""
    first_good: str = ""
    problem: str = ""
    runs: dict[str, str] = field(default_factory=dict)


def first_bad(builds: tuple[str, ...], judge: Callable[[str], Judge]) -> FirstBad:
    """Bisect. Before that both ends are tried: the first must be good and the last bad, or the other way round."""
    runs: dict[str, str] = {}

    def bad(build: str) -> bool | None:
        one = judge(build)
        failed = made = 0
        try:
            while made < RUNS or (0 < failed < made and made < MOST_RUNS):
                failed += one.fails()
                made += 1
        finally:
            one.close()
        runs[build] = f"{failed}/{made}"
        return None if made == MOST_RUNS and abs(2 * failed - made) <= 1 else 2 * failed > made

    if len(builds) < 2:
        return FirstBad(problem="there are not two builds to choose between")
    low, high = 0, len(builds) - 1
    start, end = bad(builds[low]), bad(builds[high])
    if start is None or end is None:
        return FirstBad(problem=f"{builds[low if start is None else high]} fails now and then", runs=runs)
    if start is end:
        return FirstBad(problem="both ends fail" if start else "neither end fails: it does not come here", runs=runs)
    while high - low > 1:
        middle = (low + high) // 2
        found = bad(builds[middle])
        if found is None:
            return FirstBad(problem=f"{builds[middle]} fails now and then", runs=runs)
        low, high = (middle, high) if found is start else (low, middle)
    if start:
        return FirstBad(first_good=builds[high], runs=runs)
    return FirstBad(first_bad=builds[high], last_good=builds[low], runs=runs)
