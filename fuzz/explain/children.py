"""Asking the two children: one process for each answer, with the build of Triton that is wanted."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.builds import Build
from tridiff.fuzz.explain.request import Compiled, Interpreted, Request

SECONDS = 180.0
"""The longest that a child may take."""

LONGEST_LOG = 4000


def ask_compiler(request: Request, *, build: Build | None) -> Compiled:
    """Compile what the request names. A compiler that brings its process down is an answer: the stage and the step that
    did not come to its end, with the IR that it was given."""
    with tempfile.TemporaryDirectory(prefix="tridiff-explain-") as name:
        folder = Path(name)
        ended, log = _run(request, folder, build, interpret=False, seconds=SECONDS)
        answer = folder / "answer.json"
        if answer.exists():
            return msgspec.json.decode(answer.read_bytes(), type=Compiled)
        partial = folder / "partial.json"
        if not partial.exists():
            return Compiled(problem=f"the compiling process ended with {ended}: {_last(log)}",
                            fix="see `tridiff doctor`")
        known = msgspec.json.decode(partial.read_bytes(), type=Compiled)
        return replace(known, stages=replace(known.stages, problem=f"{ended}\n{log[-LONGEST_LOG:]}".strip()))


def ask_interpreter(request: Request, *, build: Build | None) -> Interpreted:
    """Interpret what the request names and watch it. With `debug` the child has the terminal."""
    with tempfile.TemporaryDirectory(prefix="tridiff-explain-") as name:
        folder = Path(name)
        ended, log = _run(request, folder, build, interpret=True, seconds=0.0 if request.debug else SECONDS)
        answer = folder / "answer.json"
        if answer.exists():
            return msgspec.json.decode(answer.read_bytes(), type=Interpreted)
        return Interpreted(problem=f"the interpreting process ended with {ended}: {_last(log)}",
                           fix="see `tridiff doctor`")


def _run(request: Request, folder: Path, build: Build | None, *, interpret: bool, seconds: float) -> tuple[str, str]:
    """How the child ended, and what it said. seconds: 0 for a child that has the terminal and all the time."""
    (folder / "request.json").write_bytes(msgspec.json.encode(request))
    environment = dict(build.environment() if build else os.environ)
    environment.pop("TRITON_INTERPRET", None)
    environment.update(TRITON_CACHE_DIR=str(folder / "cache"), OMP_NUM_THREADS="1", MKL_NUM_THREADS="1",
                       TRITON_DEFAULT_FP_FUSION="1")
    if interpret:
        environment["TRITON_INTERPRET"] = "1"
    command = [sys.executable, "-m", "tridiff.fuzz.explain.child", str(folder), str(os.getpid())]
    if not seconds:
        return f"exit status {subprocess.run(command, env=environment).returncode}", ""
    log = folder / "log"
    with open(log, "wb") as sink:
        child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                                 start_new_session=True)
        try:
            status = child.wait(timeout=seconds)
            ended = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
        except subprocess.TimeoutExpired:
            ended = f"no answer within {seconds:g} s"
        finally:
            if child.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    return ended, log.read_text(errors="replace")


def _last(log: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    return lines[-1].strip()[:400] if lines else "it said nothing"
