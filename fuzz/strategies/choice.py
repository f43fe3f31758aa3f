"""Which of several strategies, by weight."""

from typing import TypeVar

from hypothesis import strategies as st

Drawn = TypeVar("Drawn")


def weighted(*choices: tuple[int, st.SearchStrategy[Drawn]]) -> st.SearchStrategy[Drawn]:
    """One of the strategies, each as often as its weight says; shrinks towards the first.

    `one_of` has no weights: a strategy that is listed twice counts once, and one that is itself a choice among ten
    counts as ten.
    """
    table = [strategy for weight, strategy in choices for _ in range(weight)]
    return st.integers(0, len(table) - 1).flatmap(table.__getitem__)
