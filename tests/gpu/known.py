"""Which failures on a GPU are defects of Triton that the corpus explains."""

from functools import cache

from tests.support.repository import ENTRIES
from tridiff.fuzz.corpus.cause import finding_of
from tridiff.fuzz.records import CorpusEntry, Outcome
from tridiff.fuzz.registry import find


@cache
def _entries() -> tuple[CorpusEntry, ...]:
    return tuple(one for one in ENTRIES.entries() if isinstance(one, CorpusEntry))


def explained(outcome: Outcome) -> bool:
    """Whether the corpus has an entry of the same finding, or, where only a relative could tell, one of the same word
    in the same family of targets."""
    signature = outcome.signature
    if signature is None:
        return False
    family = find(signature.target).family
    return bool(outcome.explained_by) or any(
        finding_of(one.signature) == finding_of(signature) or (
            signature.about != "" and one.signature.about == signature.about
            and find(one.signature.target).family == family) for one in _entries())
