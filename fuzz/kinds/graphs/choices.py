"""Draws that cost little: one bounded integer each, the simplest choice first."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


@lru_cache(maxsize=256)
def _below(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)


class Choices:
    """Choices of one program; every method takes one draw, or none where there is nothing to choose."""

    empty_axes = True
    """Whether axes of length 0 come up."""
    asserts = True
    """Whether checked loads may be compiled with their assertions."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        """An integer from 0 to n - 1."""
        return self._draw(_below(n)) if n > 1 else 0

    def between(self, low: int, high: int) -> int:
        """An integer from low to high, shrinking towards low."""
        return low + self.below(high - low + 1)

    def of(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """One of (weight, option); options of weight 0 never come up."""
        ticket = self.below(sum(weight for weight, _ in options))
        for weight, option in options:
            ticket -= weight
            if ticket < 0:
                return option
        raise AssertionError("weights add up to their sum")

    def one_in(self, n: int) -> bool:
        """True once in n draws; shrinks towards False."""
        return self.below(n) == n - 1

    def seed(self) -> int:
        """A seed of a content term."""
        return self.below(1 << 20)

    def subset(self, items: Sequence[T]) -> list[T]:
        """Any of the items, in order; shrinks towards none."""
        bits = self.below(1 << len(items))
        return [item for place, item in enumerate(items) if bits >> place & 1]
