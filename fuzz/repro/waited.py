"""Processes that write or run a script: awaited for a while, ended with what they started, and with their parent."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tridiff.fuzz.workers.leftovers import OwnFolder
from tridiff.fuzz.workers.preloaded import fork_instead

PREFIX = "tridiff-repro-"

LOOK_SECONDS = 0.25
"""How often it is asked whether somebody has given up."""

Stop = Callable[[], bool]
"""Whether somebody has given up, asked from time to time."""

_END_WITH_PARENT = ("import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); "
                    "os.getppid() == int(sys.argv[1]) or os._exit(71); "
                    "os.execv(sys.executable, [sys.executable, *sys.argv[2:]])")
"""Ask Linux for SIGKILL when the parent ends (PR_SET_PDEATHSIG), which what is executed then inherits."""


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A temporary folder, which the next campaign removes if this process ends before it does (`workers.leftovers`)."""
    made = OwnFolder(PREFIX)
    try:
        yield made.path
    finally:
        made.remove()


def never() -> bool:
    """Nobody gives up."""
    return False


def waited(arguments: Sequence[str], *, seconds: float, data: bytes = b"", stop: Stop = never,
           environment: Mapping[str, str] | None = None, folder: Path | None = None,
           ) -> subprocess.CompletedProcess[bytes]:
    """Run Python with these arguments to its end. data: its standard input. Raises subprocess.TimeoutExpired after so
    many seconds, or when somebody gives up: it and its session are killed then."""
    command = [sys.executable, "-S", "-c", _END_WITH_PARENT, str(os.getpid()), *arguments]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
                             env=environment, start_new_session=True)
    end, said = time.monotonic() + seconds, data or None
    try:
        while True:
            left = end - time.monotonic()
            if left <= 0 or stop():
                raise subprocess.TimeoutExpired(list(arguments), seconds)
            try:
                out, err = child.communicate(said, timeout=min(left, LOOK_SECONDS))
            except subprocess.TimeoutExpired:
                said = None
                continue
            return subprocess.CompletedProcess(list(arguments), child.returncode, out, err)
    finally:
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate()


def forked(preloaded: Path, what: str, *, seconds: float, data: bytes, stop: Stop = never,
           environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes] | None:
    """As `waited`, for what a preloaded process forks (`workers.preloaded.fork_instead`); None where there is none.
    That ends with the preloaded process. The status is 0 where it answered."""
    end = time.monotonic() + seconds
    with own_folder() as folder:
        log = folder / "log"
        child = fork_instead(preloaded, what, interpreted=False, log=log, environment=environment)
        if child is None:
            return None
        assert child.stdin is not None and child.stdout is not None
        said = b""
        try:
            with contextlib.suppress(OSError):
                child.stdin.write(data)
            child.stdin.close()
            while True:
                if stop() or time.monotonic() > end:
                    raise subprocess.TimeoutExpired([what], seconds)
                if select.select([child.stdout], [], [], LOOK_SECONDS)[0]:
                    part = os.read(child.stdout.fileno(), 1 << 20)
                    if not part:
                        return subprocess.CompletedProcess([what], 0 if said else 1, said, log.read_bytes())
                    said += part
        finally:
            child.kill()
            child.stdout.close()
