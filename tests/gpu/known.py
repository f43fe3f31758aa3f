"""Which failures on a GPU are defects of Triton that the corpus explains."""

from functools import cache
from pathlib import Path

from tridiff.fuzz.corpus import Corpus
from tridiff.fuzz.corpus.cause import finding_of
from tridiff.fuzz.records import CorpusEntry, Outcome


@cache
def _findings() -> frozenset[str]:
    root = Path(__file__).resolve().parents[2] / "corpus"
    return frozenset(finding_of(one.signature) for one in Corpus(root).entries() if isinstance(one, CorpusEntry))


def explained(outcome: Outcome) -> bool:
    """Whether the corpus has an entry of the same finding."""
    return outcome.signature is not None and finding_of(outcome.signature) in _findings()
