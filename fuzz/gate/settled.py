"""Does other code stand in new processes as well?

What hangs on addresses, such as the order of a set of objects, stays the same in a process as often as a case runs
there, and all workers of a build are copies of one process. So where one to three cases of other code alone
speak against a candidate of its baseline's version, these run again in new processes of both builds.
"""

import contextlib
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.shard import close_pools, pool_for
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.pair.log import PairLine, in_full, of_shards, write
from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records.observed import Observed
from tridiff.fuzz.records.pair import PairOutcome, Relation
from tridiff.fuzz.workers.pool import TimeUp

FEW = 3
"""Cases of other code up to which they run again: what a changed file does shows in more."""

ROUNDS = 3
"""New processes of both builds. What each process makes in one of two ways, both make as before once in four times."""

LONGEST = 90.0
"""Seconds for all of it; what was not run again stands."""


@dataclass
class _Doubted:
    """A line of other code and its pair, if kept. unsteady: sides that made something else, by stage or answer."""

    shard: int
    line: PairLine
    pair: PairOutcome | None
    unsteady: dict[str, str] = field(default_factory=dict)

    @property
    def left(self) -> tuple[str, ...]:
        """What both builds stand by."""
        return tuple(told for told in self.line.code_changed if _name(told) not in self.unsteady)


def settle(state: Path, shards: tuple[ShardSpec, ...]) -> None:
    """Run the pairs of other code again if they are few; write those anew that are flaky, because a side makes another
    code in another process. For two builds of one version, which should make the same."""
    found = [(shard, line) for shard, line in of_shards(state) if line.code_changed]
    if not 0 < len(found) <= FEW:
        return
    doubted = [_Doubted(shard, line, in_full(state, line)) for shard, line in found]
    end = time.monotonic() + LONGEST
    with contextlib.suppress(TridiffError, TimeUp):
        for _ in range(ROUNDS):
            _again(doubted, shards, end)
    for one in doubted:
        if one.left:
            line = replace(one.line, code_changed=one.left)
        else:
            side = next(iter(one.unsteady.values()))
            line = replace(one.line, code_changed=(), relation=Relation.FLAKY, flaky=side,
                           reason=f"the {side} does not make the same in another process")
        if one.unsteady:
            write(state, one.shard, line)


def _again(doubted: Iterable[_Doubted], shards: tuple[ShardSpec, ...], end: float) -> None:
    """Run them in processes of their own, which find nothing that was compiled before."""
    with tempfile.TemporaryDirectory(prefix="anew-", ignore_cleanup_errors=True) as empty:
        try:
            for one in doubted:
                if one.pair is not None and one.left:
                    one.unsteady |= _apart(one.pair, _run(one.pair, shards, Path(empty), end))
        finally:
            close_pools()


def _run(pair: PairOutcome, shards: tuple[ShardSpec, ...], folder: Path, end: float) -> PairOutcome | None:
    """The pair of the same case now; None where a side refuses it. folder: to compile into."""
    backend = pair.candidate.backend
    like = next(spec for spec in shards if kind(spec.backend) == kind(backend))
    pool = pool_for(replace(like, backend=backend, subject=pair.candidate.subject), folder)
    assert isinstance(pool, PairPool)
    pool.execute(pair.case, pair.candidate.subject, backend=backend, until=end)
    return pool.last


def _apart(before: PairOutcome, now: PairOutcome | None) -> dict[str, str]:
    """Stages and answers that differed and that a side makes otherwise now, each with that side; those in which the
    builds do not differ now."""
    if now is None or now.observed is None or before.observed is None:
        return {}
    names = set(map(_name, before.code_changed))
    found = dict.fromkeys(names - set(map(_name, now.code_changed)), now.flaky or "candidate")
    for side, one, other in zip(("baseline", "candidate"), map(_given, before.observed), map(_given, now.observed),
                                strict=True):
        found |= {name: side for name in names if name in one and name in other and one[name] != other[name]}
    return found


def _given(seen: Observed) -> dict[str, str]:
    return {**seen.code, **seen.answers}


def _name(told: str) -> str:
    """Of a stage, or of an answer in front of what is apart."""
    return told.partition(": ")[0]
