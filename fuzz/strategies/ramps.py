"""Contiguous integer ramps computed in the kernel, and their divisors.

A numerator such as `arange(0, BLOCK) + start` carries what the compiler derived about it (contiguity,
divisibility, constancy); one that is loaded carries nothing. Ranges that are negative or cross zero, with
divisors that are powers of two, are where that analysis has been wrong.
"""

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from tridiff.fuzz.strategies.choice import weighted
from tridiff.oracles.dtypes import dtype as dtype_info

StartKind = Literal["constexpr", "run_time"]
DivisorKind = Literal["constexpr", "run_time", "unspecialised", "loaded"]

START_KINDS: tuple[StartKind, ...] = ("constexpr", "run_time")
DIVISOR_KINDS: tuple[DivisorKind, ...] = ("constexpr", "run_time", "unspecialised", "loaded")


@dataclass(frozen=True, kw_only=True)
class Ramp:
    """`start, start + 1, ...`, `count` elements in blocks of `block`, divided by `divisor`."""

    start: int
    count: int
    block: int
    divisor: int
    start_kind: StartKind
    divisor_kind: DivisorKind


@st.composite
def integer_ramps(draw: st.DrawFn, *, dtype: str, maximum: int) -> Ramp:
    """A ramp within `dtype` (it may wrap at the ends) and a non-zero divisor."""
    info = dtype_info(dtype)
    block = draw(st.sampled_from((4, 8, 16, 32, 64, 128, 256, 512, 1024)))
    blocks = draw(st.sampled_from((1, 2, 3, 16, 64)))
    count = max(min(block * blocks, maximum) - draw(st.sampled_from((0, 1, block // 2))), 1)
    lowest, highest = max(int(info.min), -(2**31)), min(int(info.max), 2**31 - 1)
    powers = st.sampled_from((2, 1, 4, 8, 16, 32, 64))
    # Ramps through zero by powers of two are half of the draws: that is where the analysis has been wrong.
    divisor = draw(weighted(
        (2, powers), (1, st.integers(-20, 20).filter(lambda n: n != 0)),
        (1, st.sampled_from((-2, -16, int(info.max), 3, 10, 100, max(int(info.min), -(2**31))))),
    ))
    if not info.min <= divisor <= min(int(info.max), 2**31 - 1) or divisor == 0:
        divisor = 2
    # What is known only of a divisor that the compiler knows, of a start that is aligned to it.
    groups = max(abs(lowest) // abs(divisor), 1)
    aligned = st.integers(1, min(2 * -(-count // abs(divisor)), groups)).map(lambda group: -group * abs(divisor))
    start = draw(weighted(
        (1, st.sampled_from((0, -block, -block * blocks // 2, -block * blocks, -1, 1))), (2, aligned),
        (1, st.integers(-(count - 1), 0)), (1, st.integers(-4 * block, 4 * block)),
        (1, st.sampled_from((lowest, highest - count, lowest + count // 2, -(2**30)))),
    ))
    start = min(max(start, lowest), highest)
    return Ramp(start=start, count=count, block=block, divisor=divisor,
                start_kind=draw(st.sampled_from(START_KINDS)),
                divisor_kind=draw(weighted((1, st.just(DIVISOR_KINDS[0])), (2, st.sampled_from(DIVISOR_KINDS)))))
