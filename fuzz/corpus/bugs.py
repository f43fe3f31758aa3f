"""The corpus by cause: what has been found, where it is wrong, and the page that says so (`corpus/BUGS.md`).

Everything comes from the entries; nothing is kept by hand but the text at its beginning. Only the class `defect` counts
as a defect; the other classes have sections of their own.
"""

from collections.abc import Iterable
from functools import partial
from itertools import groupby
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import BACKENDS
from tridiff.fuzz.corpus.expected import torch_matters
from tridiff.fuzz.corpus.store import digest_of
from tridiff.fuzz.records import CorpusEntry, Expectation, Stage, Truth, Verdict, encode

PAGE = "BUGS.md"
"""Name of the generated page in the corpus folder."""

GPU_VERSIONS = ("3.6.0", "3.9.0")
"""Triton versions of which every entry should have a row from a GPU."""

WORDS = {Verdict.AGREE: "right", Verdict.DISAGREE: "wrong", Verdict.COMPILE_ERROR: "error", Verdict.CRASH: "crash",
         Verdict.HANG: "hang", Verdict.NOT_CHECKED: "not checked"}
"""A verdict in a matrix. error: it does not compile. crash: the compiler, the kernel or the interpreter ends early."""

_SECTIONS: tuple[tuple[Truth, str, str], ...] = (
    ("defect", "Defects", "A documented or evident promise of the software concerned is broken."),
    ("by_design", "By design", "The project concerned documents or states that it is so. Not defects."),
    ("undefined", "Undefined", "Nobody promises a result for this input or use. Not defects; people run into them."),
    ("accuracy", "Accuracy",
     "The value is inexact, beyond a documented figure or our tolerance, but no other value. Not counted as defects."),
    ("contract", "Our own reading", "What is right follows from our contract alone. Not counted as defects."),
    ("unclassified", "Not judged yet", "Written by campaigns; nobody has given them a class."),
)

_SOFTWARE: dict[Stage, str] = {
    "language": "Triton", "front-end": "Triton", "interpreter": "Triton", "ttir": "Triton", "ttgir": "Triton",
    "runtime": "Triton", "llvm": "LLVM", "ptxas": "ptxas", "inductor": "torch.compile",
    "eager": "torch without a compiler", "hardware": "Hardware", "unknown": "Unknown",
}
"""Whose software a stage is, in the order of the page."""


class MatrixRow(msgspec.Struct, frozen=True, kw_only=True):
    """One backend (and torch version, where torch is the subject). cells: Triton version to what the entries do there:
    "wrong"; where entries differ, "wrong 2, right 1"; where some have no row, "wrong (1 of 3)". A version without any
    row is absent."""

    where: str
    cells: dict[str, str]


class Cause(msgspec.Struct, frozen=True, kw_only=True, rename={"truth": "class"}):
    """All entries of one class and cause; `truth` is "class" in JSON, as in entries. stages: usually one."""

    truth: Truth
    cause: str
    title: str
    stages: tuple[Stage, ...]
    upstream: tuple[str, ...]
    entries: tuple[str, ...]
    """TARGET/ID, the one with the title first."""
    matrix: tuple[MatrixRow, ...]


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """An entry without a verdict for one Triton version on the backend `cuda`."""

    entry: str
    subject: str
    triton: str


def name_of(entry: CorpusEntry) -> str:
    """TARGET/ID."""
    return f"{entry.case.target}/{entry.id}"


def causes(entries: Iterable[CorpusEntry]) -> tuple[Cause, ...]:
    """The entries by class and cause, in the order of the page. An entry without a cause stands alone."""
    groups: dict[tuple[Truth, str], list[CorpusEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.truth, entry.cause or entry.id), []).append(entry)
    for key, members in groups.items():
        groups[key] = sorted(members, key=partial(_rank, members=tuple(members)))
    found = [Cause(
        truth=truth, cause=cause, title=members[0].title, stages=tuple(dict.fromkeys(one.stage for one in members)),
        upstream=tuple(dict.fromkeys(ref for one in members for ref in one.upstream)),
        entries=tuple(map(name_of, members)), matrix=_matrix(members),
    ) for (truth, cause), members in groups.items()]
    order, stages = [truth for truth, _, _ in _SECTIONS], list(_SOFTWARE)
    return tuple(sorted(found, key=lambda one: (order.index(one.truth), stages.index(one.stages[0]), one.cause)))


def _rank(entry: CorpusEntry, members: tuple[CorpusEntry, ...]) -> tuple[bool, bool, int, str]:
    """Sort key that puts the entry first whose title speaks for the cause: of our own kernels, whose explanation refers
    to no other member, with the smallest case."""
    refers = any(other.id in entry.explanation for other in members if other is not entry)
    return entry.signature.subject != "own", refers, len(encode(entry.case)), name_of(entry)


def _matrix(members: list[CorpusEntry]) -> tuple[MatrixRow, ...]:
    seen: dict[str, dict[str, list[str]]] = {}
    candidates: dict[str, int] = {}
    for row in sorted((row for entry in members for row in entry.expected), key=_row_order):
        cells = seen.setdefault(_where(row), {})
        cells.setdefault(row.triton, []).append(WORDS[row.verdict])
        of_torch = torch_matters(row.subject)
        candidates[_where(row)] = sum(any(torch_matters(other.subject) is of_torch for other in entry.expected)
                                      for entry in members)
    return tuple(MatrixRow(where=where, cells={version: _said(cells[version], candidates[where])
                                               for version in sorted(cells, key=release)})
                 for where, cells in seen.items())


def _said(words: list[str], entries: int) -> str:
    different = [word for word in WORDS.values() if word in words]
    text = words[0] if len(different) == 1 else ", ".join(f"{word} {words.count(word)}" for word in different)
    return text if len(words) >= entries else f"{text} ({len(words)} of {entries})"


def _where(row: Expectation) -> str:
    return f"{row.backend} with torch {row.torch}" if torch_matters(row.subject) and row.torch else row.backend


def _row_order(row: Expectation) -> tuple[int, str, str]:
    position = BACKENDS.index(row.backend) if row.backend in BACKENDS else len(BACKENDS)
    return position, row.torch, row.subject


def release(version: str) -> tuple[list[int], str]:
    """A sort key for versions: 3.10.0 after 3.9.0."""
    return [int(part) for part in version.split("+")[0].split(".") if part.isdecimal()], version


def missing(entries: Iterable[CorpusEntry]) -> tuple[Missing, ...]:
    """Verdicts on `cuda` that a replay under one of GPU_VERSIONS would add, by version, then entry."""
    found = []
    for entry in entries:
        for subject in dict.fromkeys(row.subject for row in entry.expected):
            known = {row.triton for row in entry.expected if (row.subject, row.backend) == (subject, "cuda")}
            found += [Missing(entry=name_of(entry), subject=subject, triton=version)
                      for version in GPU_VERSIONS if version not in known]
    return tuple(sorted(found, key=lambda one: (release(one.triton), one.entry, one.subject)))


def page(entries: Iterable[CorpusEntry]) -> str:
    """The text of BUGS.md."""
    found = causes(entries)
    versions = tuple(sorted({version for one in found for row in one.matrix for version in row.cells}, key=release))
    count = {truth: [one for one in found if one.truth == truth] for truth, _, _ in _SECTIONS}
    lines = [
        "# What tridiff has found", "", (Path(__file__).parent / "how_to_read.md").read_text().strip(), "",
        "| class | causes | entries |", "|---|---|---|",
        *(f"| [{title}](#{_anchor(title)}) | {len(count[truth])} | {sum(len(one.entries) for one in count[truth])} |"
          for truth, title, _ in _SECTIONS if count[truth]),
    ]
    for truth, title, said in _SECTIONS:
        if not count[truth]:
            continue
        lines += ["", f"## {title}", "", said]
        if truth == "defect":
            lines += _by_stage(count[truth], versions)
        else:
            for one in count[truth]:
                lines += _paragraph(one, heading="###", told=(), versions=versions)
    return "\n".join((*lines, ""))


def _by_stage(found: list[Cause], versions: tuple[str, ...]) -> list[str]:
    """Under a heading for each software, and for each stage where the software has several of them."""
    lines = []
    for whose, inside in groupby(found, key=lambda one: _SOFTWARE[one.stages[0]]):
        of_software = list(inside)
        lines += ["", f"### {whose}: {len(of_software)}"]
        heading = "####"
        for stage, group in groupby(of_software, key=lambda one: one.stages[0]):
            of_stage = list(group)
            if len(of_stage) < len(of_software):
                lines += ["", f"#### {stage}: {len(of_stage)}"]
                heading = "#####"
            for one in of_stage:
                lines += _paragraph(one, heading=heading, told=(stage,), versions=versions)
    return lines


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _paragraph(one: Cause, *, heading: str, told: tuple[Stage, ...], versions: tuple[str, ...]) -> list[str]:
    """told: the stages that the headings above say."""
    facts = [] if one.stages == told else [f"Stage: {', '.join(one.stages)}."]
    if one.upstream:
        facts.append(f"Upstream: {', '.join(one.upstream)}.")
    links = (f"[{', '.join(map(digest_of, names))}]({target})"
             for target, names in groupby(one.entries, key=lambda name: name.partition("/")[0]))
    facts.append(f"{'Entry' if len(one.entries) == 1 else f'{len(one.entries)} entries'}: {', '.join(links)}.")
    alike: dict[str, list[str]] = {}
    for row in one.matrix:
        alike.setdefault(_told(row.cells, versions), []).append(row.where)
    return ["", f"{heading} {one.cause}", "", f"{_escaped(one.title)}. {' '.join(facts)}", "",
            *(f"- {_joined(where)}: {verdicts}" for verdicts, where in alike.items())]


def _told(cells: dict[str, str], versions: tuple[str, ...]) -> str:
    """A row of a matrix in words: `3.6.0 to 3.8.0 wrong; 3.9.0 right`. versions: all that any entry has a record of; a
    range has a record of each between its ends."""
    runs: list[tuple[str, list[list[str]]]] = []
    for place, version in enumerate(versions):
        if version not in cells:
            continue
        if not runs or runs[-1][0] != cells[version]:
            runs.append((cells[version], []))
        ranges = runs[-1][1]
        if ranges and ranges[-1][-1] == versions[place - 1]:
            ranges[-1].append(version)
        else:
            ranges.append([version])
    return "; ".join(f"{', '.join(map(_range, ranges))} {word}" for word, ranges in runs)


def _range(versions: list[str]) -> str:
    return " to ".join(dict.fromkeys((versions[0], versions[-1])))


def _joined(where: list[str]) -> str:
    """Backends, those ahead of time without `compile:` but for the first: `compile:sm_90, sm_100`."""
    return ", ".join(one.removeprefix("compile:") if before.startswith("compile:") else one
                     for before, one in zip(("", *where), where, strict=False))


def _escaped(text: str) -> str:
    """A title in Markdown: `*` and `|` are themselves."""
    return text.rstrip(".").replace("*", r"\*").replace("|", r"\|").replace("<", r"\<")
