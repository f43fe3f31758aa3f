"""Whether the standalone scripts of a corpus say what its entries record: each is written, run and held against the
verdict recorded for the installed Triton."""

import importlib.metadata
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Literal

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.corpus.expected import expectation
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Expectation, Verdict
from tridiff.fuzz.repro.rerun import rerun
from tridiff.fuzz.repro.script import MAX_LINES, Run, script
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.codegen.dialect import found_version

State = Literal["as_recorded", "contradicts", "skip", "unrecorded"]

PLAIN_FAILS = "Triton's own interpreter is wrong here; what is recorded is tridiff's repaired one"

_ORDER = ("cuda", "interpreter", "compile")
"""Kinds of backends, the preferred first."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """One entry's script. expected: BUG or OK by the recorded verdict, "" where none is recorded for this version.
    answer, reason: what the script said; no answer at all contradicts whatever is expected. lines: of the script, which
    is a bundle where it does not fit otherwise. seconds: wall time of the run."""

    id: str
    target: str
    subject: str = ""
    backend: str = ""
    triton: str = ""
    expected: str = ""
    answer: str = ""
    reason: str = ""
    state: State
    lines: int = 0
    bundle: bool = False
    seconds: float = 0.0


def check(
    entries: Iterable[CorpusEntry | TridiffError], *, backends: tuple[str, ...] = (), workers: int = 1,
    time_limit: float = 120.0,
) -> Iterator[Checked]:
    """Write and run the script of every entry, on one backend each, and say how it stands to the record; results come
    as they are reached.

    backends: those to use, `compile` standing for all architectures; default those of this machine. workers: scripts
    at a time. time_limit: seconds for writing a script and for each run of it.
    """
    here = available_backends()
    offered = tuple(name for name in here if not backends or name in backends or kind(name) in backends)
    installed = found_version()
    with ThreadPoolExecutor(max_workers=workers) as pool:
        left = {pool.submit(_check_one, entry, offered, installed, time_limit) for entry in entries}
        try:
            while left:
                done: set[Future[Checked]]
                done, left = wait(left, return_when=FIRST_COMPLETED)
                for one in done:
                    yield one.result()
        finally:
            for one in left:
                one.cancel()


def chosen(entry: CorpusEntry, *, offered: tuple[str, ...], triton: str) -> tuple[str, Expectation | None]:
    """(the backend to use, what is recorded for it and this version): where this version is recorded to fail, before
    where it is recorded to agree, before where another version is recorded; the GPU first of each. An empty name
    where the entry has no record for any of the backends offered."""
    subject = entry.signature.subject
    rows = [one for one in entry.expected if one.subject == subject and one.backend in offered
            and kind(one.backend) != "evaluated"]  # a script has no evaluator

    def preference(one: Expectation) -> tuple[bool, bool, int, str]:
        return one.triton != triton, not one.verdict.failed, _ORDER.index(kind(one.backend)), one.backend

    if not rows:
        return "", None
    backend = min(rows, key=preference).backend
    return backend, expectation(entry, subject=subject, triton=triton, backend=backend, torch=_torch())


def _torch() -> str:
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _check_one(entry: CorpusEntry | TridiffError, offered: tuple[str, ...], triton: str, time_limit: float) -> Checked:
    if isinstance(entry, TridiffError):
        return Checked(id=entry.problem.partition(": ")[0], target="", state="skip", reason=str(entry))
    backend, wanted = chosen(entry, offered=offered, triton=triton)
    blank = Checked(id=entry.id, target=entry.case.target, subject=entry.signature.subject, backend=backend,
                    triton=triton, state="skip")
    if not backend:
        names = ", ".join(sorted({one.backend for one in entry.expected if one.subject == entry.signature.subject}))
        return replace(blank, answer="SKIP", reason=f"recorded for {names or 'no backend'}, none of "
                                       "which is available here")
    expected = "" if wanted is None or wanted.verdict is Verdict.NOT_CHECKED else (
        "BUG" if wanted.verdict.failed else "OK")
    try:
        made = script(entry, backend=backend, length="short if possible", fails=expected == "BUG",
                      time_limit=time_limit)
    except TridiffError as error:
        return replace(blank, answer="SKIP", expected=expected, reason=f"no script: {error}")
    if expected == "OK" and made.answer == "BUG" and backend == "interpreter" and _plain_fails(entry):
        return replace(blank, answer="SKIP", expected=expected, reason=PLAIN_FAILS, lines=made.lines)
    if expected == "BUG" and made.answer == "OK" and entry.status == "flaky":
        return replace(
            blank, answer="OK", expected=expected, lines=made.lines, seconds=made.ran.seconds,
            reason=f"flaky: seen in {entry.reproduced} runs, and in none of {made.ran.launches} here")
    return replace(
        blank, expected=expected, answer=made.answer, reason=made.ran.reason, state=_state(expected, made.ran),
        lines=made.lines, bundle=made.lines > MAX_LINES, seconds=made.ran.seconds)


def _plain_fails(entry: CorpusEntry) -> bool:
    """Whether Triton's interpreter as it is, in which scripts run, fails where tridiff's repaired one is right."""
    try:
        return rerun(entry, subject=PLAIN, backend="interpreter").outcome.verdict.failed
    except TridiffError:
        return False  # the target has no such subject


def _state(expected: str, ran: Run) -> State:
    if ran.answer == "SKIP":
        return "skip"
    if not expected:
        return "unrecorded" if ran.answer in ("BUG", "OK") else "contradicts"
    return "as_recorded" if ran.answer == expected else "contradicts"
