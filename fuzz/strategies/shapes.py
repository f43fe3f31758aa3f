"""How many: lengths around powers of two, row counts, whole shapes."""

from functools import cache, lru_cache

from hypothesis import strategies as st

KEPT = 64
"""Strategies that are kept to be drawn from again: nearly every number is some limit of a length."""


def _interesting(maximum: int) -> list[int]:
    """Powers of two and their neighbours up to `maximum`, ascending from 1."""
    found = {1}
    power = 2
    while power <= 2 * maximum:
        found |= {power - 1, power, power + 1}
        power *= 2
    return sorted(n for n in found if 1 <= n <= maximum)


@lru_cache(maxsize=KEPT)
def lengths(*, maximum: int, empty: bool = True) -> st.SearchStrategy[int]:
    """An axis length up to `maximum`: any number, or a power of two give or take one, or 0 where `empty`.

    Shrinks towards 1, then 0 counts as less simple than 1 (an empty case checks nothing).
    """
    choices = [st.sampled_from(_interesting(maximum)), st.integers(1, maximum)]
    if empty:
        # One branch among the sixteen: empty cases are cheap but say little.
        near = st.sampled_from((*_interesting(maximum), 0))
        return st.one_of(choices[0], choices[1], near)
    return st.one_of(*choices)


@cache
def row_lengths(*, maximum: int = 512) -> st.SearchStrategy[int]:
    """An upper limit for `lengths` of rows that are reduced or sorted: mostly short rows, so that many fit
    into one launch, at times long ones."""
    return st.sampled_from([n for n in (8, 3, 16, 64, 512) if n <= maximum])


@lru_cache(maxsize=KEPT)
def row_counts(*, maximum: int) -> st.SearchStrategy[int]:
    """How many independent inputs one launch carries; shrinks towards 1.

    Most draws stay within about a thousand rows, which the host judges in a millisecond; one in eight or so
    is a large batch.
    """
    small = [n for n in (1, 2, 3, 7, 16, 33, 64, 128, 200, 256, 333, 512, 700, 1000) if n <= max(maximum, 1)]
    large = [n for n in (1 << 12, 1 << 16, 1 << 18, 1 << 20) if n <= maximum]
    return st.sampled_from([*small, *large[-2:]])


@lru_cache(maxsize=KEPT)
def shapes(*, rank: int, maximum: int, empty: bool = True) -> st.SearchStrategy[tuple[int, ...]]:
    """`rank` axis lengths whose product stays within `maximum`."""
    if rank < 0:
        raise ValueError(f"rank={rank} is negative; give the number of axes")

    def bounded(shape: tuple[int, ...]) -> tuple[int, ...]:
        left, result = maximum, []
        for n in shape:
            n = min(n, max(left, 1))
            result.append(n)
            left //= max(n, 1)
        return tuple(result)

    return st.tuples(*(lengths(maximum=maximum, empty=empty) for _ in range(rank))).map(bounded)
