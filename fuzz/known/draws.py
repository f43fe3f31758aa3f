"""Cases drawn from a target's strategy, outside a campaign."""

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity

from tridiff.fuzz.known import avoiding
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits


def draw_cases(target: str, limits: Limits, number: int, *, seed: int = 1, subject: str = "own") -> list[Case]:
    """About `number` cases, the same for the same seed and limits. subject: whose known issues are kept clear of, if
    `limits.avoid` names any."""
    found: list[Case] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=number, database=None, deadline=None, phases=[Phase.generate],
                         backend=BACKEND, verbosity=Verbosity.quiet, suppress_health_check=list(HealthCheck))
    @hypothesis.given(avoiding.cases(find(target), limits, subject=subject))
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found
