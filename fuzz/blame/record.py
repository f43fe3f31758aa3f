"""Blames in corpus entries."""

import msgspec

from tridiff.fuzz.records import Blame, CorpusEntry


def with_blame(entry: CorpusEntry, found: Blame) -> CorpusEntry:
    """The entry with this blame in place of any for the same subject, version and backend."""
    rest = [one for one in entry.blame if _key(one) != _key(found)]
    return msgspec.structs.replace(entry, blame=tuple(sorted((*rest, found), key=_key)))


def _key(one: Blame) -> tuple[str, str, str]:
    return one.subject, one.triton, one.backend
