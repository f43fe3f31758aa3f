"""Which failures on a GPU are defects of Triton that the corpus explains."""

from functools import cache
from pathlib import Path

from fuzz.corpus import Corpus
from fuzz.records import CorpusEntry, Outcome
from fuzz.targets import find


@cache
def _defects(family: str) -> frozenset[tuple[str, str, str]]:
    root = Path(__file__).resolve().parents[2] / "corpus"
    return frozenset((one.signature.kind, one.signature.where, one.signature.about) for one in Corpus(root).entries()
                     if isinstance(one, CorpusEntry) and find(one.case.target).family == family)


def explained(outcome: Outcome) -> bool:
    """Whether an entry of the target's family has this kind, place and feature."""
    one = outcome.signature
    return one is not None and (one.kind, one.where, one.about) in _defects(find(one.target).family)
