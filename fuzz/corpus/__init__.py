"""Findings kept as files: `store` reads and writes them, `replay` runs them again."""

from tridiff.fuzz.corpus.store import Admission, Corpus, entry_id, expectation, with_verdict

__all__ = ["Admission", "Corpus", "entry_id", "expectation", "with_verdict"]
