"""Cases on one build in processes of their own, each forked with torch imported and Triton not yet."""

import contextlib
import importlib
import itertools
import multiprocessing
import multiprocessing.connection
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, Outcome, Record
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.workers.leftovers import OwnFolder, sweep

_SILENT = 60.0
"""Seconds without a result after which a process is ended: its case hangs."""

_TRACED = 4
"""How many times longer that may be where lines are noted."""

_PREFIX = "tridiff-trial-"

_DEATHS = 8
"""Drawn cases of a target that may end their process: of more, something else is wrong."""

_BROKEN = b"broken: "
"""Begins what a process says that cannot go on."""

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["torch", "numpy", "scipy.special", "mpmath", "sympy", "ml_dtypes", "hypothesis",
                                 "tridiff.fuzz.workers.execute", "tridiff.fuzz.registry"])


MODULES = ("triton.experimental.gluon.language", "triton.experimental.gluon.nvidia.hopper",
           "triton.language.extra.libdevice", "triton.tools.tensor_descriptor", "triton.backends.nvidia.compiler",
           "triton.backends.nvidia.driver", "triton.runtime.interpreter")
"""What is imported before lines are noted."""


class Ran(Record, kw_only=True, omit_defaults=True):
    """A case on one build. outcome, observed: None where there is none, and `died` says why: "crash", "hang",
    "refused: ..." for a case that cannot be run at all, or what broke the process before it. lines: of Triton's Python
    layer that ran, by file, if they were asked for."""

    case: Case
    backend: str
    outcome: Outcome | None = None
    observed: Observed | None = None
    died: str = ""
    lines: dict[str, tuple[int, ...]] = {}
    once: bool = False
    """Whether a gate plays the case whatever it draws (`Draw.once`)."""
    steps: dict[str, tuple[tuple[int, int], ...]] = {}
    """Steps from line to line (`fuzz.coverage.lines`), by file, if they were asked for; with the first case those of
    the import of Triton."""


class Drawn(Record, kw_only=True):
    """Cases that are still to be drawn, in the process that runs them: `number` of a target with a seed, and what a
    gate plays of it whatever it draws (`Draw.once`)."""

    target: str
    number: int
    seed: int
    steps: bool = False
    """Whether steps between lines are wanted as well, where lines are."""
    begin: int = 0
    """How many of them have been run before."""


def trials(work: Drawn | Sequence[Case], *, backend: str, build: str, traced: Path | None = None,
           weak: Path | None = None) -> Iterator[Ran]:
    """Run the cases one after the other. build: folder in front of the path, "" for the environment as it is.
    traced: the folder of the package whose lines are wanted. weak: a folder with the questions of `planted.weak`.

    A case that ends the process or hangs is told as such, and the cases behind it run in another process; a drawn case,
    which nobody else knows, is left out. Raises TridiffError where none can be drawn or run, or too many die."""
    sweep(_PREFIX)
    deaths = 0
    waiting = list(work) if not isinstance(work, Drawn) else []
    silent = _SILENT * (_TRACED if traced or weak else 1)
    while True:
        here, there = _CONTEXT.Pipe(duplex=False)
        job = work if isinstance(work, Drawn) else tuple(waiting)
        cache = OwnFolder(_PREFIX)
        process = _CONTEXT.Process(target=_serve, daemon=True, args=(
            msgspec.json.encode(job), isinstance(work, Drawn), backend, build, str(traced or ""), str(weak or ""),
            str(cache.path), there))
        process.start()
        there.close()
        died = ""
        try:
            while not died:
                if not here.poll(silent):
                    died = "hang"
                    break
                try:
                    data = here.recv_bytes()
                except EOFError:
                    died = "crash"
                    break
                if not data:
                    break
                if data.startswith(_BROKEN):
                    died = data.removeprefix(_BROKEN).decode()
                    break
                ran = msgspec.json.decode(data, type=Ran)
                if waiting:
                    waiting.pop(0)
                if isinstance(work, Drawn):
                    work = replace(work, begin=work.begin + 1)
                yield ran
        finally:
            process.kill()
            process.join()
            here.close()
            cache.remove()
        if died and isinstance(work, Drawn):
            deaths += 1
            if died not in ("crash", "hang") or deaths > _DEATHS:
                raise TridiffError(f"{work.target} on {backend} cannot be probed: {died}", fix="report this")
            work = replace(work, begin=work.begin + 1)
            continue
        if not died or not waiting:
            return
        yield Ran(case=waiting.pop(0), backend=backend, died=died)
        if not waiting:
            return


def _serve(job: bytes, drawn: bool, backend: str, build: str, traced: str, weak: str, cache: str,
           connection: multiprocessing.connection.Connection) -> None:
    """The process: whatever it prints is lost. cache: folder for what it compiles, which its parent removes."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.environ["TRITON_CACHE_DIR"] = cache
    os.environ.pop("TRITON_INTERPRET", None)
    if kind(backend) == "interpreter":
        os.environ["TRITON_INTERPRET"] = "1"
    if build:
        sys.path.insert(0, build)
    if weak:
        from tridiff.fuzz.planted.weak import watch

        watch(Path(weak))
    import torch

    torch.set_num_threads(1)
    try:
        results = _results(job, drawn, backend, traced)
        for data in results:
            connection.send_bytes(data)
    except Exception as error:
        # Not of a case: those fail in `execute`, which tells it as an outcome.
        connection.send_bytes(_BROKEN + f"{type(error).__name__}: {error}".encode())
    connection.send_bytes(b"")


def _results(job: bytes, drawn: bool, backend: str, traced: str) -> Iterator[bytes]:
    from tridiff.fuzz.coverage.lines import Lines
    from tridiff.fuzz.known.draws import draw_cases
    from tridiff.fuzz.registry import find
    from tridiff.fuzz.target import Limits
    from tridiff.fuzz.workers.execute import Executor

    wanted = msgspec.json.decode(job, type=Drawn) if drawn else None
    stepping = wanted is not None and wanted.steps
    # What runs when a module is imported says nothing of the case that happens to be the first: its lines are not told.
    imported = Lines(Path(traced)) if traced and stepping else None
    with imported or contextlib.nullcontext():
        executor = Executor(backend=backend)
        if traced:
            for name in MODULES:
                importlib.import_module(name)
    before = imported.steps if imported else {}
    if wanted is not None:
        limits = Limits(elements=1 << 10, rows=1 << 5, variants=kind(backend) != "interpreter")
        some = draw_cases(wanted.target, limits, wanted.number, seed=wanted.seed) if wanted.number else []
        always = {one.digest: one for one in find(wanted.target).draw.once(wanted.seed)}
        cases = {one.digest: one for one in some} | always
    else:
        always = {}
        cases = {one.digest: one for one in msgspec.json.decode(job, type=list[Case])}
    for case in itertools.islice(cases.values(), wanted.begin if wanted is not None else 0, None):
        lines = Lines(Path(traced), steps=stepping) if traced else None
        try:
            with lines or contextlib.nullcontext():
                outcome, _ = executor.execute(case, "own", backend=backend, observe=Observe())
        except TridiffError as error:
            ran = Ran(case=case, backend=backend, died=f"refused: {error}", once=case.digest in always)
        else:
            ran = Ran(case=case, backend=backend, outcome=outcome, observed=executor.observed,
                      once=case.digest in always,
                      lines={file: tuple(sorted(found)) for file, found in lines.found.items()} if lines else {},
                      steps={file: tuple(sorted(lines.steps.get(file, set()) | before.get(file, set())))
                             for file in (lines.steps | before)} if lines and stepping else {})
            before = {}
        yield msgspec.json.encode(ran)
