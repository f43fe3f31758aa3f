"""What a campaign draws, without shrinking: the same for the same seed, whatever the process did before.

Hypothesis' own way of drawing does not repeat itself: it keeps what it still may draw under `id`s of nodes of a tree
that it frees (`DataTree._children_cache`), so that one seed gave two lists in two processes.
"""

from typing import TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from tridiff.fuzz.strategies.independent import BACKEND

T = TypeVar("T")
GENERATE = hypothesis.settings(database=None, deadline=None, phases=[Phase.generate], backend=BACKEND,
                               suppress_health_check=list(HealthCheck))


def draws(strategy: st.SearchStrategy[T], number: int, *, seed: int) -> list[T]:
    """About `number` values."""
    found: list[T] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(GENERATE, max_examples=number)
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found
