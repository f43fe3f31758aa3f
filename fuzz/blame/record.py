"""Blames in corpus entries."""

import msgspec

from tridiff.fuzz.blame.decide import WITHOUT
from tridiff.fuzz.records import Blame, CorpusEntry


def with_blame(entry: CorpusEntry, found: Blame) -> CorpusEntry:
    """The entry with this blame in place of any for the same subject, version and backend; one that names a stage is
    not given up for one that names none."""
    standing = next((one for one in entry.blame if _key(one) == _key(found)), None)
    if standing is not None and standing.localised and not found.localised:
        return entry
    rest = [one for one in entry.blame if _key(one) != _key(found)]
    return msgspec.structs.replace(entry, blame=tuple(sorted((*rest, shortened(found)), key=_key)))


def shortened(found: Blame) -> Blame:
    """Without a row for each pass that was left out to no effect: their number stands in the evidence."""
    idle = [one for one in found.vector if one.change.startswith(WITHOUT) and one.effect == "same"]
    if not idle:
        return found
    said = f"it fails as before without any one of {len(idle)} other passes"
    return msgspec.structs.replace(found, vector=tuple(one for one in found.vector if one not in idle),
                                   evidence=(*found.evidence, said))


def _key(one: Blame) -> tuple[str, str, str]:
    return one.subject, one.triton, one.backend
