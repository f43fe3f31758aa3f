"""Which of several strategies, by weight; and which draws come to nothing."""

from collections.abc import Callable
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.errors import StopTest, UnsatisfiedAssumption

Drawn = TypeVar("Drawn")
_BASE = 64


def weighted(*choices: tuple[int, st.SearchStrategy[Drawn]]) -> st.SearchStrategy[Drawn]:
    """One of the strategies, each as often as its weight says; shrinks towards the first.

    `one_of` has no weights: a strategy that is listed twice counts once, and one that is itself a choice among ten
    counts as ten.
    """
    table = [strategy for weight, strategy in choices for _ in range(weight)]
    return st.integers(0, len(table) - 1).flatmap(table.__getitem__)


def even(draw: st.DrawFn, number: int) -> int:
    """A whole number below `number`, one as likely as another; shrinks towards 0. Of a range of more than some hundred,
    `integers` draws the first ones several times as often as the last ones."""
    digits = 1
    while _BASE**digits < number:
        digits += 1
    found = 0
    for _ in range(digits):
        found = _BASE * found + draw(st.integers(0, _BASE - 1))
    return found * number // _BASE**digits


@st.composite
def noted(draw: st.DrawFn, strategy: st.SearchStrategy[Drawn], gave_up: Callable[[], None]) -> Drawn:
    """What a strategy draws; `gave_up` is called for every draw that comes to nothing."""
    try:
        return draw(strategy)
    except (StopTest, UnsatisfiedAssumption):
        gave_up()
        raise
