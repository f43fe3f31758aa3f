"""At which cells a shard aims (`lacking`), and when it is to look at them afresh."""

from tridiff.fuzz.campaign.lacking import left
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.recorder import Recorder

EACH = 20
"""Cases after which a round that aims looks whether it is to be aimed afresh."""


class Aiming:
    """The cells of one shard that lack cases."""

    def __init__(self, spec: ShardSpec, recorder: Recorder) -> None:
        self._lacking, self._recorder, self._ends = dict(spec.lacking), recorder, spec.aimed
        self.over = False
        """Whether the shard is there for these cells alone, and none lacks any more."""
        self._aimed = self._looks = 0
        """Cases that the cells lacked at which this round aims, and how often it was due to look if they still do."""

    def begin(self) -> dict[str, int]:
        """The cells at which a round is to aim, with how many cases each lacks."""
        found = self._left()
        self._aimed, self._looks = sum(found.values()), self._recorder.executed // EACH
        return found

    def _left(self) -> dict[str, int]:
        found = left(self._lacking, self._recorder.store.cells()) if self._lacking else {}
        self.over = self._ends and not found
        return found

    def due(self) -> bool:
        """Whether the cells at which this round aims lack a quarter less than they did; asked now and then."""
        looks = self._recorder.executed // EACH
        due, self._looks = looks != self._looks, looks
        return bool(self._aimed) and due and 4 * sum(self._left().values()) <= 3 * self._aimed
