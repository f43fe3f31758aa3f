"""What the repository holds, for tests that read it."""

from pathlib import Path

from tridiff.fuzz.corpus.store import Corpus

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS = REPOSITORY / "corpus"
ENTRIES = Corpus(CORPUS)
