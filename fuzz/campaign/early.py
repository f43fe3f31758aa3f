"""Which findings are made smaller while others draw.

What a shard has no time for would wait for the end, where a finding has some seconds at most and most workers nothing
to do. So with workers enough some take up findings as soon as the shards that made them have ended. Gates do not:
their time is short, and any difference is confirmed at once.
"""

from collections import Counter
from collections.abc import Container, Iterable

from tridiff.fuzz.campaign.clock import RESERVE
from tridiff.fuzz.campaign.findings import Unfinished, hurries, id_of
from tridiff.fuzz.campaign.record import CampaignOptions

EACH, LEAST = 30.0, 5.0
"""Seconds that a finding has at a time, and with fewer of which none is taken up."""

TIMES = 2
"""How often one is taken up; whatever is unfinished then waits for the end."""

OF_WORKERS = 4
"""Of so many workers one may be with findings."""


class Early:
    """The findings that were taken up. All together have a tenth of the workers' time."""

    def __init__(self, options: CampaignOptions) -> None:
        draws = options.by_yield and options.shrink and options.builds is None and not options.scheduler
        self._most = options.workers // OF_WORKERS if draws else 0
        self._left = RESERVE * options.seconds * options.workers
        self._times, self._running = Counter[str](), set[str]()

    def may(self, left: float) -> bool:
        """Whether a worker may be with another finding, and for long enough. left: seconds until nothing is drawn any
        more."""
        return len(self._running) < self._most and self._seconds(left) >= LEAST

    def _seconds(self, left: float) -> float:
        return min(EACH, left, self._left)

    def next(self, found: Iterable[Unfinished], drawing: Container[int], left: float
             ) -> tuple[Unfinished, float] | None:
        """The next one and its seconds; None where no worker is to be with another one. found: all that may become
        smaller; drawing: numbers of shards that have not ended; left: as `may` has it."""
        if not self.may(left):
            return None
        seconds = self._seconds(left)
        names = {id_of(one.signature, one.finding): one for one in found if one.shard not in drawing}
        waiting = [name for name in names if name not in self._running and self._times[name] < TIMES and hurries(name)]
        if not waiting:
            return None
        name = min(waiting, key=self._times.__getitem__)
        self._running.add(name)
        self._times[name] += 1
        self._left -= seconds
        return names[name], seconds

    def ended(self, one: Unfinished) -> None:
        """Nobody is with it any more."""
        self._running.discard(id_of(one.signature, one.finding))
