"""What Hypothesis draws, without shrinking or a database: the same for the same seed."""

from typing import TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

T = TypeVar("T")
GENERATE = hypothesis.settings(database=None, deadline=None, phases=[Phase.generate],
                               suppress_health_check=list(HealthCheck))


def draws(strategy: st.SearchStrategy[T], number: int, *, seed: int, backend: str = "hypothesis") -> list[T]:
    """About `number` values. backend: `tridiff.fuzz.strategies.independent.BACKEND` draws as a campaign does."""
    found: list[T] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(GENERATE, max_examples=number, backend=backend)
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found
