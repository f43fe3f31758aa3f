"""What the documents point at exists, and the README's table says what the corpus says."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from tridiff.fuzz.cli.app import COMMANDS
from tridiff.fuzz.corpus import Corpus
from tridiff.fuzz.corpus.bugs import causes
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.records.corpus_entry import Stage

each = pytest.mark.parametrize
ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(path for folder in ("", ".github", "corpus", "fuzz", "kernels", "oracles", "reports")
                   for path in (ROOT / folder).glob("**/*.md" if folder else "*.md")
                   if path.name != "how_to_read.md")  # a part of corpus/BUGS.md
LINK = re.compile(r"\]\(([^)#\s]+)?(?:#([^)\s]+))?\)")
NAMED = re.compile(r"`((?:\.github|corpus|fuzz|kernels|oracles|reports|tests)/[\w./-]*)`")


def anchors(path: Path) -> set[str]:
    """The names that headings of a page get: lower case, words joined by hyphens."""
    found = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in found}


@each("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_paths_lead_somewhere(document: Path):
    text = document.read_text()
    broken = []
    for target, anchor in LINK.findall(text):
        if "://" in target:
            continue
        file = (document.parent / target).resolve() if target else document
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(f"{target}#{anchor}" if anchor else target)
    broken += [name for name in NAMED.findall(text) if not (ROOT / name).exists() and "*" not in name]
    assert not broken


def test_explanations_of_entries_name_no_file_that_is_gone_and_no_habit_of_the_search():
    """What is drawn or avoided changes from release to release; known issues say it, entries do not."""
    for path in sorted((ROOT / "corpus").glob("*/*.json")):
        said = json.loads(path.read_text()).get("explanation", "")
        files = re.findall(r"\b(?:fuzz|kernels|oracles|reports|tests)/[\w/.-]+\w", said)
        assert all((ROOT / name).exists() for name in files), path.name
        assert not re.search(r"not drawn|drawn (programs|chains|cases)|(drawn|converted) instead", said, re.I), said


def test_files_that_sources_name_exist():
    """In comments and messages; `reports/` and paths of a reader's own apart."""
    sources = [ROOT / "pyproject.toml", *(
        path for folder in ("fuzz", "kernels", "oracles", "tests", ".github") for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".yml", ".jinja"))]
    gone = {(path.name, name) for path in sources for name in re.findall(
        r"(?<![\w/.-])(?:fuzz|kernels|oracles|tests)/[\w/-]+\.(?:py|md|toml|json)\b", path.read_text())
        if not (ROOT / name).exists()}
    assert gone == set()


def test_readme_says_what_the_corpus_says():
    """The README's defects are defects of the corpus, with the verdicts of its rows, and there are at most five."""
    rows = re.findall(r"^\| .+?BUGS\.md#([\w-]+)\) \| .+? \| (\w+) \| (\w+) \|$", (ROOT / "README.md").read_text(),
                      re.MULTILINE)
    entries = [one for one in Corpus(ROOT / "corpus").entries() if isinstance(one, CorpusEntry)]
    defects = {one.cause: one for one in causes(entries) if one.truth == "defect"}
    assert 1 <= len(rows) <= 5
    for cause, old, new in rows:
        on_gpu = [row.cells for row in defects[cause].matrix if row.where.startswith("cuda")]
        assert all((cells["3.6.0"], cells["3.9.0"]) == (old, new) for cells in on_gpu), cause


@each("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_that_documents_find_in_modules_are_there(document: Path):
    """`NAME` in, or of, `PATH`."""
    found = re.findall(r"`(\w+)` (?:in|of)\s+`(\w+/[\w/]+\.py)`", document.read_text())
    assert [(name, path) for name, path in found
            if not re.search(rf"^(def |class |    def )?{name}\b", (ROOT / path).read_text(), re.MULTILINE)] == []


@each("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_stages_in_examples_are_stages(document: Path):
    assert set(re.findall(r'stage="([\w-]*)"', document.read_text())) <= set(get_args(Stage))


def test_commands_that_documents_name_exist():
    """`tridiff NAME` in code style, in the README, the recipes and the corpus."""
    named = {command for document in DOCUMENTS
             for command in re.findall(r"(?:`|^    |&& )tridiff ([a-z]+)", document.read_text(), re.MULTILINE)}
    assert named and named <= set(COMMANDS)
