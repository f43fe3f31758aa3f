"""A finding as the text of an issue, ready to be read, judged and pasted. Nothing is sent anywhere."""

from tridiff.fuzz.corpus.bugs import WORDS, release
from tridiff.fuzz.records import CorpusEntry, Environment, Expectation, Verdict
from tridiff.fuzz.report.findings import case_lines, facts
from tridiff.fuzz.report.markdown import cell, fenced
from tridiff.fuzz.report.model import Script
from tridiff.fuzz.repro.describe import evidence_of
from tridiff.fuzz.repro.template import MAX_LINES

MOST_LINES = 60
"""Lines of evidence, and of a log."""

_OWN = ("class", "cause", "stage", "blame", "verdicts", "reproduced", "found on", "explanation")
"""Facts that have a place of their own in the text, or are of our own filing."""

_STAGES = {
    "language": "the library's functions in `triton.language`", "front-end": "the front end (Python to Triton IR)",
    "interpreter": "the interpreter", "ttir": "a pass on TTIR", "ttgir": "a pass on TTGIR, or its lowering to LLVM IR",
    "llvm": "LLVM", "ptxas": "ptxas", "runtime": "launching", "inductor": "torch.compile's generator"}
"""Stages as a maintainer would call them."""


def issue(entry: CorpusEntry, *, script: Script, found_by: str, relation: str = "", wrong: bool = True,
          again: str = "", further: str = "") -> str:
    """The text. found_by: how it was found, in a sentence. relation: how two builds differ, in a sentence, "" for a
    finding of a campaign. wrong: whether a result is wrong, and not only another one. again: what `tridiff repro`
    takes, default the entry's id. further: sections that stand behind what is known."""
    about = dict(facts(entry))
    parts = [f"# {cell(entry.title)}", ""]
    if relation:
        parts += [cell(relation), ""]
    if entry.truth == "unclassified":
        parts += ["> Nobody has judged this yet. Read the contract of the target before you report it.", ""]
    elif entry.truth != "defect":
        parts += [f"> Judged: {cell(about['class'])}. Not a defect; read why before you report it.", ""]
    if "explanation" in about:
        parts += [cell(about["explanation"]), ""]
    parts += ["## What happens", "", *_happens(entry, wrong=wrong), "", "## Script", "",
              *_script(script, f"{entry.id}.py"), "", "## Versions", "", *(_matrix(entry) if wrong else ()),
              *_versions(entry.found_in), ""]
    known = [*_place(entry), *(f"- {'Related' if label == 'upstream' else cell(label)}: {cell(text)}."
                               for label, text in facts(entry) if label not in _OWN)]
    if known:
        parts += ["## Where it goes wrong", "", *known, ""]
    if further:
        parts += [further.rstrip("\n"), ""]
    flaky = "" if entry.status == "stable" else " (flaky)"
    parts += ["## How it was found", "", cell(found_by), "",
              f"Seen in {entry.reproduced} runs of the shrunk case{flaky}. The case:", "",
              fenced("\n".join(case_lines(entry))), "",
              f"Again: `tridiff repro {again or entry.id}`; where the compiler goes wrong: "
              f"`tridiff blame {again or entry.id}`.", ""]
    return "\n".join(parts)


def _matrix(entry: CorpusEntry) -> list[str]:
    """What each version does, a row for each backend."""
    rows = [one for one in entry.expected if one.subject == entry.signature.subject]
    versions = sorted({one.triton for one in rows}, key=release)
    if not rows:
        return []
    said = {(one.backend, one.triton): WORDS[one.verdict] + (" (otherwise)" if _otherwise(entry, one) else "")
            for one in rows}
    return ["| | " + " | ".join(f"Triton {cell(one)}" for one in versions) + " |", "|---" * (len(versions) + 1) + "|",
            *("| " + " | ".join([cell(backend), *(said.get((backend, one), "") for one in versions)]) + " |"
              for backend in dict.fromkeys(one.backend for one in rows)),
            "", "It was found with:", ""]


def _otherwise(entry: CorpusEntry, row: Expectation) -> bool:
    """Whether a version fails in another way than the entry, by another message of the same kind of failure."""
    return row.verdict is entry.signature.verdict and row.verdict.failed and bool(row.kind) and (
        row.kind != entry.signature.kind)


def _place(entry: CorpusEntry) -> list[str]:
    """The stage and the pass, with what was seen of them."""
    found = [f"- In {_STAGES.get(entry.stage, cell(entry.stage))}."] * (entry.stage != "unknown")
    for one in entry.blame:
        if one.localised:
            found.append(f"- Triton {cell(one.triton)}, {cell(one.backend)}: {cell('; '.join(one.evidence))}.")
    return found


def _happens(entry: CorpusEntry, *, wrong: bool) -> list[str]:
    signature = entry.signature
    said = {"disagree": "The result is wrong", "compile_error": "It does not compile", "crash": "It crashes",
            "hang": "It does not end"}.get(signature.verdict.value, signature.verdict.value)
    where = f" in {cell(signature.where)}" if signature.where and signature.verdict is not Verdict.COMPILE_ERROR else ""
    lines = evidence_of(entry)
    more = len(lines) - MOST_LINES
    shown = [*lines[:MOST_LINES], *([f"and {more} lines more"] if more > 0 else [])]
    line = f"{said}{where}: {cell(signature.kind)}." if wrong else (
        f"Another result{where}, where the contract leaves the answer open: {cell(signature.kind)}.")
    return [line, *(["", fenced("\n".join(shown))] if shown else [])]


def _script(script: Script, file: str) -> list[str]:
    if not script.text:
        return [f"There is none: {cell(script.note or 'nobody wrote one')}."]
    said = [f"{cell(script.note)}.", ""] if script.note else []
    lines = len(script.text.splitlines())
    if lines > MAX_LINES:
        return [*said, f"It takes {lines} lines: {cell(file)}, beside this page."]
    return [*said, fenced(script.text, "python")]


def _versions(where: Environment) -> list[str]:
    names = {"Triton": where.triton, "torch": where.torch, "Python": where.python, "numpy": where.numpy,
             "backend": where.backend, "device": where.device, "capability": where.capability, "driver": where.driver,
             "ptxas": where.ptxas, "tridiff": where.tridiff,
             "variables": " ".join(f"{name}={value}" for name, value in sorted(where.knobs.items()))}
    return [f"- {name}: {cell(value)}" for name, value in names.items() if value]
