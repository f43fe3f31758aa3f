"""Workers of a pool that are threads of this process and say what a test wants."""

import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tridiff.fuzz.records import Case, Environment, Outcome, Verdict
from tridiff.fuzz.workers import protocol
from tridiff.fuzz.workers.connection import Worker
from tridiff.fuzz.workers.forks import PoolOptions

Speech = Callable[[socket.socket, Any], None]
"""What a worker sends in answer to its first request."""


def done(request: Any, *, sequence: int | None = None, case: Case | None = None,
         verdict: Verdict = Verdict.AGREE) -> bytes:
    """The right answer, or one that differs from it where said."""
    outcome = Outcome(case_digest=(case or request.case).digest, target=request.case.target, subject=request.subject,
                      backend=request.backend, verdict=verdict)
    return protocol.line(protocol.Done(sequence=request.sequence if sequence is None else sequence, outcome=outcome))


class FakeForks:
    """Workers that are threads of this process. The first answers its first request with `speech`; all else is
    answered as it should be. The process that a worker is killed as only sleeps."""

    speech: Speech
    always = False
    """Whether `speech` answers all requests to all workers."""

    def __init__(self, options: PoolOptions, folder: Path) -> None:
        self.taken, self.started = 0, list[subprocess.Popen[bytes]]()

    def ask(self, backend: str = "") -> None:
        pass

    def waiting(self) -> int:
        return 1

    def problem(self) -> str:
        return ""

    def give_up_late(self) -> int:
        return 0

    def take(self, deadline: float) -> Worker:
        ours, theirs = socket.socketpair()
        sleeper = subprocess.Popen(["sleep", "600"])
        self.started.append(sleeper)
        threading.Thread(target=self._serve, args=(theirs, self.always or self.taken == 0), daemon=True).start()
        self.taken += 1
        worker = Worker(sleeper.pid, ours, Path("/dev/null"))
        worker.environment = Environment(backend="interpreter", triton="3.9.0", torch="2.13.0")
        return worker

    def _serve(self, connection: socket.socket, first: bool) -> None:
        speech = type(self).speech
        with contextlib.suppress(OSError):
            for line in connection.makefile("rb"):
                request = protocol.read_run(line)
                if first:
                    speech(connection, request)
                else:
                    connection.sendall(done(request))
                first = self.always

    def status_of(self, pid: int) -> int | None:
        (process,) = (one for one in self.started if one.pid == pid)
        process.kill()
        return process.wait()

    def close(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()
