"""Findings of a report, from the corpus entries that records keep."""

from tridiff.fuzz.corpus.bugs import WORDS, release
from tridiff.fuzz.corpus.cause import finding_of_entry
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.report.model import Finding, Level, Lines, Script
from tridiff.fuzz.repro.describe import describe_case, evidence_of

_SOUND = {"defect": "a defect", "by_design": "by design", "undefined": "undefined", "accuracy": "accuracy",
          "contract": "our own reading of the contract", "unclassified": "not judged yet"}
"""Classes of differences, in words."""


def finding(entry: CorpusEntry, *, group: str, level: Level, script: Script | None = None, reason: str = "",
            about: tuple[tuple[str, str], ...] = (), file: str = "", command: str = "") -> Finding:
    """A finding with everything that its entry says. reason: of the record, default the title. about: facts of the
    record, which come first. file: where the record keeps the entry. command: default `tridiff repro ID`."""
    signature = entry.signature
    backend = entry.found_in.backend or next((one.backend for one in entry.expected), "")
    return Finding(
        id=entry.id, key=key(entry), group=group, level=level, title=entry.title or entry.id, reason=reason,
        target=entry.case.target, subject=signature.subject, backend=backend,
        kind=f"{signature.verdict.value}, {signature.kind}" if signature.kind else signature.verdict.value,
        about=(*about, *facts(entry)), case=case_lines(entry), evidence=evidence_of(entry),
        script=script or Script(), command=command or f"tridiff repro {entry.id}", file=file)


def key(entry: CorpusEntry) -> str:
    """What is the same for the same finding in every campaign: its cause."""
    try:
        return finding_of_entry(entry)
    except TridiffError:  # A target that this release does not have.
        return entry.signature.key


def facts(entry: CorpusEntry) -> tuple[tuple[str, str], ...]:
    """Class, cause, stage, blame, upstream issues, verdicts by version: (label, text), those that are known."""
    where = entry.found_in
    found = [("class", _SOUND[entry.truth]), ("cause", entry.cause),
             ("stage", "" if entry.stage == "unknown" else entry.stage)]
    found += [("blame", f"{one.line}, Triton {one.triton} on {one.backend}") for one in entry.blame]
    found += [("upstream", ", ".join(entry.upstream)), ("verdicts", verdicts(entry)),
              ("reproduced", f"{entry.reproduced}{'' if entry.status == 'stable' else ', flaky'}"),
              ("found on", ", ".join(filter(None, (f"Triton {where.triton}" if where.triton else "", where.backend,
                                                   where.device, f"torch {where.torch}" if where.torch else "")))),
              ("explanation", entry.explanation)]
    return tuple((label, text) for label, text in found if text)


def verdicts(entry: CorpusEntry) -> str:
    """What each version does, by backend: "cuda: 3.6.0 wrong, 3.9.0 right; interpreter: ..."."""
    by_backend: dict[str, dict[str, str]] = {}
    for one in entry.expected:
        if one.subject == entry.signature.subject:
            by_backend.setdefault(one.backend, {})[one.triton] = WORDS[one.verdict]
    return "; ".join(
        f"{backend}: " + ", ".join(f"{triton} {words[triton]}" for triton in sorted(words, key=release))
        for backend, words in by_backend.items())


def case_lines(entry: CorpusEntry) -> Lines:
    """Sizes, parameters, options and arrays of the shrunk case."""
    return tuple(describe_case(entry.case))
