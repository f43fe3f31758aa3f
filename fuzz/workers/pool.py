"""The driver's side: one active worker, one warm spare, and a verdict whatever happens to them."""

import contextlib
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fuzz.backends import kind
from fuzz.errors import TridiffError
from fuzz.records import Case, Environment, Evidence, Outcome, Signature, Verdict
from fuzz.targets import find
from fuzz.workers import protocol

SPARE_AFTER = 5.0
"""Seconds from a pool's first worker to its spare: contexts on one GPU are made one after another, and every pool of a
campaign waits for its first."""

HARNESS_FAILED = 70
"""Exit status of a worker whose own code raised (see zygote.py)."""


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


class _Worker:
    """One child process as the driver sees it."""

    def __init__(self, pid: int, connection: socket.socket, log: Path) -> None:
        self.pid = pid
        self.connection = connection
        self.log = log
        self.buffer = b""
        self.environment: Environment | None = None

    def read(self, deadline: float) -> protocol.FromChild | TimeoutError | None:
        """The next message; None at end of stream; TimeoutError (returned) after the deadline."""
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0:
                return TimeoutError()
            self.connection.settimeout(left)
            try:
                data = self.connection.recv(1 << 16)
            except TimeoutError:
                return TimeoutError()
            except OSError:
                return None
            if not data:
                return None
            self.buffer += data
        one, self.buffer = self.buffer.split(b"\n", 1)
        return protocol.read_child(one)

    def tail(self) -> str:
        """The last lines the worker wrote to its log."""
        try:
            return self.log.read_bytes()[-2000:].decode(errors="replace").strip()
        except OSError:
            return ""


class Pool:
    """Runs cases one after another on expendable workers of one device.

    `execute` always returns an outcome: death and hang of a worker are verdicts, and a warm spare takes over.
    """

    def __init__(self, options: PoolOptions) -> None:
        self.options = options
        self.deaths = 0
        self.replacement_seconds: list[float] = []
        self.compile_seconds = 0.0
        """What compiling took so far, as workers announced it."""
        self._directory = tempfile.TemporaryDirectory(prefix="tridiff-pool-")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._address = str(Path(self._directory.name) / "socket")
        self._listener.bind(self._address)
        self._listener.listen(8)
        self._exits: dict[int, int] = {}
        self._started = 0
        self._pending = b""
        self._zygote = self._start_zygote()
        self._asked = 0
        self._active: _Worker | None = None
        self._first = math.inf
        """When the first worker was ready."""
        self._ask()

    def _start_zygote(self) -> subprocess.Popen[bytes]:
        environment = dict(os.environ)
        environment.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                           TRITON_DEFAULT_FP_FUSION="1", PYTHONUNBUFFERED="1")
        if self.options.cache_directory:
            environment["TRITON_CACHE_DIR"] = self.options.cache_directory
        else:
            environment["TRITON_CACHE_DIR"] = str(Path(self._directory.name) / "cache")
        if kind(self.options.backend) == "interpreter":
            environment["TRITON_INTERPRET"] = "1"
        else:
            environment.pop("TRITON_INTERPRET", None)
        log = open(Path(self._directory.name) / "zygote.log", "wb")  # noqa: SIM115  handed to the child
        command = [sys.executable, "-m", "fuzz.workers.zygote", self.options.backend,
                   str(self.options.device), str(self.options.memory)]
        with log:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                    env=environment, start_new_session=True)

    def _ask(self) -> None:
        """Have the zygote fork one more child; it connects when it is ready."""
        self._started += 1
        log = str(Path(self._directory.name) / f"worker-{self._started}.log")
        assert self._zygote.stdin is not None
        try:
            self._zygote.stdin.write(protocol.line(protocol.Fork(address=self._address, log=log)))
            self._zygote.stdin.flush()
        except OSError as error:
            raise TridiffError(f"the worker process cannot be started ({error}): {self._zygote_log()}",
                               fix="run `tridiff doctor`") from None
        self._asked += 1

    def _zygote_log(self) -> str:
        try:
            lines = (Path(self._directory.name) / "zygote.log").read_text(errors="replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def _read_zygote(self, timeout: float) -> None:
        """Take in what the zygote reports (forks, exits) for at most `timeout` seconds."""
        assert self._zygote.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._zygote.stdout, selectors.EVENT_READ)
            if not selector.select(timeout):
                return
        data = os.read(self._zygote.stdout.fileno(), 1 << 16)
        if not data:
            raise TridiffError(f"the worker process ended: {self._zygote_log()}", fix="run `tridiff doctor`")
        *lines, self._pending = (self._pending + data).split(b"\n")
        for one in lines:
            message = protocol.read_zygote(one)
            if isinstance(message, protocol.Exited):
                self._exits[message.pid] = message.status

    def _next_worker(self) -> _Worker:
        """Accept the next child that says it is ready."""
        deadline = time.monotonic() + self.options.start_limit
        failures = 0
        while True:
            if self._asked == 0:
                self._ask()
            self._listener.settimeout(0.2)
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                self._read_zygote(0)
                if time.monotonic() > deadline:
                    raise TridiffError(f"no worker became ready in {self.options.start_limit:g} s: "
                                       f"{self._zygote_log()}", fix="run `tridiff doctor`") from None
                continue
            self._asked -= 1
            worker = _Worker(0, connection, Path())
            message = worker.read(deadline)
            if isinstance(message, protocol.Ready):
                worker.pid, worker.environment = message.pid, message.environment
                worker.log = self._log_of(message.pid)
                return worker
            failures += 1
            connection.close()
            if failures >= 3:
                raise TridiffError(f"workers die while starting: {self._last_log()}", fix="run `tridiff doctor`")

    def _log_of(self, pid: int) -> Path:
        """The log a child opened; children log in the order they were asked for."""
        try:
            return Path(os.readlink(f"/proc/{pid}/fd/2"))
        except OSError:
            return Path(self._directory.name) / f"worker-{self._started}.log"

    def _last_log(self) -> str:
        logs = sorted(Path(self._directory.name).glob("worker-*.log"), key=lambda p: p.stat().st_mtime)
        text = logs[-1].read_text(errors="replace").strip() if logs else ""
        return text.splitlines()[-1] if text else "no message"

    @property
    def worker(self) -> int:
        """Process number of the active worker; starts one when needed."""
        return self._ready().pid

    @property
    def environment(self) -> Environment:
        """Of the active worker; starts one when needed."""
        environment = self._ready().environment
        assert environment is not None
        return environment

    def _ready(self) -> _Worker:
        if self._active is None:
            start = time.monotonic()
            self._active = self._next_worker()
            if self.deaths:
                self.replacement_seconds.append(time.monotonic() - start)
            self._first = min(self._first, time.monotonic())
        rested = self.deaths > 0 or time.monotonic() > self._first + SPARE_AFTER
        if self.options.spare and self._asked == 0 and rested:
            self._ask()
        return self._active

    def stand_by(self) -> None:
        """Return when a spare stands ready, so that no start falls into what is measured next.

        Raises TridiffError when none is ready within the start limit."""
        self._ready()
        if self._asked == 0:
            self._ask()
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            if not selector.select(self.options.start_limit):
                raise TridiffError(f"no spare became ready in {self.options.start_limit:g} s: {self._zygote_log()}",
                                   fix="run `tridiff doctor`")

    def inputs(self, case: Case, subject: str = "own") -> Evidence:
        """The input values of a small case; nothing is launched."""
        return self.execute(case, subject, inputs_only=True).evidence or Evidence()

    def execute(self, case: Case, subject: str, *, backend: str | None = None, want_inputs: bool = False,
                inputs_only: bool = False, compile_limit: float | None = None) -> Outcome:
        """Run one case to a verdict. Raises TridiffError only for a case that cannot be run at all.

        compile_limit: seconds for compiling one kernel, if less than the pool's.
        """
        backend = backend or self.options.backend
        worker = self._ready()
        request = protocol.Run(case=case, subject=subject, backend=backend, want_inputs=want_inputs,
                               inputs_only=inputs_only)
        started = time.monotonic()
        try:
            worker.connection.settimeout(30)
            worker.connection.sendall(protocol.line(request))
        except OSError:
            return self._died(worker, case, subject, backend, "start")
        longest = min(self.options.compile_limit, compile_limit or math.inf)
        stage, deadline, compiling = "materialise", started + self.options.start_limit, 0.0
        while True:
            message = worker.read(deadline)
            match message:
                case protocol.Stage():
                    now = time.monotonic()
                    if stage == "compile":
                        self.compile_seconds += now - compiling
                    stage, compiling = message.name, now
                    deadline = now + (longest if stage == "compile" else self.options.hang_limit)
                case protocol.Done():
                    if stage == "compile":
                        self.compile_seconds += time.monotonic() - compiling
                    if message.spent:
                        self._retire(worker)
                    return message.outcome
                case protocol.Refused():
                    raise TridiffError(message.problem, fix=message.fix)
                case TimeoutError():
                    limit = longest if stage == "compile" else self.options.hang_limit
                    return self._hung(worker, case, subject, backend, stage, limit)
                case _:
                    return self._died(worker, case, subject, backend, stage)

    def _retire(self, worker: _Worker) -> None:
        worker.connection.close()
        self.deaths += 1
        self._active = None

    def _failure(self, case: Case, subject: str, backend: str, verdict: Verdict, kind_: str, reason: str,
                 log: str) -> Outcome:
        signature = Signature(target=case.target, subject=subject, verdict=verdict, kind=kind_,
                              about=find(case.target).about(case))
        return Outcome(case_digest=case.digest, target=case.target, subject=subject, backend=backend, verdict=verdict,
                       reason=reason, signature=signature, evidence=Evidence(log=log))

    def _hung(self, worker: _Worker, case: Case, subject: str, backend: str, stage: str, limit: float) -> Outcome:
        log = worker.tail()
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        self._retire(worker)
        reason = f"no answer within {limit:g} s of stage {stage}; the worker was killed"
        return self._failure(case, subject, backend, Verdict.HANG, stage, reason, log)

    def _died(self, worker: _Worker, case: Case, subject: str, backend: str, stage: str) -> Outcome:
        self._retire(worker)
        limit = time.monotonic() + 5
        while worker.pid not in self._exits and time.monotonic() < limit:
            self._read_zygote(0.05)
        status = self._exits.pop(worker.pid, None)
        if status is None:
            kind_ = "unknown"
        elif status < 0:
            kind_ = signal.Signals(-status).name
        elif status == HARNESS_FAILED:
            # The worker's own code raised, outside of what it does for the subject: no evidence against anybody.
            last = worker.tail().splitlines()[-1:] or ["no message"]
            return Outcome(case_digest=case.digest, target=case.target, subject=subject, backend=backend,
                           verdict=Verdict.NOT_CHECKED, reason=f"the worker failed at stage {stage}: {last[0]}"[:2000])
        else:
            kind_ = f"exit_{status}"
        return self._failure(case, subject, backend, Verdict.CRASH, kind_,
                             f"the worker ended with {kind_} at stage {stage}", worker.tail())

    def close(self) -> None:
        """End the zygote and with it every child."""
        if self._active is not None:
            self._active.connection.close()
        if self._zygote.stdin is not None:
            self._zygote.stdin.close()
        if self._zygote.stdout is not None:
            self._zygote.stdout.close()
        try:
            self._zygote.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait()
        self._listener.close()
        self._directory.cleanup()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
