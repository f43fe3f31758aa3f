"""Shards over a pool without processes (`fake_pool`), each in a process of its own that a test may kill.

Importing takes more than a second of a core: one process imports, and forks those that run shards.

    python -m tests.support.shard_runs

Standard input has a request a line, in JSON: "state" (the shard's folder), "cases" and "builds". The answers, lines on
standard output, are the process id of the child and, at its end, its exit status, negative for a signal.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.campaigns import shard_spec
from tests.support.fake_pool import FakePool
from tridiff.fuzz.campaign import shard

ROOT = Path(__file__).parents[2]
LOG = "executed.log"
"""In the shard's folder: the digest of every case before it runs."""
_SAID = "said"


@dataclass
class ShardRun:
    """A shard that runs. Only one of a `ShardRuns` at a time."""

    pid: int
    _state: Path
    _server: "subprocess.Popen[str]"
    over: bool = False

    def kill(self) -> None:
        """Returns when it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        assert self._ended() == -signal.SIGKILL

    def executed(self) -> int:
        """Outcomes of the shard at its end, which must come without an error."""
        assert self._ended() == 0
        count, error = (self._state / _SAID).read_text().split(" ", 1)
        assert error == ""
        return int(count)

    def _ended(self) -> int:
        assert self._server.stdout is not None
        self.over = True
        return int(self._server.stdout.readline())


class ShardRuns:
    """Starts them. Use as a context."""

    def __init__(self) -> None:
        self._server = subprocess.Popen([sys.executable, "-m", "tests.support.shard_runs"], cwd=ROOT, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._latest: ShardRun | None = None

    def __enter__(self) -> "ShardRuns":
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._server.stdin is not None and self._server.stdout is not None
        if self._latest is not None and not self._latest.over:
            self._latest.kill()
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def start(self, state: Path, cases: int, *, builds: tuple[str, str] | None = None) -> ShardRun:
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps({"state": str(state), "cases": cases, "builds": builds}) + "\n")
        self._server.stdin.flush()
        self._latest = ShardRun(int(self._server.stdout.readline()), state, self._server)
        return self._latest


def _run(request: dict[str, Any]) -> None:
    state = Path(request["state"])
    builds = tuple(request["builds"]) if request["builds"] else None
    FakePool.log, FakePool.pause = state / LOG, 0.005
    shard.Pool = FakePool
    spec = shard_spec(seed=3, max_cases=request["cases"], rows=16, builds=builds)
    result = shard.run_shard(spec, str(state))
    (state / _SAID).write_text(f"{result.counts.executed} {result.error}")


def main() -> None:
    """Serve until standard input closes."""
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            status = 1
            try:
                _run(json.loads(line))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                # Without the end of the interpreter: what was imported is not this process's to take down.
                os._exit(status)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
