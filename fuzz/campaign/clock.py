"""What is left of a campaign's time, and how it is shared."""

import time
from collections.abc import Iterable

from msgspec.structs import replace

from tridiff.fuzz.campaign.budget import SHORTEST_SHRINK
from tridiff.fuzz.campaign.plan import LONGEST_SHARD
from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec

SHORTEST_SHARD = 0.25
"""Seconds that a shard gets even when hardly any are left."""

GRACE = 5.0
"""Seconds beyond the campaign's time after which nothing runs any more."""

FIRST = 30.0
"""Seconds that the first shards have to judge a case, however short the campaign: their workers start meanwhile."""

RESERVE = 0.1
"""Largest part of a campaign's time that is kept for findings that may become smaller."""

EACH = 20.0
"""Seconds of it for each."""


class Clock:
    """Shares what is left of a campaign's time among the shards that have not started, so that slow starts and
    shrinking shorten the shards that follow and not the night, and what targets left out do not use falls to the
    others. Shards with a number of cases are left alone."""

    def __init__(self, waiting: Iterable[ShardSpec], options: CampaignOptions, *, spent: float = 0.0) -> None:
        """spent: worker seconds of a campaign by yield before it was resumed."""
        waiting = list(waiting)
        self._workers, self._by_yield = options.workers, options.by_yield
        self._began = time.monotonic()
        self._timed = any(spec.max_cases is None for spec in waiting) or options.by_yield
        seconds = sum(spec.seconds for spec in waiting)
        if options.by_yield:
            seconds = max(options.seconds * options.workers - spent, 0.0)
        self._end = self._began + seconds / options.workers

    def allot(self, spec: ShardSpec, remaining: int, *, unfinished: int = 0) -> ShardSpec:
        """The next shard with its seconds; `remaining` counts it and all after it. unfinished: findings for which some
        time is to be left in the end."""
        if spec.max_cases is not None:
            return spec
        now = time.monotonic()
        reserve = min(RESERVE * (self._end - self._began), EACH * unfinished / self._workers)
        left = max(self._end - reserve - now, 0.0)
        share = left * self._workers / max(remaining, self._workers)
        longest = spec.seconds if self._by_yield else max(spec.seconds, LONGEST_SHARD)
        return replace(
            spec, seconds=max(min(longest, share), SHORTEST_SHARD), left=left,
            shrink_seconds=max(min(spec.shrink_seconds, left), SHORTEST_SHRINK),
            overtime=max(self._end + GRACE - now, self._began + FIRST - now, SHORTEST_SHARD))

    def over(self) -> bool:
        """Whether no time is left for another shard."""
        return self._timed and time.monotonic() >= self._end

    def spare(self, findings: int) -> float:
        """Seconds that each of so many findings can be shrunk when nothing is drawn any more."""
        left = max(self._end + GRACE - time.monotonic(), 0.0)
        return left * self._workers / max(findings, self._workers)
