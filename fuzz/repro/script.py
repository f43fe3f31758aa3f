"""Standalone scripts: a finding as at most 40 lines that need torch, triton and numpy only; and tridiff, where another
defect of Triton's interpreter hides how two builds differ.

`script` has the text written by a child process, which may try several forms, and runs each where this machine can,
so that what comes out is known to print BUG for a finding that still fails here.
"""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.backends import BACKENDS, compiler, kind
from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.campaign.replay import FLAKY_ATTEMPTS, attempts, misfit
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, CorpusEntry, Verdict
from tridiff.fuzz.records.codec import printable
from tridiff.fuzz.repro.frame import RIGHT_SO_OFTEN, STATUS
from tridiff.fuzz.repro.request import (
    MANY_VALUES,
    Assembly,
    Candidate,
    Candidates,
    Length,
    Recorded,
    Request,
    no_script,
)
from tridiff.fuzz.repro.template import MAX_LINES as MAX_LINES
from tridiff.fuzz.repro.waited import Stop, forked, never, own_folder, waited
from tridiff.fuzz.shrink.explicit import cut_row

Answer = Literal["BUG", "OK", "SKIP", "none"]
"""What a script's run said; `none`: no answer, because it was not run here, ended otherwise or took too long."""

_FROM = ("BUG", "OK", "SKIP")

_HIDES = r"torch\.(bfloat16|float8)|only 0-dimensional arrays"
"""Signs of what hides a finding in Triton's own interpreter: it reads bf16 and fp8 as integers, and that of 3.6.0 takes
no scalar as the bound of a loop since numpy 2.4."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a script. reason: behind SKIP, or why there is no answer. seconds: wall time. launches: how many were
    right, where it may take several until one is wrong."""

    answer: Answer
    reason: str = ""
    seconds: float = 0.0
    launches: int = 1

    @property
    def line(self) -> str:
        """The answer with its reason."""
        return f"{self.answer}: {self.reason}" if self.reason else self.answer


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """text: the file's content. ran: what it said here. faithful: whether the kernel takes every argument of the
    original launch at run time (otherwise sizes and strides are literals in it). assembly: PTX of the kernel, for a
    finding about ptxas. beside: what it said with another build, if that was asked for and it says BUG here."""

    text: str
    ran: Run
    faithful: bool
    backend: str
    assembly: Assembly | None = None
    beside: Run | None = None

    @property
    def answer(self) -> Answer:
        return self.ran.answer

    @property
    def differs(self) -> bool:
        """Whether the two builds that ran it answer BUG and OK."""
        return self.answer == "BUG" and self.beside is not None and self.beside.answer == "OK"

    @property
    def lines(self) -> int:
        return self.text.count("\n")


def script(
    entry: CorpusEntry, *, subject: str = "", backend: str = "", verify: bool = True, time_limit: float = 120.0,
    length: Length = "short", fails: bool | None = None, path: str = "", stop: Stop = never,
    preloaded: Path | None = None, other: str | None = None,
) -> Script:
    """The standalone script of an entry.

    subject: instead of the entry's own (`own` shows a planted fault's clean control). backend: where the script is to
    run, default where the entry was found, or where it is expected to fail. verify: run the candidates here, if the
    backend is available, and prefer one that prints BUG; where none does, the one that launches as the case does.
    length: short is at most MAX_LINES lines of at most 120 columns. time_limit: seconds for writing it
    and for each run. fails: whether the harness sees the failure here, if that is known: on the interpreter, a right
    result then says that only tridiff's repaired interpreter shows it, and the script answers SKIP. path: folders, as
    PYTHONPATH takes them, that come first in the child's and the script's path: another Triton than the installed one.
    stop: asked while it waits; once true, it is as if the time were up. preloaded: folder of processes of which one
    may be forked to write it (`workers.preloaded`); it is run in one of its own in any case. other: as `path`, for
    a build that is right: of scripts that print BUG here, one that does not print it there is preferred.

    Raises TridiffError where no script can show the finding: planted process faults, cases with too many values,
    kernels that use what cannot be written down, scripts that are too long.
    """
    subject = subject or entry.signature.subject
    backend = backend or default_backend(entry, subject)
    if backend not in BACKENDS:
        raise TridiffError(f"unknown backend {printable(repr(backend), limit=60)}",
                           fix=f"use one of {' '.join(BACKENDS)}")
    problem = misfit(entry.case, subject)
    if problem:
        raise TridiffError(problem, fix="check the entry with `tridiff replay`")
    backend = _with_script(backend, entry)
    case, schedule = _wrong_launch(entry)
    delayed = verify and case.delay is not None and runs_here(backend)
    if delayed:  # it may fail as well where nobody waits
        case = replace(case, delay=None)
    request = Request(
        title=_comment(entry.title or entry.id), note=_note(entry), case=case, subject=subject, backend=backend,
        failure=entry.signature.verdict, failure_kind=entry.signature.kind, where=entry.signature.where,
        schedule=schedule, recorded=recorded(entry, subject=subject, backend=backend), length=length,
        ptx=about_ptxas(entry) and kind(backend) == "cuda",
        launches=attempts(entry) if kind(backend) == "cuda" else 1, seen=entry.reproduced)

    def best(request: Request) -> Script:
        return _best(_ask(request, time_limit=time_limit, path=path, stop=stop, preloaded=preloaded), backend,
                     verify=verify, run=lambda text: run(text, time_limit=time_limit, path=path, stop=stop),
                     beside=None if other is None else
                     lambda text: run(text, time_limit=time_limit, path=other, stop=stop))

    try:
        made = best(request)
    except TridiffError as error:
        if MANY_VALUES not in error.problem or case.sizes.get("rows", 1) == 1:
            raise
        request = replace(request, case=cut_row(case, entry.evidence.row))
        made = best(request)
    if kind(backend) == "interpreter" and (other is not None or (fails and made.answer == "OK")):
        said = f"{made.text} {made.ran.reason} {made.beside and made.beside.reason}"
        for way in ("around", "repaired") if other is not None and re.search(_HIDES, said) else ("repaired",):
            if not made.differs:
                with contextlib.suppress(TridiffError):  # what there is, stays
                    apart = best(replace(request, **{way: True}))
                    shows = way == "repaired" and fails and (made.answer, apart.answer) == ("OK", "BUG")
                    made = apart if apart.differs or shows else made
        if fails and made.answer == "OK":
            made = best(replace(request, only_repaired=True))
    if fails and made.answer == "OK" and kind(backend) == "cuda" and request.launches == 1 and not delayed:
        # The harness has launched much before, of which a register that nothing writes may hold what is left.
        with contextlib.suppress(TridiffError):  # what there is, stays
            several = best(replace(request, launches=FLAKY_ATTEMPTS))
            made = several if several.answer == "BUG" else made
    if delayed and made.answer == "OK" and fails is not False:
        return best(replace(request, case=entry.case))  # raises: a script has no pause
    return made


def _wrong_launch(entry: CorpusEntry) -> tuple[Case, int]:
    """The case as it was launched when it failed, and in which schedule; where it was right and another launch gives
    other bits, with that one beside it."""
    launched = entry.evidence.launched
    if launched is None:
        return entry.case, 0
    if entry.signature.kind != "option_dependent":
        return entry.case.under(launched.options), launched.schedule
    if launched.schedule:
        raise no_script("two schedules of one case give other bits, a script shows one kernel")
    return replace(entry.case, variants=(launched.options,)), 0


def _with_script(backend: str, entry: CorpusEntry) -> str:
    """Where a script can show a failure of the backend: none has an evaluator, but what a pass makes wrong is wrong on
    the GPU as well, and what the compiler ends in, it ends in without one."""
    if kind(backend) != "evaluated":
        return backend
    in_compiler = entry.signature.verdict is Verdict.COMPILE_ERROR or entry.signature.kind.startswith(("SIG", "exit_"))
    return compiler(backend) if in_compiler else "cuda"


def recorded(entry: CorpusEntry, *, subject: str, backend: str) -> tuple[Recorded, ...]:
    """Every way in which a version of Triton failed on the backend, that of the signature first. None where none did
    or where the subject is not the entry's."""
    ways: dict[tuple[Verdict, str], None] = {}
    own = (entry.signature.verdict, entry.signature.kind)
    for one in entry.expected:
        if (one.subject, one.backend) == (subject, backend) and one.verdict.failed:
            same = one.verdict is entry.signature.verdict
            ways[one.verdict, one.kind or (entry.signature.kind if same else "")] = None
    ordered = sorted(ways, key=lambda way: way != own)
    return tuple(Recorded(verdict=verdict, kind=name) for verdict, name in ordered)


def about_ptxas(entry: CorpusEntry) -> bool:
    """Whether the defect is one of ptxas: by the entry's stage where it is known, else by its explanation."""
    if entry.stage != "unknown":
        return entry.stage == "ptxas"
    return re.search(r"\bptxas\b", entry.explanation) is not None


def _best(candidates: Candidates, backend: str, *, verify: bool, run: Callable[[str], Run],
          beside: Callable[[str], Run] | None = None) -> Script:
    forms = candidates.scripts

    def made(one: Candidate, ran: Run) -> Script:
        return Script(text=one.text, ran=ran, faithful=one.faithful, backend=backend, assembly=candidates.assembly)

    if not verify or not runs_here(backend):
        # Nobody can say which form still fails: take the one that launches as the case does.
        return made(forms[-1], Run(answer="none", reason=f"{backend} is not available here" if verify else "not run"))
    tried: list[Script] = []
    for one in forms:
        tried.append(made(one, run(one.text)))
        if tried[-1].answer == "BUG":
            if beside is None:
                return tried[-1]
            there = beside(one.text)
            tried[-1] = replace(tried[-1], beside=there)
            if there.answer != "BUG":
                return tried[-1]
    if failing := next((one for one in tried if one.answer == "BUG"), None):
        return failing
    return next((one for one in reversed(tried) if one.answer == "OK"), tried[-1])


def default_backend(entry: CorpusEntry, subject: str) -> str:
    """Where the entry was found; else the first backend on which the subject is expected to fail."""
    if entry.found_in.backend:
        return entry.found_in.backend
    failing = [one.backend for one in entry.expected if one.verdict.failed and one.subject == subject]
    return failing[0] if failing else "interpreter"


def run(text: str, *, time_limit: float = 120.0, path: str = "", stop: Stop = never) -> Run:
    """Run a script on its own: an empty folder, no PYTHONPATH but for `path` and packages outside this checkout, a
    fresh Triton cache. stop: as in `script`."""
    with own_folder() as folder:
        file = folder / "script.py"
        file.write_text(text, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRITON_"))}
        environment["TRITON_CACHE_DIR"] = str(folder / "cache")
        environment["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "inductor")
        elsewhere = os.pathsep.join(filter(None, (path, _path_without_this())))
        if elsewhere:
            environment["PYTHONPATH"] = elsewhere
        started = time.perf_counter()
        try:
            done = waited([str(file)], folder=folder, environment=environment, seconds=time_limit, stop=stop)
        except subprocess.TimeoutExpired:
            return Run(answer="none", reason=f"no answer within {time_limit:g} s",
                       seconds=round(time.perf_counter() - started, 3))
        seconds = round(time.perf_counter() - started, 3)
        return _answer(done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode,
                       seconds)


def _path_without_this() -> str:
    """PYTHONPATH without this checkout, which a script must not need."""
    own = Path(__file__).resolve().parents[2]
    parts = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return os.pathsep.join(part for part in parts if Path(part).resolve() != own)


def _answer(said: str, complained: str, status: int, seconds: float) -> Run:
    """The answer that a script's last line gives, if the exit status is the one that belongs to it."""
    last = (said.strip().splitlines() or [""])[-1]
    word, _, reason = last.partition(": ")
    if word in _FROM and (word == "SKIP") == bool(reason) and status == STATUS[word]:
        several = re.search(RIGHT_SO_OFTEN, said, re.M)
        return Run(answer=word, reason=printable(reason, limit=200), seconds=seconds,  # type: ignore[arg-type]
                   launches=int(several[1]) if several else 1)
    ended = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    complaint = printable((complained.strip().splitlines() or [last])[-1], limit=160)
    return Run(answer="none", reason=f"ended with {ended}{f' ({complaint})' if complaint else ''}", seconds=seconds)


def runs_here(backend: str) -> bool:
    """Whether this machine has the backend."""
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


def _ask(request: Request, *, time_limit: float, path: str, stop: Stop = never,
         preloaded: Path | None = None) -> Candidates:
    """What the child wrote; asked a second time without the compiler's front end if that brings it down."""
    problem = ""
    for liveness in (True, False):
        asked = replace(request, liveness=liveness)
        environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
        if path:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, (path, environment.get("PYTHONPATH", ""))))
        with own_folder() as cache:
            environment["TRITON_CACHE_DIR"] = str(cache)
            try:
                data = msgspec.json.encode(asked)
                done = forked(preloaded, "scripts", data=data, seconds=time_limit, stop=stop,
                              environment={"TRITON_CACHE_DIR": str(cache)}) if preloaded and not path else None
                done = done or waited(["-m", "tridiff.fuzz.repro.child"], data=data, seconds=time_limit,
                                      environment=environment, stop=stop)
            except subprocess.TimeoutExpired:
                problem = f"no answer within {time_limit:g} s"
                continue
        if done.returncode == 0 and done.stdout:
            found = msgspec.json.decode(done.stdout, type=Candidates)
            if found.problem:
                raise TridiffError(found.problem, fix=found.fix)
            return found
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        problem = printable(last[0]) if last else f"exit status {done.returncode}"
    raise no_script(f"the script could not be written: {problem}")
