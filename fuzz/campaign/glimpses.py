"""Failures that are met on the way to the smallest case of a finding and are another one."""

import collections

from tridiff.fuzz.corpus.cause import of_any_form
from tridiff.fuzz.records import Case, Outcome, Signature

MOST = 4
"""Cases that are kept for one finding: what hardly differs from it may fail in many ways."""


class Glimpses:
    """Cases that were to be a smaller form of a finding and fail in another way, the first of each signature. If they
    were left, they would have to be drawn to be found."""

    def __init__(self) -> None:
        self._cases: collections.deque[Case] = collections.deque()
        self._seen: set[str] = set()
        self._room = 0

    def begin(self, signature: Signature) -> None:
        """A finding is to be made smaller."""
        self._seen.add(_key(signature))
        self._room = MOST

    def note(self, case: Case, outcome: Outcome | None) -> None:
        """Keep a case, if what it came to fails as nothing did before."""
        signature = outcome.signature if outcome is not None else None
        if signature is not None and self._room and _key(signature) not in self._seen:
            self._seen.add(_key(signature))
            self._room -= 1
            self._cases.append(case)

    def take(self) -> Case | None:
        """The next case to judge, which is not kept any more."""
        return self._cases.popleft() if self._cases else None


def _key(signature: Signature) -> str:
    """Of a signature whatever known form it names."""
    return (of_any_form(signature) or signature).key
