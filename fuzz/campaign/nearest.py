"""Which of the drawn cases with the pattern of a known issue run: mostly those that are most like the issue's entries.

A pattern says what a defect cannot do without. Much else that its entries have may be needed as well, and to run a case
costs hundreds of times what it costs to draw one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

from tridiff.fuzz.campaign.neighbours import neighbours
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.corpus.installed import installed
from tridiff.fuzz.corpus.likeness import Likeness, words_of
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.fuzz.target.subjects import without_fault

FRESH = 12
"""Cases with the pattern of which one is chosen; ..."""

DRAWS = 60
"""... fewer after so many draws since the last was chosen."""

KEPT = 24
"""Cases at most that wait, the most like ones."""

FEW = 4
"""Where fewer wait behind the one chosen, or it shares with the entries what none before did, the cases beside it do as
well."""

NEAR = 16
"""Of so many of these: to make them costs as much as to draw."""

AGAIN = 0.1
"""What a case loses of its likeness for each chosen one that shared the same with the entries."""

ANY = 4
"""Of so many choices one is of any case that was drawn; of the others every second is of what stands beside such a case
as well."""


def nearest_of(issues: tuple[KnownIssue, ...], spec: ShardSpec) -> Nearest | None:
    """For the shard of a known issue; None for another one."""
    if not issues:
        return None
    subject, folder = without_fault(spec.subject), installed()
    entries = [folder / f"{name}.json" for one in issues for name in one.entries if name.startswith(f"{spec.target}/")]
    return Nearest(tuple(Corpus(folder).load(path).case for path in entries),
                   lambda case: any(one.concerns(case, subject) for one in issues))


class Nearest:
    """Cases with a pattern, to choose from. entries: cases that are known to show the issue. has: whether a case has
    the pattern."""

    def __init__(self, entries: tuple[Case, ...], has: Callable[[Case], bool]) -> None:
        self._like, self._has = Likeness(map(words_of, entries)), has
        self._waiting: dict[str, tuple[frozenset[str], Case]] = {}
        """By digest, with their words."""
        self._met: set[str] = set()
        """Digests of cases that wait or have waited."""
        self._drawn: set[str] = set()
        """Those of cases that were drawn."""
        self._tried: Counter[frozenset[str]] = Counter()
        """How often a case that has just these words of the entries was chosen."""
        self._draws = self._fresh = self._chosen = 0

    def due(self, case: Case) -> bool:
        """Look at a drawn case; whether one is to be chosen now."""
        self._draws += 1
        if self._has(case) and self._add(case):
            self._drawn.add(case.digest)
            self._fresh += 1
        return bool(self._waiting) and (self._fresh >= FRESH or self._draws >= DRAWS)

    def choose(self) -> Case:
        """A case that waits. Raises IndexError where none does."""
        found = ((self._like.shared(words), words, case) for words, case in self._waiting.values())
        ranked = sorted(((how - AGAIN * self._tried[shared], case.digest, shared, words, case)
                         for (how, shared), words, case in found), key=lambda one: (-one[0], one[1]))
        self._chosen += 1
        drawn = [one for one in ranked if one[1] in self._drawn] or ranked
        _, digest, shared, _, case = (drawn[0] if self._chosen % 2 else ranked[0]) if self._chosen % ANY else (
            drawn[finalise(self._chosen) % len(drawn)])
        unlike = not self._tried[shared]
        self._tried[shared] += 1
        self._waiting = {one: (words, other) for _, one, _, words, other in ranked[:KEPT] if one != digest}
        self._draws = self._fresh = 0
        if len(self._waiting) < FEW or unlike:
            for one in itertools.islice(filter(self._has, neighbours(case)), NEAR):
                self._add(one)
        return case

    def _add(self, case: Case) -> bool:
        if case.digest in self._met:
            return False
        self._met.add(case.digest)
        words = words_of(case)
        self._like.see(words)
        self._waiting[case.digest] = words, case
        return True
