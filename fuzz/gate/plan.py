"""What a gate runs: every target on both builds, after the cases of the corpus and their neighbours."""

import itertools
from collections.abc import Iterable

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec
from tridiff.fuzz.records import Case, CorpusEntry
from tridiff.fuzz.registry import find

NEIGHBOURS = 2
"""Cases one step beside an entry's case that run after it."""


def gate_shards(options: CampaignOptions, entries: Iterable[CorpusEntry]) -> tuple[ShardSpec, ...]:
    """As for a campaign, with an entry's case and its neighbours in the first shard that they fit."""
    waiting: dict[tuple[str, str, str], list[Case]] = {}
    for entry in entries:
        for backend in dict.fromkeys(one.backend for one in entry.expected):
            waiting.setdefault((entry.case.target, entry.signature.subject, backend), []).append(entry.case)
    shards = []
    for spec in plan_shards(options, known=()):
        cases = waiting.pop((spec.target, spec.subject, spec.backend), [])
        shards.append(replace(spec, first=tuple(with_neighbours(cases))) if cases else spec)
    # What the corpus knows is asked first, so that a short gate has it.
    return tuple(replace(spec, index=index) for index, spec in enumerate(
        sorted(shards, key=lambda spec: (not spec.first, spec.index))))


def with_neighbours(cases: Iterable[Case]) -> list[Case]:
    """Each case, then all cases one step of the shrinker beside one, as far as the target could have drawn them."""
    found = {case.digest: case for case in cases}
    for case in tuple(found.values()):
        target = find(case.target)
        steps = (one for one in target.shrink.steps(case) if target.draw.valid(one))
        for one in itertools.islice(steps, NEIGHBOURS):
            found.setdefault(one.digest, one)
    return list(found.values())


def entries_left_out(shards: Iterable[ShardSpec], entries: Iterable[CorpusEntry],
                     backends: tuple[str, ...]) -> tuple[str, ...]:
    """Ids of entries seen on a backend that the gate runs, of which no shard has the case."""
    planned = {case.digest for spec in shards for case in spec.first}
    asked = {kind(backend) for backend in backends}
    return tuple(entry.id for entry in entries if entry.case.digest not in planned
                 and asked & {kind(one.backend) for one in entry.expected})
