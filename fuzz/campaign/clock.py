"""What is left of a campaign's time, and how it is shared."""

import os
import time
from collections.abc import Iterable

from msgspec.structs import replace

from tridiff.fuzz.campaign.budget import SHORTEST_SHRINK
from tridiff.fuzz.campaign.plan import LONGEST_SHARD
from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec
from tridiff.fuzz.target.subjects import fault_of

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

ENDING = 2.0
"""Seconds from the end of the last shard to that of the command, and for writing a record ..."""

PER_OUTCOME = 10e-6
"""... so many more for every outcome ..."""

PER_SHARD = 4e-3
"""... and for every shard; together they begin no later than GRACE would allow, and no earlier than ..."""

LONGEST_ENDING = 0.05
"""... that part of the campaign before its time is over."""

TELLING, LONGEST_TELLING = 0.08, 300.0
"""Largest part of a campaign's time that goes into what people read of its findings, where they go wrong, scripts,
texts of issues, and most seconds at its end that are kept for it, less what was done while it ran ..."""

LEAST_TELLING, LEAST_PART = 10.0, 1 / 6
"""... at least so many seconds of it, if they are no more than that part; ..."""

TELLING_EACH, TELLING_ONE = 15.0, 20.0
"""... with so many seconds for each, several at a time, as long as few were told, and no fewer than one alone takes on
a busy machine."""

TELLING_BESIDE = 0.85
"""Part of that time which is taken while workers still draw. With what is done after the campaign's time, up to
TOLD_BY, all of it stays below a tenth of a campaign of some minutes."""

TOLD_AT_ONCE = 8
"""Findings that are blamed, or have their scripts written, at the same time, where there are as many cores."""

TOLD_BY = 4.0
"""Seconds beyond the campaign's time after which nothing more is blamed or written of its findings; what is missing
then can be had later. The page takes the rest of the ten seconds."""


def longest_telling(seconds: float) -> float:
    """Seconds of all its workers that a campaign of that length spends at the most on what people read."""
    return max(TELLING * seconds, min(LEAST_TELLING, LEAST_PART * seconds))


def told_at_once() -> int:
    """How many findings are worked on at the same time behind a campaign."""
    return min(TOLD_AT_ONCE, len(os.sched_getaffinity(0)))


class Clock:
    """Shares what is left of a campaign's time among the shards that have not started, so that slow starts and
    shrinking shorten the shards that follow and not the night, and what targets left out do not use falls to the
    others. Shards with a number of cases are left alone."""

    def __init__(self, waiting: Iterable[ShardSpec], options: CampaignOptions, *, spent: float = 0.0,
                 since: float | None = None) -> None:
        """spent: worker seconds of a campaign by yield before it was resumed. since: the moment (monotonic) from which
        time counts, default now."""
        waiting = list(waiting)
        self._workers, self._by_yield = options.workers, options.by_yield
        self._began = time.monotonic() if since is None else since
        self._timed = any(spec.max_cases is None for spec in waiting) or options.by_yield
        seconds = sum(spec.seconds for spec in waiting)
        if options.by_yield:
            seconds = max(options.seconds * options.workers - spent, 0.0)
        self._seconds = seconds / options.workers
        self._end = self._began + self._seconds
        self._tells = options.by_yield and options.builds is None and options.shrink and not (
            options.subjects and all(map(fault_of, options.subjects)))

    @property
    def until(self) -> float | None:
        """The moment (monotonic) at which the campaign's time is over; None where it has a number of cases instead."""
        return self._began + self._seconds if self._timed else None

    def reserve(self, outcomes: int, *, shards: int = 0, findings: float = 0, told: float = 0,
                telling: float = 0.0) -> None:
        """Have the end come early enough for a record of so many outcomes of so many shards to be written, and so many
        findings to be told, within the campaign's time and a little more. told, telling: how many others were told, and
        the worker seconds that were spent on them. The more they are, the more it is they that say what each takes."""
        needed = min(max(ENDING + PER_OUTCOME * outcomes + PER_SHARD * shards - GRACE, 0.0),
                     LONGEST_ENDING * self._seconds)
        left = max(longest_telling(self._seconds) - telling / self._workers, 0.0)
        each = min((TELLING_EACH + telling) / (1.0 + told), TELLING_EACH)
        wanted = max(each * findings / told_at_once(), TELLING_ONE * min(findings, 1.0))
        kept = min(wanted, left, LONGEST_TELLING)
        self._end = self._began + self._seconds - needed - (kept if self._tells else 0.0)

    def allot(self, spec: ShardSpec, remaining: int, *, unfinished: int = 0) -> ShardSpec:
        """The next shard with its seconds; `remaining` counts it and all after it. unfinished: findings for which some
        time is to be left in the end."""
        now = time.monotonic()
        if spec.max_cases is not None:
            # Listed cases in a campaign that has an end: they have all the time until then, and no more.
            left = max(self._end - now, 0.0)
            return spec if not self._by_yield else replace(
                spec, left=min(left, spec.seconds) if spec.scout and not spec.first else left,
                overtime=self._overtime(now))
        left = max(self._end - self._kept(unfinished) - now, 0.0)
        share = left * self._workers / max(remaining, self._workers)
        longest = spec.seconds if self._by_yield else max(spec.seconds, LONGEST_SHARD)
        if spec.scout:
            share = left  # whatever waits, this is where the difference is
        return replace(
            spec, seconds=max(min(longest, share), SHORTEST_SHARD), left=left,
            shrink_seconds=max(min(spec.shrink_seconds, left), SHORTEST_SHRINK),
            overtime=self._overtime(now))

    def left(self) -> float:
        """Seconds until nothing is started any more; 0 where a campaign has a number of cases instead of a time."""
        return max(self._end - time.monotonic(), 0.0) if self._timed else 0.0

    def _overtime(self, now: float) -> float:
        return max(self._end + GRACE - now, self._began + FIRST - now, SHORTEST_SHARD)

    def _kept(self, unfinished: int) -> float:
        return min(RESERVE * (self._end - self._began), EACH * unfinished / self._workers)

    def over(self, *, unfinished: int = 0, least: float = 0.0) -> bool:
        """Whether no time is left for another shard, or less than so many seconds; unfinished: findings for which some
        is to be left."""
        return self._timed and time.monotonic() >= self._end - self._kept(unfinished) - least

    def given_up(self) -> bool:
        """Whether the time is over for good, also for shards that have not judged a case yet."""
        return self._timed and time.monotonic() >= max(self._end + GRACE, self._began + FIRST)

    def spare(self, findings: int) -> float:
        """Seconds that each of so many findings can be shrunk when nothing is drawn any more."""
        left = max(self._end + GRACE - time.monotonic(), 0.0)
        return left * self._workers / max(findings, self._workers)
