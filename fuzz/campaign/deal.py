"""Which shard a worker gets next: those of the plan, and between them shards for whatever brings most.

Of a campaign's worker time, `plan.FLOOR` goes to the shards of its plan, the same for every combination of target,
subject and backend, each of which comes up before anything else does. The rest is dealt by yield (`yields`). What is
dealt is written before it runs, so that a campaign that is resumed goes on with it. The same seed and the same results,
in the order in which they came in, deal the same shards; how many cases fit into a second is the machine's matter.
"""

import collections
import contextlib
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import ARCHITECTURES, kind
from tridiff.fuzz.campaign.plan import FLOOR, LONGEST_SHARD, shard_of, weight
from tridiff.fuzz.campaign.record import CampaignOptions, Plan, ShardResult, ShardSpec
from tridiff.fuzz.campaign.yields import Combination, combination, of_results
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.registry import find

FILE = "dealt.jsonl"
"""In the state folder: a shard per line."""

PARTS = 20.0
"""Shards by yield are that part of a campaign, within the next two bounds (seconds)."""

SHORTEST, LONGEST = 2.0, 30.0

_SHARD = msgspec.json.Decoder(ShardSpec)


def dealt(state: Path) -> tuple[ShardSpec, ...]:
    """Shards that were added to a campaign's plan while it ran. A line that was cut off ran nothing."""
    found: list[ShardSpec] = []
    with contextlib.suppress(FileNotFoundError):
        for line in (state / FILE).read_bytes().splitlines():
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(_SHARD.decode(line))
    return tuple(found)


class Deal:
    """The shards of one campaign that wait, as a queue without an end: `popleft` makes a new shard where none of the
    plan is due, until `close`. A campaign that is not dealt by yield has those of its plan and no others.

    waiting: shards that have not run. results: what came of the others, before the campaign was resumed.
    """

    def __init__(self, plan: Plan, state: Path, waiting: Iterable[ShardSpec],
                 results: Collection[ShardResult] = ()) -> None:
        self._plan, self._state = plan, state
        self._yields = of_results(results)
        self._waiting = collections.deque(waiting)
        self._among: list[Combination] = sorted({combination(spec) for spec in plan.shards})
        self._next = len(plan.shards) + len(dealt(state))
        self._first = self._first_cycle()
        self._seconds = sum(one.spec.seconds for one in results)
        self._planned_seconds = sum(one.spec.seconds for one in results if self._planned(one.spec))
        self._closed = False

    def _first_cycle(self) -> set[int]:
        """Numbers of the first shard that draws, of every combination, and of the listed cases before it."""
        drawing: set[Combination] = set()
        first: set[int] = set()
        for spec in self._plan.shards:
            if combination(spec) not in drawing:
                first.add(spec.index)
                drawing |= set() if spec.first else {combination(spec)}
        return first

    def __len__(self) -> int:
        """Number of shards that can be had now; of those that are made on demand, one is counted."""
        return 0 if self._closed else len(self._waiting) + self._able()

    def _able(self) -> bool:
        return self._plan.options.by_yield and self._yields.choose(self._among, 0) is not None

    def waiting(self) -> list[ShardSpec]:
        """Shards that have been made and wait."""
        return list(self._waiting)

    def pressing(self) -> int:
        """How many shards have a share in what is left of the time: those that come before anything is dealt, or all
        where nothing is."""
        if not self._plan.options.by_yield:
            return len(self._waiting)
        return sum(spec.index in self._first for spec in self._waiting)

    def append(self, spec: ShardSpec) -> None:
        """A shard is to be run again."""
        self._waiting.append(spec)

    def close(self) -> None:
        """Nothing more is handed out."""
        self._closed = True

    def ended(self, result: ShardResult) -> None:
        """Take in what a shard came to."""
        if not result.stopped:
            self._yields.add(result)

    def popleft(self) -> ShardSpec:
        """The next shard. Raises IndexError where there is none."""
        spec = self._due()
        self._seconds += spec.seconds
        self._planned_seconds += spec.seconds if self._planned(spec) else 0.0
        return spec

    def _planned(self, spec: ShardSpec) -> bool:
        return spec.index < len(self._plan.shards)

    def _due(self) -> ShardSpec:
        planned = self._waiting[0] if self._waiting else None
        if planned is not None and (
                not self._plan.options.by_yield or planned.index in self._first or not self._planned(planned)
                or self._planned_seconds <= FLOOR * self._seconds):
            return self._waiting.popleft()
        chosen = self._yields.choose(self._among, finalise(self._plan.options.seed * 1_000_033 + self._next),
                                      breadth=lambda chosen: weight(find(chosen[0])))
        if chosen is None:
            return self._waiting.popleft()
        return self._made(chosen)

    def _made(self, chosen: Combination) -> ShardSpec:
        """A new shard of a combination, on disk before anybody runs it."""
        options, index = self._plan.options, self._next
        self._next += 1
        like = next(spec for spec in self._plan.shards if combination(spec) == chosen)
        spec = shard_of(options, find(like.target), like.subject, _backend(options, like, index), index=index,
                        seconds=length(options), known=like.known)
        try:
            with open(self._state / FILE, "ab") as file:
                # The end of a line that was cut off is no beginning of this one.
                file.write(b"\n" + msgspec.json.encode(spec) + b"\n")
        except OSError as error:
            raise TridiffError(f"{self._state / FILE} cannot be written ({error.strerror})", fix=(
                f"free disk space, then run `tridiff fuzz --resume --id {self._plan.id}`")) from None
        return spec


def length(options: CampaignOptions) -> float:
    """Seconds of a shard that is dealt by yield."""
    return min(max(options.seconds / PARTS, SHORTEST), LONGEST, LONGEST_SHARD)


def _backend(options: CampaignOptions, like: ShardSpec, index: int) -> str:
    """The backend of a combination; `compile` without an architecture goes on through all of them."""
    if kind(like.backend) == "compile" and "compile" in options.backends:
        return f"compile:{ARCHITECTURES[index % len(ARCHITECTURES)]}"
    return like.backend
