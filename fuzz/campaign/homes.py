"""Which of a campaign's processes run programs for torch.compile: few of them, because its compiler warms up in each.

What it imports and builds with its first program costs seconds in every worker (with a GPU ten), as much as a shard of
a short night has. So the first processes are its homes, as many as its share of the plan fills: these take such shards
before others, and the other processes take them only where nothing else is to be had. Over all processes every
combination keeps its share.
"""

import math
from collections.abc import Iterable

from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec
from tridiff.fuzz.campaign.yields import Combination
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.registry import find
from tridiff.fuzz.target.subjects import by_torch_compile

_BITS = 53


def at_home(one: Combination) -> bool:
    """Whether a combination is to run in a home."""
    return by_torch_compile(find(one[0]), one[1])


class Homes:
    """The homes of a campaign with a plan of so many shards."""

    def __init__(self, options: CampaignOptions, shards: Iterable[ShardSpec]) -> None:
        seconds = {True: 0.0, False: 0.0}
        if options.by_yield and not options.scheduler:
            for spec in shards:
                seconds[by_torch_compile(find(spec.target), spec.subject)] += spec.seconds
        share = seconds[True] / (sum(seconds.values()) or 1.0)
        self._workers = options.workers
        self.number = math.ceil(share * options.workers) if share < 1.0 else 0
        """How many there are; 0 where all processes are alike."""

    def alike(self) -> bool:
        """Whether it makes no difference which process runs a shard."""
        return not 0 < self.number < self._workers

    def has(self, place: int) -> bool:
        """Whether a process is one. place: its number."""
        return place < self.number

    def chooses(self, place: int, share: float, number: int) -> bool:
        """Whether a process takes one that is to run in a home, where such ones are to have a share of all time;
        `number` decides. Homes take them as often as that share needs, the others only what homes cannot."""
        part = self.number / self._workers
        chance = min(share / part, 1.0) if self.has(place) else max((share - part) / (1.0 - part), 0.0)
        return (finalise(number ^ 0x5EED) >> (64 - _BITS)) / (1 << _BITS) < chance
