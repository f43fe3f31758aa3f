"""Processes that run jobs and that may be killed or stopped at any moment: that costs the job they ran, no other. One
that has grown much (`workers.wear`) ends with the result of its job, and another takes its place: what libraries keep
of everything that they ever did would otherwise grow all night."""

import collections
import concurrent.futures
import contextlib
import multiprocessing
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from tridiff.fuzz.workers.wear import Growth

Result = TypeVar("Result")

BEAT_SECONDS = 1.0
"""How often a process that runs a job says that it is there."""

SILENT_SECONDS = 30.0
"""A process that has not said so for this long is taken for stopped."""

STALLED_SECONDS = 600.0
"""A process that reports no progress (`progressed`) for this long is taken for stuck, though it says that it is there.
Longer than any case may run, and than any worker may take to start."""

START_SECONDS = 120.0
"""Seconds that a process may take until it says for the first time that it is there: it imports before."""

END_SECONDS = 2.0
"""What a process may take to end when there is nothing more to do."""

_CONTEXT = multiprocessing.get_context("spawn")


_steps = 0


def progressed() -> None:
    """Said by a job that takes long, of the process it runs in: something has come to an end."""
    global _steps
    _steps += 1


class JobLost(Exception):
    """The process that ran a job ended, stopped or took too long. What it wrote is there; the job may be run again."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    function: Callable[..., object]
    arguments: tuple[object, ...]
    deadline: float | None
    future: "concurrent.futures.Future[Any]"
    place: int | None = None
    """The process that it is for; None: any."""


class _Jobs:
    """Jobs that wait for a process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: collections.deque[_Job] = collections.deque()
        self._closed = False

    def put(self, job: _Job) -> None:
        with self._changed:
            self._waiting.append(job)
            self._changed.notify_all()

    def close(self) -> None:
        """No more will come."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def get(self, place: int) -> _Job | None:
        """The next one that is for a process; None when there will be none."""
        with self._changed:
            while True:
                for job in self._waiting:
                    if job.place in (None, place):
                        self._waiting.remove(job)
                        return job
                if self._closed:
                    return None
                self._changed.wait()


class Processes(concurrent.futures.Executor):
    """`number` processes, all started at once, each with the job it was given. initialise: called first in each, with
    `arguments`."""

    def __init__(self, number: int, initialise: Callable[..., None], *arguments: object) -> None:
        self._initialise, self._arguments = initialise, arguments
        self._jobs = _Jobs()
        self._running: dict[int, SpawnProcess] = {}
        """Process of each thread."""
        self._ending = threading.Event()
        # A process ends with the thread that started it: each thread keeps its own, and all stay to the end.
        self._threads = [threading.Thread(target=self._serve, args=(place,), daemon=True) for place in range(number)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Result], /, *args: object, **kwargs: object,
               ) -> "concurrent.futures.Future[Result]":
        return self.submit_within(None, fn, *args)

    def submit_within(self, seconds: float | None, function: Callable[..., Result], *arguments: object,
                      place: int | None = None) -> "concurrent.futures.Future[Result]":
        """As `submit`; a process that takes longer than `seconds` from now is killed, and the job is lost. place: the
        process that is to run it, or the one that was started in its place, from 0; None: any."""
        future: concurrent.futures.Future[Result] = concurrent.futures.Future()
        deadline = None if seconds is None else time.monotonic() + seconds
        self._jobs.put(_Job(function=function, arguments=arguments, deadline=deadline, future=future,
                            place=place))
        return future

    def kill(self) -> None:
        """End all processes now; jobs that run are lost, and those that wait are cancelled."""
        self._ending.set()
        for process in list(self._running.values()):
            with contextlib.suppress(ValueError):
                process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when their jobs are done."""
        self._jobs.close()
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self, place: int) -> None:
        process, connection = self._start(place)
        heard = False
        while (job := self._jobs.get(place)) is not None:
            if self._ending.is_set():
                job.future.cancel()
            if not job.future.set_running_or_notify_cancel():
                continue
            if not process.is_alive():
                _end(process, connection)
                process, connection = self._start(place)
                heard = False
            try:
                found, worn = self._run(process, connection, job, SILENT_SECONDS if heard else START_SECONDS)
            except Exception as error:
                job.future.set_exception(error)
            else:
                heard = not worn
                job.future.set_result(found)
                if worn:
                    _end(process, connection)
                    process, connection = self._start(place)
        _end(process, connection)
        del self._running[place]

    def _start(self, place: int) -> tuple[SpawnProcess, Connection]:
        ours, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_serve_jobs, args=(theirs, self._initialise, self._arguments))
        process.start()
        theirs.close()
        self._running[place] = process
        return process, ours

    def _run(self, process: SpawnProcess, connection: Connection, job: _Job, silence: float) -> tuple[object, bool]:
        """The job's result, and whether the process ends with it; raises what the job raised, and JobLost. silence:
        seconds to its first word."""
        steps, moved = -1, time.monotonic()
        with contextlib.suppress(OSError):
            connection.send((job.function, job.arguments))
        while True:
            left = silence
            if job.deadline is not None:
                left = min(left, max(job.deadline - time.monotonic(), 0))
            ready = wait([connection, process.sentinel], left)
            message = None
            if connection in ready:
                with contextlib.suppress(EOFError, OSError):
                    message = connection.recv()
            if message is None:
                raise self._lost(process, job, bool(ready), silence)
            what, value = message
            if what in ("done", "worn"):
                return value, what == "worn"
            if what == "failed":
                raise value
            silence = SILENT_SECONDS
            if value != steps:
                steps, moved = value, time.monotonic()
            if time.monotonic() > moved + STALLED_SECONDS:
                raise self._lost(process, job, False, STALLED_SECONDS)
            if job.deadline is not None and time.monotonic() >= job.deadline:
                raise self._lost(process, job, False, silence)

    def _lost(self, process: SpawnProcess, job: _Job, ended: bool, silence: float) -> JobLost:
        process.join(timeout=1 if ended else 0)
        if process.exitcode is not None:
            return JobLost(f"its process ended with status {process.exitcode}")
        process.kill()
        process.join()
        if job.deadline is not None and time.monotonic() >= job.deadline:
            return JobLost("its process went on after its time and was killed")
        return JobLost(f"its process did not move for {silence:g} s and was killed")


def _end(process: SpawnProcess, connection: Connection) -> None:
    connection.close()
    process.join(timeout=END_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
    process.close()


def _serve_jobs(connection: Connection, initialise: Callable[..., None], arguments: tuple[object, ...]) -> None:
    """In the process: run jobs until nobody has any more, or the process has grown too much."""
    initialise(*arguments)
    growth = Growth()
    sending = threading.Lock()
    working = threading.Event()

    def beat() -> None:
        while True:
            working.wait()
            with sending, contextlib.suppress(OSError):
                if working.is_set():
                    connection.send(("here", _steps))
            time.sleep(BEAT_SECONDS)

    threading.Thread(target=beat, daemon=True).start()
    while True:
        try:
            function, given = connection.recv()
        except (EOFError, OSError):
            return
        working.set()
        try:
            answer = ("done", function(*given))
        except Exception as error:
            answer = ("failed", error)
        if growth.look() and answer[0] == "done":
            answer = ("worn", answer[1])
        working.clear()
        with sending:
            try:
                connection.send(answer)
            except (TypeError, ValueError, AttributeError) as error:
                answer = "failed", RuntimeError(f"its result cannot be sent: {error}")
                connection.send(answer)
        if answer[0] == "worn":
            return
