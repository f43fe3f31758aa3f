"""Standalone scripts: a finding as at most 40 lines that need torch, triton and numpy only.

`script` has the text written by a child process, which may try several forms, and runs each where this machine can,
so that what comes out is known to print BUG for a finding that still fails here.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from tridiff.fuzz.backends import BACKENDS, kind
from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.campaign.replay import misfit
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.records.codec import printable
from tridiff.fuzz.repro.request import Candidate, Candidates, Request
from tridiff.fuzz.repro.template import MAX_LINES as MAX_LINES

Answer = Literal["BUG", "OK", "failed", "not run"]
"""What a script's run said: its last line; `failed` when it ended otherwise; `not run` where it cannot run here."""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """text: the file's content. answer: what it printed here. faithful: whether the kernel takes every argument of the
    original launch at run time (otherwise sizes and strides are literals in it)."""

    text: str
    answer: Answer
    faithful: bool

    @property
    def lines(self) -> int:
        return self.text.count("\n")


def script(
    entry: CorpusEntry, *, subject: str = "", backend: str = "", verify: bool = True, time_limit: float = 120.0,
) -> Script:
    """The standalone script of an entry.

    subject: instead of the entry's own (`own` shows a planted fault's clean control). backend: where the script is to
    run, default where the entry was found, or where it is expected to fail. verify: run the candidates here, if the
    backend is available, and prefer one that prints BUG (a script that prints OK is returned only if none does).
    time_limit: seconds for writing it and for each run.

    Raises TridiffError where no script can show the finding: planted process faults, cases with too many values,
    kernels that use what cannot be written down.
    """
    subject = subject or entry.signature.subject
    backend = backend or default_backend(entry, subject)
    if backend not in BACKENDS:
        raise TridiffError(f"unknown backend {printable(repr(backend), limit=60)}",
                           fix=f"use one of {' '.join(BACKENDS)}")
    problem = misfit(entry.case, subject)
    if problem:
        raise TridiffError(problem, fix="check the entry with `tridiff replay`")
    request = Request(
        title=_comment(entry.title or entry.id), note=_note(entry), case=entry.case, subject=subject, backend=backend,
        failure=entry.signature.verdict, failure_kind=entry.signature.kind, where=entry.signature.where)
    candidates = _ask(request, time_limit=time_limit)
    if not verify or not _runs_here(backend):
        # Nobody can say which form still fails: take the one that launches as the case does.
        chosen = candidates[-1]
        return Script(text=chosen.text, answer="not run", faithful=chosen.faithful)
    tried: list[Script] = []
    for one in candidates:
        tried.append(Script(text=one.text, answer=run(one.text, time_limit=time_limit), faithful=one.faithful))
        if tried[-1].answer == "BUG":
            return tried[-1]
    return next((one for one in tried if one.answer == "OK"), tried[-1])


def default_backend(entry: CorpusEntry, subject: str) -> str:
    """Where the entry was found; else the first backend on which the subject is expected to fail."""
    if entry.found_in.backend:
        return entry.found_in.backend
    failing = [one.backend for one in entry.expected if one.verdict.failed and one.subject == subject]
    return failing[0] if failing else "interpreter"


def run(text: str, *, time_limit: float = 120.0) -> Answer:
    """Run a script on its own: an empty folder, no PYTHONPATH, a fresh Triton cache."""
    with tempfile.TemporaryDirectory(prefix="tridiff-script-") as folder:
        path = Path(folder) / "script.py"
        path.write_text(text, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRITON_"))}
        environment["TRITON_CACHE_DIR"] = str(Path(folder) / "cache")
        try:
            done = subprocess.run([sys.executable, str(path)], cwd=folder, env=environment, capture_output=True,
                                  text=True, errors="replace", timeout=time_limit, check=False)
        except subprocess.TimeoutExpired:
            return "failed"
        last = done.stdout.strip().splitlines()[-1:]
        if done.returncode == 0 and last == ["BUG"]:
            return "BUG"
        return "OK" if done.returncode == 0 and last == ["OK"] else "failed"


def _runs_here(backend: str) -> bool:
    return kind(backend) == "compile" or backend in available_backends()


def _comment(text: str) -> str:
    return printable(" ".join(text.split()), limit=104)


def _note(entry: CorpusEntry) -> str:
    where = entry.found_in
    parts = [", ".join(entry.upstream)] if entry.upstream else []
    versions = [f"{name} {value}" for name, value in (("Triton", where.triton), ("torch", where.torch)) if value]
    device = where.device if kind(where.backend) == "cuda" else where.backend
    if versions:
        parts.append(f"found with {', '.join(versions)}{f' on {device}' if device else ''}")
    return _comment("; ".join(parts))


def _ask(request: Request, *, time_limit: float) -> tuple[Candidate, ...]:
    """The child's candidates; asked a second time without the compiler's front end if that brings it down."""
    problem = ""
    for liveness in (True, False):
        asked = msgspec.structs.replace(request, liveness=liveness)
        environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
        with tempfile.TemporaryDirectory(prefix="tridiff-script-") as cache:
            environment["TRITON_CACHE_DIR"] = cache
            try:
                done = subprocess.run([sys.executable, "-m", "tridiff.fuzz.repro.child"],
                                      input=msgspec.json.encode(asked),
                                      capture_output=True, env=environment, timeout=time_limit, check=False)
            except subprocess.TimeoutExpired:
                problem = f"no answer within {time_limit:g} s"
                continue
        if done.returncode == 0 and done.stdout:
            found = msgspec.json.decode(done.stdout, type=Candidates)
            if found.problem:
                raise TridiffError(found.problem, fix=found.fix)
            return found.scripts
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        problem = printable(last[0]) if last else f"exit status {done.returncode}"
    raise TridiffError(f"the script could not be written: {problem}", fix="rerun it with `tridiff repro` instead")
