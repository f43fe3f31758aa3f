"""Orders in which programs are interleaved, and maps whose composition shows the order. Test support."""

from collections.abc import Callable

from tridiff.kernels.simulator.scheduling import Choices, Newest, Oldest, Random, RoundRobin

POLICIES: tuple[Callable[[], Choices], ...] = (
    Oldest, Newest, RoundRobin, *(lambda seed=seed: Random(seed, staleness=0.3) for seed in range(6)))

IN_TURN = POLICIES[:5]
"""Every fixed order, and random ones with loads that may lag and with those that may not."""


def affine(half: int) -> Callable[[int, int], int]:
    """t -> scale * t + shift modulo 2^half, left first; scale in the low half of a word."""
    mask = (1 << half) - 1

    def combine(left: int, right: int) -> int:
        scale = right & mask
        return (left & mask) * scale & mask | ((left >> half) * scale + (right >> half) & mask) << half

    return combine
