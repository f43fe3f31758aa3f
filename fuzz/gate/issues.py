"""Known issues, drawn anew: does the candidate still have them, and has one come back that the baseline has not?

The case of an entry says whether that case is repaired. Other cases with the same pattern say whether the defect is.
What torch.compile has wrong is no matter of Triton's build. What the contract leaves to Triton it may change.
"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache

from msgspec.structs import replace

from tridiff.fuzz.campaign.plan import OF_ISSUES
from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec
from tridiff.fuzz.campaign.yields import Combination
from tridiff.fuzz.corpus.installed import installed
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.registry import find

LONGEST, SHORTEST = 30.0, 2.0
"""Most seconds for an issue in one of its targets. A gate that has less for each than the second draws none: its floor
comes first."""


def of_issues(options: CampaignOptions, like: Mapping[Combination, ShardSpec]) -> Iterator[ShardSpec]:
    """A shard for each known issue in each target of its entries, on the backends on which it shows; of an issue of no
    backend in particular, on the first of them. It draws of what those entries are made of, lest the pattern be seldom
    among the cases. like: by combination a shard whose settings these share."""
    found = {(issue.name, name): issue
             for issue in all_issues() if _drawn_anew(issue) and (not options.issues or issue.name in options.issues)
             for name in _where(issue, options.backends) if name in like}
    longest, part = (options.seconds, 1.0) if options.issues else (LONGEST, OF_ISSUES)
    each = min(longest, part * options.seconds * options.workers / max(len(found), 1))
    if each >= SHORTEST:
        for (_, name), issue in sorted(found.items(), key=lambda one: one[0]):
            yield replace(like[name], issue=issue.name, only=_made_of(issue, name[0]), seconds=each)


def drawable() -> tuple[str, ...]:
    """Names of the known issues that a gate can draw anew."""
    return tuple(sorted({issue.name for issue in all_issues() if _drawn_anew(issue)}))


def _drawn_anew(issue: KnownIssue) -> bool:
    return issue.truth in ("defect", "contract") and issue.stage != "inductor" and bool(issue.entries)


def _made_of(issue: KnownIssue, target: str) -> tuple[str, ...]:
    """Things and features of the issue's entries in a target."""
    return tuple(sorted({name for entry in issue.entries if entry.partition("/")[0] == target
                         for name in _parts().get(entry, ())}))


@cache
def _parts() -> dict[str, tuple[str, ...]]:
    """Things and features of every entry that is installed, by TARGET/ID."""
    found = {}
    for entry in Corpus(installed()).entries():
        if isinstance(entry, CorpusEntry):
            draw = find(entry.case.target).draw
            found[f"{entry.case.target}/{entry.id}"] = tuple(filter(None, (draw.thing(entry.case),
                                                                           *draw.features(entry.case))))
    return found


def _where(issue: KnownIssue, backends: tuple[str, ...]) -> Iterator[Combination]:
    # The interpreter has no layouts.
    showing = [name for name in backends if issue.shows_on(name) and (
        issue.backends or (name, issue.stage) != ("interpreter", "ttgir"))]
    for target in dict.fromkeys(entry.partition("/")[0] for entry in issue.entries):
        for glob, subject in issue.where:
            if fnmatchcase(target, glob):
                yield from ((target, subject, name.partition(":")[0])
                            for name in (showing if issue.backends else showing[:1]))
