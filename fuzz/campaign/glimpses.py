"""Failures that are met on the way to the smallest case of a finding and are about something else."""

import collections

from tridiff.fuzz.corpus.cause import undetailed
from tridiff.fuzz.records import Case, Outcome, Signature
from tridiff.fuzz.registry import find

MOST = 4
"""Cases that are kept for one finding: what hardly differs from it may fail in many ways."""


class Glimpses:
    """Cases that were to be a smaller form of a finding and show a failure of another thing (a row of the language, a
    kind of loop), the first of each. If they were left, they would have to be drawn to be found. Another failure of the
    same thing is most often the same defect, and is left.

    by_form: whether a known form of a program is such a thing as well.
    """

    def __init__(self, *, by_form: bool) -> None:
        self._by_form = by_form
        self._cases: collections.deque[Case] = collections.deque()
        self._seen: set[str] = set()
        self._room = 0

    def begin(self, signature: Signature) -> None:
        """A finding is to be made smaller."""
        self._seen.add(self._thing(signature))
        self._room = MOST

    def note(self, case: Case, outcome: Outcome | None) -> None:
        """Keep a case, if what it came to is a failure of something that did not fail before."""
        signature = outcome.signature if outcome is not None else None
        if signature is not None and self._room and self._thing(signature) not in self._seen:
            self._seen.add(self._thing(signature))
            self._room -= 1
            self._cases.append(case)

    def take(self) -> Case | None:
        """The next case to judge, which is not kept any more."""
        return self._cases.popleft() if self._cases else None

    def _thing(self, signature: Signature) -> str:
        is_form = not self._by_form and find(signature.target).judge.label_is_form
        return "" if is_form else undetailed(signature.about)
