"""The driver's side of a zygote: asks it for children, takes them in, and hears how they ended."""

import collections
import contextlib
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tridiff.fuzz.backends import kind
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.workers import addresses, protocol
from tridiff.fuzz.workers.connection import Worker
from tridiff.fuzz.workers.preloaded import Zygote, environment_of, fork_zygote

FORK_SECONDS = 15.0
"""What a zygote may take for its answer to a request once it has answered one. It needs a millisecond; one that was
stopped never answers."""

INTERPRETER_START = 30.0
"""Seconds from fork to readiness of a child that initialises no device."""

EXIT_SECONDS = 5.0
"""How long the news of a child's end may take."""

CLOSE_SECONDS = 2.0
"""How long a zygote may take to end when nobody listens to it any more."""


class NoWorker(TridiffError):
    """No process can be had that runs cases: nothing is known of the case for which one was wanted."""

    def __init__(self, problem: str, *, fix: str = "run `tridiff doctor`") -> None:
        super().__init__(problem, fix=fix)


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """How workers are run. Times in seconds, memory in bytes."""

    backend: str
    device: int = 0
    hang_limit: float = 10.0
    """From the start of a launch to its end."""
    compile_limit: float = 90.0
    """For compiling one kernel."""
    start_limit: float = 120.0
    memory: int = 6 << 30
    cache_directory: str = ""
    spare: bool = True
    build: str = ""
    """Folder with the `triton` package to run (`fuzz.builds`); "" for the installed one."""
    preloaded: str = ""
    """Folder of the campaign's preloaded processes; "" for a zygote that imports for itself."""
    more: bool = False
    """Whether workers need what preloaded processes import for some of them alone."""
    watched: str = ""
    """What workers note of the functions that a case runs (`fuzz.backends.watched`); preloaded processes know it."""


class Forks:
    """One zygote and the children that it was asked for and that nobody has taken yet. folder: for sockets and logs."""

    def __init__(self, options: PoolOptions, folder: Path) -> None:
        self._options = options
        self._folder = folder
        folder.mkdir(parents=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._address = str(folder / "socket")
        with addresses.short(self._address) as name:
            self._listener.bind(name)
        self._listener.listen(8)
        self._asked: collections.deque[tuple[float, Path]] = collections.deque()
        """Requests that the zygote has not answered: when they were made, and the log of the child."""
        self._forked: dict[int, tuple[float, Path]] = {}
        """Children that are not ready: when they were forked, and their logs."""
        self._exits: dict[int, int] = {}
        self._made = 0
        self._pending = b""
        self._answered = False
        self._ended = False
        self.taken = 0
        """Children that became ready."""
        self._began = time.monotonic()
        self.zygote = self._start()

    def _start(self) -> "subprocess.Popen[bytes] | Zygote":
        options, log = self._options, self._folder / "zygote.log"
        # Triton leaves its temporary files where ptxas fails: they go with the pool.
        temporary = self._folder / "tmp"
        temporary.mkdir()
        places = {"TRITON_CACHE_DIR": options.cache_directory or str(self._folder / "cache"), "TMPDIR": str(temporary)}
        if options.preloaded:
            forked = fork_zygote(Path(options.preloaded), build=options.build, backend=options.backend, log=log,
                                 device=options.device, memory=options.memory, environment=places, more=options.more)
            if forked is not None:
                return forked
        environment = environment_of(options.build, kind(options.backend) == "interpreter", options.watched) | places
        command = [sys.executable, "-m", "tridiff.fuzz.workers.zygote", options.backend,
                   str(options.device), str(options.memory), str(os.getpid())]
        with open(log, "wb") as file:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, bufsize=0,
                                    env=environment, start_new_session=True)

    def waiting(self) -> int:
        """Children that were asked for and nobody took."""
        return len(self._asked) + len(self._forked)

    def ask(self, backend: str = "") -> None:
        """Have the zygote fork one more child; it connects when it is ready. backend: of the same kind as the zygote's,
        "" for that one."""
        self._made += 1
        log = self._folder / f"worker-{self._made}.log"
        self._asked.append((time.monotonic(), log))
        assert self.zygote.stdin is not None
        try:
            self.zygote.stdin.write(protocol.line(protocol.Fork(address=self._address, log=str(log), backend=backend)))
        except OSError:
            self._ended = True

    def problem(self) -> str:
        """Why nothing more can be expected of the zygote; "" as long as it may answer."""
        self._hear(0)
        if self._ended or self.zygote.poll() is not None:
            return f"the process that starts workers ended: {self.zygote_log()}".rstrip(": ")
        now = time.monotonic()
        if self._answered and self._asked and now > self._asked[0][0] + FORK_SECONDS:
            return f"the process that starts workers has not answered for {FORK_SECONDS:g} s"
        if not self._answered and now > self._began + self._options.start_limit:
            return f"no worker became ready in {self._options.start_limit:g} s: {self.zygote_log()}"
        return ""

    def take(self, deadline: float) -> Worker | None:
        """The next child that says it is ready; None if there is none by the deadline (monotonic), or the one that
        connected says something else or is gone."""
        self._listener.settimeout(max(deadline - time.monotonic(), 0))
        try:
            connection, _ = self._listener.accept()
        except (TimeoutError, BlockingIOError):
            return None
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid = int(struct.unpack("3i", credentials)[0])
        limit = time.monotonic() + EXIT_SECONDS
        while pid not in self._forked and not self._ended and time.monotonic() < limit:
            self._hear(0.05)
        worker = Worker(pid, connection, self._forked.get(pid, (0.0, self._folder / "unknown.log"))[1])
        try:
            message = worker.read(time.monotonic() + self._longest_start())
        except (TimeoutError, protocol.Garbled):
            message = None
        self._forked.pop(pid, None)
        self._hear(0)
        if pid in self._exits:
            # It said that it was ready, and was killed while nobody needed it.
            worker.close()
            return None
        if not isinstance(message, protocol.Ready):
            worker.kill()
            worker.close()
            return None
        worker.environment = message.environment
        self.taken += 1
        return worker

    def spare(self, seconds: float) -> bool:
        """Whether a child stands ready within so many seconds."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            return bool(selector.select(seconds))

    def _longest_start(self) -> float:
        limit = self._options.start_limit
        return limit if kind(self._options.backend) == "cuda" else min(limit, INTERPRETER_START)

    def give_up_late(self) -> int:
        """Forget, and end, children that ended or did not connect in time; returns how many."""
        self._hear(0)
        now = time.monotonic()
        late = [pid for pid, (since, _) in self._forked.items()
                if pid in self._exits or now > since + self._longest_start()]
        for pid in late:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            del self._forked[pid]
        return len(late)

    def status_of(self, pid: int) -> int | None:
        """How a child ended, as waitpid tells it; None if nobody can say."""
        limit = time.monotonic() + EXIT_SECONDS
        while pid not in self._exits and not self._ended and time.monotonic() < limit:
            self._hear(0.05)
        return self._exits.pop(pid, None)

    def _hear(self, timeout: float) -> None:
        """Take in what the zygote reports (forks, exits) for at most `timeout` seconds."""
        assert self.zygote.stdout is not None
        if self._ended:
            return
        with selectors.DefaultSelector() as selector:
            selector.register(self.zygote.stdout, selectors.EVENT_READ)
            if not selector.select(timeout):
                return
        data = os.read(self.zygote.stdout.fileno(), 1 << 16)
        if not data:
            self._ended = True
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.zygote.wait(timeout=1)
            return
        *lines, self._pending = (self._pending + data).split(b"\n")
        for one in lines:
            try:
                message = protocol.read_zygote(one)
            except protocol.Garbled:
                self._ended = True
                return
            if isinstance(message, protocol.Exited):
                self._exits[message.pid] = message.status
            elif self._asked:
                self._answered = True
                self._forked[message.pid] = (time.monotonic(), self._asked.popleft()[1])

    def zygote_log(self) -> str:
        """The last line that the zygote wrote."""
        return _last_line(self._folder / "zygote.log")

    def last_log(self) -> str:
        """The last line of the child that wrote last."""
        logs = sorted(self._folder.glob("worker-*.log"), key=lambda path: path.stat().st_mtime)
        return (_last_line(logs[-1]) if logs else "") or "no message"

    def close(self) -> None:
        """End the zygote and with it every child."""
        for stream in (self.zygote.stdin, self.zygote.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self.zygote.wait(timeout=CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.zygote.kill()
            self.zygote.wait()
        self._listener.close()


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""
