"""What a gate runs: the cases of the corpus, then every target a while, then the neighbours of those cases and whatever
code changed in."""

import itertools
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.neighbours import neighbours
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec
from tridiff.fuzz.campaign.yields import Combination, combination
from tridiff.fuzz.gate.aim import aimed, in_turn
from tridiff.fuzz.gate.issues import of_issues
from tridiff.fuzz.records import Case, CorpusEntry, Verdict
from tridiff.fuzz.registry import find

NEIGHBOURS = 2
"""Cases one step beside an entry's case that run later."""

TOGETHER = 8
"""Listed cases of one target that one worker runs, one after another."""

OF_CASES = 0.5
"""Part of a gate with a number of cases that the corpus may have."""

OF_TIME = 0.25
"""Part of a gate's time that the corpus may have before anything is drawn; what is left of it comes after that."""

SECONDS_EACH, SECONDS_COSTLY = 0.5, 5.0
"""What a listed case counts for when time is shared, and one that takes seconds (`_apart`)."""

ONCE = 0.4
"""Part of a gate's time that cases to be run once each may have (`Draw.once`)."""


def gate_shards(options: CampaignOptions, entries: Iterable[CorpusEntry]) -> tuple[ShardSpec, ...]:
    """First the corpus, entry by entry, what takes seconds last, as far as OF_TIME goes; then every combination once;
    then what is left of the corpus, the neighbours of its cases, cases with the pattern of each known issue, and what a
    campaign does. Cases that are to be run once each come before the combinations where only files of the front end
    differ, and behind them else. Where few functions differ, what reaches them is looked for in all of these first
    (`ShardSpec.scout`), and what does not comes last. A gate with a number of cases has neither these nor neighbours,
    and gives the corpus half of the number at most. One for known issues has their entries and their patterns."""
    entries = tuple(one for one in entries if not options.issues or one.cause in options.issues)
    room = None if options.max_cases is None else int(OF_CASES * options.max_cases)
    # The first shard of each combination gives what all of them share.
    drawn = plan_shards(options)
    like = {combination(spec): spec for spec in reversed(drawn)}
    cases = _cases(entries, options, like)
    cheap, costly = _apart(cases, entries)
    listed = [*_listed(cheap, like, room)]
    room = room if room is None else room - sum(len(spec.first) for spec in listed)
    listed += _listed(costly, like, room, each=SECONDS_COSTLY)
    if options.issues:
        return _numbered((*listed, *of_issues(options, like)))
    if options.max_cases is not None:
        taken = sum(len(spec.first) for spec in listed)
        drawn = plan_shards(replace(options, max_cases=max(options.max_cases - taken, 1)))
        return _numbered((*listed, *drawn))
    near = {group: _neighbours(some) for group, some in cases.items()}
    floor = len({combination(spec) for spec in drawn})
    spent = itertools.accumulate(spec.seconds for spec in listed)
    early = sum(seconds <= OF_TIME * options.seconds * options.workers for seconds in spent)
    # What compiles by itself takes longest: a short gate has looked at everything else before.
    first = sorted(drawn[:floor], key=lambda spec: (spec.subject != "own", kind(spec.backend) != kind(
        options.backends[0])))
    once = _once(options, first, like)
    if options.alike.functions:
        own = [spec for spec in first if spec.subject == "own"]
        early_on, later = aimed(in_turn(once, listed), own, options.alike,
                                seconds=ONCE * options.seconds * options.workers)
        return _numbered((*early_on, *first, *later, *_listed(near, like, None), *drawn[floor:]))
    seen = (*once, *first) if options.alike.behind_source else (*first, *once)
    return _numbered((*listed[:early], *seen, *listed[early:], *_listed(near, like, None), *of_issues(options, like),
                      *drawn[floor:]))


def _once(options: CampaignOptions, drawn: Iterable[ShardSpec], like: dict[Combination, ShardSpec],
          ) -> tuple[ShardSpec, ...]:
    """The cases that targets want to be run once each, as far as ONCE of the time goes: a few of each target in
    turn."""
    # Where few functions differ, what runs one of them decides which of these come first.
    room = None if options.alike.functions else int(ONCE * options.seconds * options.workers / SECONDS_EACH)
    cases: dict[Group, list[Case]] = {}
    for spec in drawn:
        group = (combination(spec), spec.backend)
        if spec.subject == "own" and group not in cases:
            cases[group] = list(find(spec.target).draw.once(options.seed))
    # In turn, so that none of them uses up the time of the others.
    turns = list(in_turn(*(_listed({group: some}, like, None) for group, some in cases.items())))
    counted = itertools.accumulate(len(spec.first) for spec in turns)
    return tuple(spec for spec, number in zip(turns, counted, strict=True) if room is None or number <= room)


def combinations(shards: Iterable[ShardSpec]) -> list[Combination]:
    """What a gate must have looked at: targets, subjects and kinds of backends of what it draws."""
    return sorted({combination(spec) for spec in shards if not spec.first and not spec.scout})


Group = tuple[Combination, str]
"""A combination and the backend of its listed cases."""


def _cases(entries: Iterable[CorpusEntry], options: CampaignOptions, like: dict[Combination, ShardSpec],
           ) -> dict[Group, list[Case]]:
    """Cases of the corpus that this gate can run, by where they were seen."""
    found: dict[Group, list[Case]] = {}
    for entry in entries:
        for backend in dict.fromkeys(one.backend for one in entry.expected):
            group = (entry.case.target, entry.signature.subject, kind(backend))
            if group in like and (backend in options.backends or kind(backend) in options.backends):
                found.setdefault((group, backend), []).append(entry.case)
    return found


def _apart(cases: dict[Group, list[Case]], entries: Iterable[CorpusEntry],
           ) -> tuple[dict[Group, list[Case]], dict[Group, list[Case]]]:
    """The cases that a worker runs one after another, and those that cost seconds each: of subjects that compile by
    themselves, whose compiler each worker imports for itself, and such as have ended or stopped a worker somewhere,
    which is then replaced on both builds."""
    deadly = {(entry.case.digest, one.backend) for entry in entries for one in entry.expected
              if one.verdict in (Verdict.CRASH, Verdict.HANG)}
    cheap: dict[Group, list[Case]] = {}
    costly: dict[Group, list[Case]] = {}
    for group, every in cases.items():
        (_, subject, _), backend = group
        for case in every:
            slow = subject != "own" or (case.digest, backend) in deadly
            (costly if slow else cheap).setdefault(group, []).append(case)
    return cheap, costly


def _listed(cases: dict[Group, list[Case]], like: dict[Combination, ShardSpec], room: int | None, *,
            each: float = SECONDS_EACH) -> Iterator[ShardSpec]:
    for (group, backend), every in cases.items():
        for start in range(0, len(every), TOGETHER):
            chosen = tuple(every[start:start + TOGETHER])[:room]
            if room is not None:
                room -= len(chosen)
            if chosen:
                yield replace(like[group], backend=backend, first=chosen, max_cases=len(chosen),
                              seconds=each * len(chosen))


def _numbered(shards: Iterable[ShardSpec]) -> tuple[ShardSpec, ...]:
    return tuple(replace(spec, index=index) for index, spec in enumerate(shards))


def _neighbours(cases: Iterable[Case]) -> list[Case]:
    """Neighbours of these cases that are none of them."""
    listed = {case.digest: case for case in cases}
    found: dict[str, Case] = {}
    for case in listed.values():
        beside = (one for one in neighbours(case) if one.digest not in listed)
        for one in itertools.islice(beside, NEIGHBOURS):
            found.setdefault(one.digest, one)
    return list(found.values())


def entries_left_out(options: CampaignOptions, shards: Iterable[ShardSpec], entries: Iterable[CorpusEntry],
                     ran: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Ids of entries that were seen on a backend of this gate and did not run on both builds there. ran: digests of
    cases with their kinds of backend."""
    like = {combination(spec): spec for spec in shards}
    done = set(ran)
    left: dict[str, None] = {}
    by_digest: dict[str, str] = {}
    entries = tuple(entries)
    for entry in entries:
        by_digest.setdefault(entry.case.digest, entry.id)
    for ((_, _, sort), _), cases in _cases(entries, options, like).items():
        left.update({by_digest[case.digest]: None for case in cases if (case.digest, sort) not in done})
    return tuple(left)
