"""A finding as the text of an issue, ready to be read, judged and pasted. Nothing is sent anywhere."""

from tridiff.fuzz.records import CorpusEntry, Environment
from tridiff.fuzz.report.findings import case_lines, evidence_lines, facts
from tridiff.fuzz.report.markdown import cell, fenced
from tridiff.fuzz.report.model import Script

MOST_LINES = 60
"""Lines of evidence, and of a log."""

_OWN = ("class", "verdicts", "reproduced", "found on")
"""Facts that have a place of their own in the text."""


def issue(entry: CorpusEntry, *, script: Script, found_by: str, relation: str = "", wrong: bool = True,
          again: str = "") -> str:
    """The text. found_by: how it was found, in a sentence. relation: how two builds differ, in a sentence, "" for a
    finding of a campaign. wrong: whether a result is wrong, and not only another one. again: what `tridiff repro`
    takes, default the entry's id."""
    about = dict(facts(entry))
    parts = [f"# {cell(entry.title)}", ""]
    if relation:
        parts += [cell(relation), ""]
    if entry.truth == "unclassified":
        parts += ["> Nobody has judged this yet. Read the contract of the target before you report it.", ""]
    parts += ["## What happens", "", *_happens(entry, wrong=wrong), "", "## Script", "", *_script(script), "",
              "## Versions", "", *_versions(entry.found_in)]
    if "verdicts" in about and wrong:
        parts.append(f"- seen: {cell(about['verdicts'])}")
    parts += ["", "## What is known", "", f"- class: {cell(about['class'])}"]
    parts += [f"- {cell(label)}: {cell(text)}" for label, text in facts(entry) if label not in _OWN]
    flaky = "" if entry.status == "stable" else " (flaky)"
    parts += ["", "## How it was found", "", cell(found_by), "",
              f"Seen in {entry.reproduced} runs of the shrunk case{flaky}. The case:", "",
              fenced("\n".join(case_lines(entry))), "",
              f"Again: `tridiff repro {again or entry.id}`; where the compiler goes wrong: "
              f"`tridiff blame {again or entry.id}`.", ""]
    return "\n".join(parts)


def _happens(entry: CorpusEntry, *, wrong: bool) -> list[str]:
    signature = entry.signature
    said = {"disagree": "The result is wrong", "compile_error": "It does not compile", "crash": "It crashes",
            "hang": "It does not end"}.get(signature.verdict.value, signature.verdict.value)
    where = f" in {cell(signature.where)}" if signature.where else ""
    lines = evidence_lines(entry)
    more = len(lines) - MOST_LINES
    shown = [*lines[:MOST_LINES], *([f"and {more} lines more"] if more > 0 else [])]
    line = f"{said}{where}: {cell(signature.kind)}." if wrong else (
        f"Another result{where}, where the contract leaves the answer open: {cell(signature.kind)}.")
    return [line, *(["", fenced("\n".join(shown))] if shown else [])]


def _script(script: Script) -> list[str]:
    if not script.text:
        return [f"There is none: {cell(script.note or 'nobody wrote one')}."]
    said = [f"{cell(script.note)}.", ""] if script.note else []
    return [*said, fenced(script.text, "python")]


def _versions(where: Environment) -> list[str]:
    names = {"Triton": where.triton, "torch": where.torch, "Python": where.python, "numpy": where.numpy,
             "backend": where.backend, "device": where.device, "capability": where.capability, "driver": where.driver,
             "ptxas": where.ptxas, "tridiff": where.tridiff,
             "variables": " ".join(f"{name}={value}" for name, value in sorted(where.knobs.items()))}
    return [f"- {name}: {cell(value)}" for name, value in names.items() if value]
