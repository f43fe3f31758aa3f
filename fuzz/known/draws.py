"""Cases drawn from a target's strategy, outside a campaign."""

from typing import TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.strategies import SearchStrategy

from tridiff.fuzz.known import avoiding
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits

T = TypeVar("T")
GENERATE = hypothesis.settings(database=None, deadline=None, phases=[Phase.generate], backend=BACKEND,
                               suppress_health_check=list(HealthCheck))
"""Values are drawn and never made smaller."""


def draw_cases(target: str, limits: Limits, number: int, *, seed: int = 1) -> list[Case]:
    """About `number` cases, the same for the same seed and limits. Known issues of `own` are kept clear of, if
    `limits.avoid` names any."""
    return draws(avoiding.cases(find(target), limits, subject="own"), number, seed=seed)


def draws(strategy: SearchStrategy[T], number: int, *, seed: int) -> list[T]:
    """About `number` values of a strategy, without shrinking: the same for the same seed, whatever the process did
    before, which Hypothesis' own way of drawing does not keep to. It holds what it still may draw under `id`s of nodes
    of a tree that it frees (`DataTree._children_cache`), so that one seed gave two lists in two processes."""
    found: list[T] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(GENERATE, max_examples=number, verbosity=Verbosity.quiet)
    @hypothesis.given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found
