"""Texts of which only is to be known whether they came before, in eight bytes each."""

import hashlib
from collections.abc import Iterable

import numpy as np

BYTES = 8
"""Of a digest: of ten million different texts two are taken for one with a probability of 3 in a million."""


class Seen:
    """A set that grows and gives nothing back. As strings in a set, the cells that a campaign reached on two cores in
    an hour were 25 MiB, and are 1.7 so."""

    def __init__(self) -> None:
        self._digests = np.empty(0, np.uint64)
        """In ascending order."""

    def __len__(self) -> int:
        return len(self._digests)

    def fresh(self, texts: Iterable[str]) -> list[str]:
        """Those that are here for the first time, each once; they have been here from now on."""
        by_digest = {hashlib.blake2b(text.encode(), digest_size=BYTES).digest(): text for text in texts}
        digests = np.frombuffer(b"".join(by_digest), np.uint64)
        new = ~np.isin(digests, self._digests)
        self._digests = np.union1d(self._digests, digests[new])
        return [text for text, here in zip(by_digest.values(), new, strict=True) if here]
