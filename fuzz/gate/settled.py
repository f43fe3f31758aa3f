"""Does other code stand in new processes as well?

What hangs on addresses, such as the order of a set of objects, stays the same in a process as often as a case runs
there, and all workers of a build are copies of one process. So where no more than one to three cases of other code
speak against a candidate of its baseline's version, these run again in new processes of both builds.
"""

import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.shard import close_pools, pool_for
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.pair.log import PairLine, corrected, in_full, of_shards
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


def settle(state: Path, shards: tuple[ShardSpec, ...]) -> None:
    """Run the pairs of other code again if they are few; write those anew that are flaky, because a side makes another
    code in another process. For two builds of one version, which should make the same."""
    found = [(shard, line) for shard, line in of_shards(state) if line.code_changed]
    if not 0 < len(found) <= FEW:
        return
    end = time.monotonic() + LONGEST
    pairs = [in_full(state, line) for _, line in found]
    unsteady: list[dict[str, str]] = [{} for _ in found]
    try:
        for _ in range(ROUNDS):
            # What earlier processes compiled lies in the gate's own folder.
            with tempfile.TemporaryDirectory(prefix="anew-", ignore_cleanup_errors=True) as empty:
                for (_, line), pair, names in zip(found, pairs, unsteady, strict=True):
                    if pair is not None and _left(line, names):
                        names |= _apart(pair, _again(pair, shards, Path(empty), end))
                close_pools()
    except (TridiffError, TimeUp):
        pass
    finally:
        close_pools()
    for (shard, line), names in zip(found, unsteady, strict=True):
        if left := _left(line, names):
            changed = replace(line, code_changed=left)
        else:
            side = next(iter(names.values()))
            changed = replace(line, code_changed=(), relation=Relation.FLAKY, flaky=side,
                              reason=f"the {side} does not make the same in another process")
        if names:
            corrected(state, shard, changed)


def _again(pair: PairOutcome, shards: tuple[ShardSpec, ...], folder: Path, end: float) -> PairOutcome | None:
    """The pair from processes of its own, which compile into the folder; None where a side refuses its case."""
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


def _left(line: PairLine, unsteady: dict[str, str]) -> tuple[str, ...]:
    return tuple(told for told in line.code_changed if _name(told) not in unsteady)


def _name(told: str) -> str:
    """Of a stage, or of an answer in front of what is apart."""
    return told.partition(": ")[0]
