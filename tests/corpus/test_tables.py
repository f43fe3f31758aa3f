"""Tables about the corpus that are kept by hand."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from fuzz.corpus import Corpus
from fuzz.records import CorpusEntry

ROOT = Path(__file__).resolve().parents[2] / "corpus"


@cache
def entries() -> tuple[CorpusEntry, ...]:
    return tuple(entry for entry in Corpus(ROOT).entries() if isinstance(entry, CorpusEntry))


def rows() -> list[list[str]]:
    """Cells of the rows of torch_compile.md."""
    lines = (ROOT / "torch_compile.md").read_text().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def test_the_table_of_helper_defects_names_every_entry_of_its_subject() -> None:
    """inductor_helpers.md is kept by hand: no entry is missing, and none is named that is gone."""
    named = set(re.findall(r"`(\w+/[\w-]+-[0-9a-f]{10})`", (ROOT / "inductor_helpers.md").read_text()))
    kept = {f"{entry.case.target.removeprefix('helpers.')}/{entry.id}" for entry in entries()
            if entry.signature.subject == "inductor" and entry.case.target.startswith("helpers.")}
    assert named == kept


def test_the_table_of_torch_compile_names_every_entry_and_every_row() -> None:
    """torch_compile.md is kept by hand too: rows 1 to 17 of codegen.md §14, every entry of the targets inductor.*."""
    named = re.findall(r"`([\w/]+/[\w-]+-[0-9a-f]{10})`", (ROOT / "torch_compile.md").read_text())
    kept = {f"{entry.case.target.removeprefix('inductor.')}/{entry.id}" for entry in entries()
            if entry.case.target.startswith("inductor.")}
    assert sorted(named) == sorted(kept), "an entry is missing, gone, or named twice"
    assert {row[0] for row in rows()} >= {str(row) for row in range(1, 18)}


def test_ten_divergences_come_from_generated_programs() -> None:
    """Rows of codegen.md §14 with an entry of a target inductor.programs_*."""
    assert len({row[0] for row in rows() if "`programs_" in " ".join(row)} - {"-"}) >= 10


def test_ten_divergences_on_a_gpu_come_from_generated_programs() -> None:
    """Rows marked **program** under an H200 have an entry of a target inductor.programs_* that is wrong there."""
    corpus = {entry.id: entry for entry in entries()}
    for column, triton in ((3, "3.6.0"), (4, "3.9.0")):
        marked = [row for row in rows() if "**program**" in row[column]]
        assert len(marked) >= 10
        for row in marked:
            seen = {one.verdict.value for name in re.findall(r"`programs_\w+/([\w-]+-[0-9a-f]{10})`", " ".join(row))
                    for one in corpus[name].expected if (one.triton, one.backend) == (triton, "cuda")}
            assert "agree" not in seen, row
