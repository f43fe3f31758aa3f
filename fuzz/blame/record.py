"""Blames in corpus entries."""

from msgspec.structs import replace

from tridiff.fuzz.blame.decide import WITHOUT
from tridiff.fuzz.records import Blame, CorpusEntry
from tridiff.fuzz.records.blame import Tried

_NOTHING_COMPILES = ("compile_error", "crash TypeError")
"""How it ends where the compiler itself cannot do without a pass."""


def with_blame(entry: CorpusEntry, found: Blame) -> CorpusEntry:
    """The entry with this blame in place of any for the same subject, version and backend; one that names a stage is
    not given up for one that names none."""
    standing = next((one for one in entry.blame if _key(one) == _key(found)), None)
    if standing is not None and standing.localised and not found.localised:
        return entry
    rest = [one for one in entry.blame if _key(one) != _key(found)]
    return replace(entry, blame=tuple(sorted((*rest, shortened(found)), key=_key)))


def shortened(found: Blame) -> Blame:
    """Without a row for each pass that was left out to no effect, or without which nothing compiles: their number
    stands in the evidence. Without words that an effect says."""
    omitted = [one for one in found.vector if one.change.startswith(WITHOUT)]
    idle = [one for one in omitted if one.effect == "same"]
    needed = [one for one in omitted if one.effect == "other" and one.said.startswith(_NOTHING_COMPILES)]
    told = [f"it fails as before without any one of {len(idle)} other passes"] * bool(idle)
    told += [f"nothing compiles without any one of {len(needed)} other passes"] * bool(needed)
    rows = tuple(one for one in found.vector if one not in (*idle, *needed))
    return replace(found, evidence=(*found.evidence, *told), vector=(
        *rows[:1], *(_without_words(found, one) for one in rows[1:])))


def _without_words(found: Blame, tried: Tried) -> Tried:
    silent = replace(tried, said="")
    return silent if found.ended(silent) == tried.said else tried


def _key(one: Blame) -> tuple[str, str, str]:
    return one.subject, one.triton, one.backend
