"""Worker processes of a sweep, seen from the parent, which imports no GPU library and outlives them all."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

from tridiff.fuzz.sweep.messages import Done, Failed, Ready, Reply, Task, decode_reply, encode

ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """One process. Replies arrive in the shared queue as (worker, reply); None instead of a reply when it has died."""

    def __init__(self, where: str, replies: queue.Queue[tuple[Worker, Reply | None]], *, build: str = "",
                 cache: str = "") -> None:
        """build: what goes in front of the path of the process; cache: where Triton keeps what it compiles, "" for its
        own choice."""
        self.where = where
        self.task: Task | None = None
        self.since = time.monotonic()
        self.ready = False
        self._replies = replies
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
            part for part in (build, str(ROOT), os.environ.get("PYTHONPATH", "")) if part)}
        environment.pop("TRITON_INTERPRET", None)
        if cache:
            environment["TRITON_CACHE_DIR"] = cache
        # A session of its own: Ctrl-C reaches the parent only, which decides what is kept.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tridiff.fuzz.sweep.worker", where], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment, start_new_session=True)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._replies.put((self, decode_reply(line)))
        self._replies.put((self, None))

    def give(self, task: Task) -> None:
        """Hand over a task; one at a time."""
        assert self._process.stdin is not None
        self.task, self.since = task, time.monotonic()
        try:
            self._process.stdin.write(encode(task) + b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has died; the listener says so

    @property
    def seconds(self) -> float:
        """How long the present task has been running."""
        return time.monotonic() - self.since

    def epitaph(self) -> str:
        """How the process ended."""
        status = self._process.wait()
        return f"killed by signal {-status}" if status < 0 else f"ended with status {status}"

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


__all__ = ["Done", "Failed", "Ready", "Worker"]
