"""Tables about the corpus that are kept by hand."""

from __future__ import annotations

import re
from pathlib import Path

from fuzz.corpus import Corpus
from fuzz.records import CorpusEntry

ROOT = Path(__file__).resolve().parents[2] / "corpus"


def test_the_table_of_helper_defects_names_every_entry_of_its_subject() -> None:
    """inductor_helpers.md is kept by hand: no entry is missing, and none is named that is gone."""
    named = set(re.findall(r"`(\w+/[\w-]+-[0-9a-f]{10})`", (ROOT / "inductor_helpers.md").read_text()))
    kept = {f"{entry.case.target.removeprefix('helpers.')}/{entry.id}" for entry in Corpus(ROOT).entries()
            if isinstance(entry, CorpusEntry) and entry.signature.subject == "inductor"
            and entry.case.target.startswith("helpers.")}
    assert named == kept
