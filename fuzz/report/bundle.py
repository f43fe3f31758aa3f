"""A folder with everything that a maintainer asks for about one finding: `tridiff repro ENTRY --bundle FOLDER`."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.blame.laboratory import Laboratory
from tridiff.fuzz.blame.localise import backend_here, blame
from tridiff.fuzz.blame.way_round import WayRound, lines, way_round
from tridiff.fuzz.corpus.store import readable
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.explain.explain import What, Wish, explain
from tridiff.fuzz.explain.model import Departure, Explanation
from tridiff.fuzz.records import Blame, CorpusEntry
from tridiff.fuzz.report.explained import page
from tridiff.fuzz.report.findings import facts, verdicts
from tridiff.fuzz.report.issue import issue
from tridiff.fuzz.report.model import Script
from tridiff.fuzz.repro.assembly_text import FILE, comment
from tridiff.fuzz.repro.describe import evidence_of
from tridiff.fuzz.repro.script import runs_here, script
from tridiff.kernels.codegen.dialect import found_version

SECONDS = 60.0
"""Budget of a blame and of the ways round, each."""


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """files: what was written, by name, with what it is. missing: what could not be made, and why. answer: what the
    script said here."""

    files: dict[str, str]
    missing: dict[str, str]
    answer: str = ""


class _Writer:
    """The folder, and what is in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, str] = {}
        self.missing: dict[str, str] = {}

    def write(self, name: str, what: str, text: str) -> None:
        (self.folder / name).write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
        self.files[name] = what

    @contextlib.contextmanager
    def part(self, what: str) -> Iterator[None]:
        """A part that may be impossible: the reason is kept."""
        try:
            yield
        except TridiffError as error:
            self.missing[what] = error.problem


def write_bundle(entry: CorpusEntry, folder: Path, *, backend: str = "", seconds: float = SECONDS,
                 time_limit: float = 120.0, told: Callable[[str], None] = lambda what: None) -> Bundle:
    """Write the folder. backend: where it is shown; default where it was found, and on a machine without that one
    where it fails here. told: what is being made. Raises TridiffError for a folder that cannot be written."""
    with writing(folder, fix="choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        made = _bundle(entry, _Writer(folder), backend, seconds, time_limit, told)
    return made


def _bundle(entry: CorpusEntry, out: _Writer, backend: str, seconds: float, time_limit: float,
            told: Callable[[str], None]) -> Bundle:
    here = backend or backend_here(entry, available_backends(), found_version())
    found_on = entry.found_in.backend
    shown_on = backend or (found_on if runs_here(found_on) or not here or kind(here) == "evaluated" else here)
    out.write("entry.json", "the finding; `tridiff repro entry.json` runs it", readable(entry).decode())
    out.write("expected.txt", "inputs, expected and actual values, or the end of the log",
              "\n".join(evidence_of(entry)) or "nothing was recorded")
    out.write("environment.txt", "where it was found", "\n".join(_environment(entry)))
    out.write("versions.txt", "what each version does", verdicts(entry) or "nobody has run other versions")
    told("the script")
    shown = Script(note="it could not be written")
    answer = ""
    with out.part("bug.py"):
        made = script(entry, backend=shown_on, length="short if possible", time_limit=time_limit)
        answer = made.ran.line
        shown = Script(text=made.text, note=f"{made.lines} lines; run here it says {answer}")
        out.write("bug.py", "a script that needs torch, triton and numpy only; it says BUG, OK or SKIP", made.text)
        if made.assembly is not None:
            out.write(FILE, f"the kernel's PTX; {made.assembly.command}", comment(made.assembly))
    blames = entry.blame
    found = WayRound(guard="")
    with Laboratory(seconds=seconds) as laboratory:
        told("blame")
        if not blames and here:
            with out.part("blame.json"):
                blames = (blame(entry.case, entry.signature.subject, here, signature=entry.signature,
                                laboratory=laboratory),)
        told("ways round")
        laboratory.renew(seconds)
        with out.part("way-round.txt"):
            found = way_round(entry, here, laboratory=laboratory)
            out.write("way-round.txt", "for whom it is wrong, and what makes it right", "\n".join(lines(found)))
    if blames:
        out.write("blame.json", "where it goes wrong, with every change that was tried",
                  json.dumps(msgspec.to_builtins(blames), indent=1))
    elif not here:
        out.missing["blame.json"] = "it was not seen to fail on a backend of this machine"
    told("the explanation")
    with out.part("explanation.html"):
        one = _explained(entry, blames, here)
        out.write("explanation.html", "source, stages and memory, and how the wrong element came about", page(one))
        _stages(out, one, blames)
    known = msgspec.structs.replace(entry, blame=blames)
    out.write("issue.md", "a text to read, judge and paste", issue(
        known, script=shown, found_by="By differential fuzzing with tridiff.", further=_round(found)))
    out.write("README.md", "this list", _index(known, out, answer))
    return Bundle(files=out.files, missing=out.missing, answer=answer)


def _environment(entry: CorpusEntry) -> list[str]:
    fields = msgspec.to_builtins(entry.found_in)
    return [f"{name}: {value}" for name, value in fields.items() if value]


def _step(blames: tuple[Blame, ...]) -> str:
    """The pass that is blamed, if any."""
    return next((one.step for one in blames if one.step.startswith(("make_", "gluon_"))), "")


def _explained(entry: CorpusEntry, blames: tuple[Blame, ...], here: str) -> Explanation:
    arch = here.partition(":")[2] or entry.found_in.architecture or "sm_90"
    return explain(What(named=entry.id, case=entry.case, entry=entry, subject=entry.signature.subject),
                   Wish(arch=arch, passes=True, step=_step(blames), blame=blames))


def _stages(out: _Writer, one: Explanation, blames: tuple[Blame, ...]) -> None:
    """The IR around the pass that goes wrong, and every stage as far as the compiler got."""
    for stage in one.stages.texts:
        if stage.name != "source":
            out.write(f"kernel.{stage.name}", f"the kernel's {stage.name} for {one.stages.arch}", stage.text)
    departure = one.stages.departure
    if departure is None and one.stages.before and one.stages.failed_in.startswith("llvm"):
        out.write("before.mlir", "the last IR in front of LLVM", (
            f"// {one.stages.failed_in}\n// RUN: mlir-translate --mlir-to-llvmir %s | opt -O3 | llc\n"
            f"{one.stages.before}"))
        return
    if departure is None:
        out.missing["before.mlir"] = "no single pass is known to go wrong" if not _step(blames) else (
            f"{_step(blames)} changed nothing in this compilation")
        return
    out.write("before.mlir", f"the IR in front of {departure.step}", as_test(departure))
    if departure.after:
        out.write("after.mlir", f"the IR behind {departure.step}", departure.after)


def as_test(departure: Departure) -> str:
    """The IR in front of a pass as a test for `triton-opt`, which stands in a source build of Triton."""
    command = f"triton-opt %s --pass-pipeline='{departure.pipeline}'"
    return f"// {departure.step}\n// RUN: {command}\n{departure.before}"


def _round(found: WayRound) -> str:
    """Which changes of the launch make it right, as a section of the issue, without those of the harness alone."""
    tried = [one for one in found.tried if one.what in ("option", "environment")]
    right = [one for one in tried if one.effect == "gone"]
    if not tried:
        return ""
    said = [f"- `{one.change}`{' in the environment' if one.what == 'environment' else ''}" for one in right]
    text = "\n".join(said) if said else "No option of the launch that was tried makes it right."
    idle = ", ".join(f"`{one.change}`" for one in tried if one.effect == "same")
    return (f"## Workarounds\n\nTried on {found.backend} with Triton {found.triton}"
            f"{'; right with any of these:' if said else '.'}\n\n{text}\n"
            f"{f'{chr(10)}No help: {idle}.{chr(10)}' if idle else ''}")


def _index(entry: CorpusEntry, out: _Writer, answer: str) -> str:
    parts = [f"# {entry.title}", ""]
    parts += [f"- {label}: {text}" for label, text in facts(entry) if label in ("class", "stage", "blame", "upstream")]
    if answer:
        parts += [f"- the script, run where this was written: {answer}"]
    parts += ["", "| file | |", "|---|---|", *(f"| {name} | {what} |" for name, what in out.files.items()), ""]
    if out.missing:
        parts += ["Not here:", "", *(f"- {name}: {why}" for name, why in out.missing.items()), ""]
    return "\n".join(parts)
