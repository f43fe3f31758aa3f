"""Sections of the contracts that code and corpus cite exist in oracles/contracts."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tridiff.fuzz.registry import select
from tridiff.fuzz.target import Target

each = pytest.mark.parametrize
ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = ROOT / "oracles" / "contracts"
PAGES = sorted(path for path in CONTRACTS.glob("*.md") if path.name != "README.md")

_NUMBER = r"\d+(?:\.\d+)*[a-z]?\b"
_BETWEEN = r"(?:, | and | to )"
_ITEM = rf"§{_NUMBER}(?: rows? \d+(?:{_BETWEEN}\d+)*)?"
CITATION = re.compile(rf"\b(\w+\.md)\s+({_ITEM}(?:{_BETWEEN}{_ITEM})*)")
ROWS = re.compile(rf"rows? (\d+(?:{_BETWEEN}\d+)*)")


def cited(text: str) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """(page, section, rows of the section's table) for every section that a text cites."""
    plain = re.sub(r"\s*\n\s*(#\s*)?", " ", text)
    for page, listed in CITATION.findall(plain):
        for part in re.split(r"(?=§)", listed)[1:]:
            section = re.match(rf"§({_NUMBER})", part)
            assert section is not None
            found = ROWS.search(part)
            yield page, section[1], tuple(map(int, re.findall(r"\d+", found[1]))) if found else ()


def headings(page: Path) -> set[str]:
    return {match[1] for match in re.finditer(rf"^#+ ({_NUMBER})[. ]", page.read_text(), re.MULTILINE)}


def rows(page: Path, section: str) -> set[int]:
    """Numbers in the first column of the tables of a section."""
    text = page.read_text()
    start = re.search(rf"^#+ {re.escape(section)}[. ]", text, re.MULTILINE)
    assert start is not None
    body = re.split(r"^## ", text[start.end():], maxsplit=1, flags=re.MULTILINE)[0]
    return {int(match[1]) for match in re.finditer(r"^\| (\d+) \|", body, re.MULTILINE)}


def problems(text: str) -> list[str]:
    """What a text cites that is not there."""
    found = []
    for name, section, numbers in cited(text):
        page = CONTRACTS / name
        if page not in PAGES:
            continue
        if section not in headings(page):
            found.append(f"{name} has no §{section}")
        elif missing := set(numbers) - rows(page, section):
            found.append(f"{name} §{section} has no row {sorted(missing)}")
    return found


def sources() -> list[Path]:
    folders = [ROOT / name for name in ("kernels", "oracles", "fuzz", "tests", "corpus")]
    kinds = ("*.py", "*.md", "*.json", "*.jinja")
    return sorted(path for folder in folders for kind in kinds for path in folder.rglob(kind) if path != Path(__file__))


def test_every_cited_section_exists():
    wrong = {str(path.relative_to(ROOT)): found for path in sources() if (found := problems(path.read_text()))}
    assert not wrong


def test_citations_are_found_in_all_their_forms():
    """The test above is not blind: lists, rows, ranges, line breaks."""
    text = "codegen.md §3, §8 and §9; helpers.md\n    §16 rows 9 and 10), codegen.md §14 row 12, §2.1; oracles.md §4"
    assert set(cited(text)) == {("codegen.md", "3", ()), ("codegen.md", "8", ()), ("codegen.md", "9", ()),
                                ("helpers.md", "16", (9, 10)), ("codegen.md", "14", (12,)), ("codegen.md", "2.1", ()),
                                ("oracles.md", "4", ())}
    assert sum(len(list(cited(path.read_text()))) for path in sources()) > 250


@each("text, problem", [
    ("helpers.md §99", "helpers.md has no §99"), ("helpers.md §16 row 99", "helpers.md §16 has no row [99]"),
    ("helpers.md §16 rows 4 and 77", "helpers.md §16 has no row [77]"), ("ttg_ops.md §6e", "ttg_ops.md has no §6e"),
])
def test_a_section_that_is_not_there_is_named(text: str, problem: str):
    assert problems(text) == [problem]


@each("target", [one for one in select(("helpers.*",)) if one.contract.startswith("helpers.md")],
                         ids=lambda one: one.name)
def test_every_helper_is_described_in_the_section_that_its_target_names(target: Target):
    page, section, _ = next(cited(target.contract))
    text = re.split(rf"^## {section}\. ", (CONTRACTS / page).read_text(), flags=re.MULTILINE)[1].split("\n## ")[0]
    name = target.name.removeprefix("helpers.").removeprefix("exclusive_scan_decoupled_lookback")
    assert re.search(rf"`[^`]*{name}\b|\*\*{name}\b", text)


def test_every_target_names_a_contract_that_exists():
    """A section of these pages, or a function of torch that is documented there."""
    for target in select(()):
        assert list(cited(target.contract)) or target.contract.startswith("torch."), target.name
        assert not problems(target.contract), target.name
