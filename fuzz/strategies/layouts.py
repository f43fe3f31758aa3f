"""Where in memory: contiguous, permuted, stride 0, steps, gaps, unaligned."""

import itertools
from functools import cache

from hypothesis import strategies as st

from tridiff.fuzz.records import Layout

_OFFSETS = (0, 1, 4, 3, 16, 7)
"""In elements: 0 and 16 keep any vector width, 4 keeps some, odd ones break all 16-byte alignment."""


@cache
def strided_layouts(
    *, dims: tuple[str, ...], output: bool = False, broadcast: tuple[str, ...] | None = None
) -> st.SearchStrategy[Layout]:
    """A layout for an array with the axes `dims`.

    output: elements must not overlap, so no stride 0. broadcast: axes that may have stride 0 (default: all).
    About half of the draws are plain row-major. Shrinks towards contiguous and aligned.
    """
    plain = Layout()
    orders = [()] if len(dims) < 2 else [(), *list(itertools.permutations(range(len(dims))))[1:]]
    may_repeat = () if output else (dims if broadcast is None else broadcast)
    repeated: list[tuple[str, ...]] = [(), (), *((dim,) for dim in may_repeat)]
    if len(may_repeat) > 1:
        repeated.append(may_repeat)
    variants = [
        Layout(order=order, step=step, gap=gap, broadcast=stride0, offset=offset)
        for offset in _OFFSETS for step in (1, 2, 3) for gap in (0, 1, 5) for order in orders for stride0 in repeated
    ]
    # One draw from a table: cheaper than five draws, and still shrinks along the table's order.
    return st.one_of(st.just(plain), st.sampled_from(variants))
