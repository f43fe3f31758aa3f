"""Run many sweeps: hand parts to devices, compile ahead, check references, keep everything on disk as it comes.

Each spec goes through compile (helpers) -> parts (devices) -> inspect (device) -> check (helpers). Several GPUs share
the parts of one spec. Killing the parent at any moment loses at most the parts in work: the folder is the state.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.records import Environment, decode
from tridiff.fuzz.records.reading import read_bytes
from tridiff.fuzz.sweep.files import MOST_BYTES
from tridiff.fuzz.sweep.messages import (
    Check,
    Compile,
    Copy,
    Done,
    Failed,
    Inspect,
    Part,
    Ready,
    Task,
    part_path,
    result_path,
    write_whole,
)
from tridiff.fuzz.sweep.records import SweepRecord, SweepResult, SweepSpec
from tridiff.fuzz.sweep.source import IN_INTERPRETER, ON_DEVICE, build
from tridiff.fuzz.sweep.workers import Worker

PART = 1 << 30
"""Inputs of one part; also what an interruption may cost."""
TASK_LIMIT = 600.0
"""Seconds after which a worker is taken to hang."""
RESTARTS = 20


@dataclass
class _Job:
    spec: SweepSpec
    parts: deque[Part]
    left: int
    compiled: bool
    failed: str = ""


@dataclass
class Progress:
    """Where a run is. inputs: judged so far; seconds: device time spent on them."""

    total: int
    done: int = 0
    inputs: int = 0
    device_seconds: float = 0.0
    elapsed: float = 0.0
    compiled: int = 0
    last: SweepResult | None = None
    wrong: int = 0


@dataclass(frozen=True)
class Plan:
    """What a run consists of; kept in its folder as plan.json."""

    specs: tuple[SweepSpec, ...]
    backend: str
    devices: tuple[int, ...]
    helpers: int
    build: str = ""
    """What goes in front of the path of workers (`fuzz.builds`); "" for the installed Triton."""


class Run:
    """One run in one folder; running it again continues it."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan, self.folder = plan, folder
        self.environment = Environment()
        self._replies: queue.Queue[tuple[Worker, Done | Failed | Ready | None]] = queue.Queue()
        self._workers: list[Worker] = []
        self._restarts = 0
        self._rate = 0.0
        self._compile_seconds = 0.0
        self.results: dict[str, SweepResult] = {}
        self._jobs: dict[str, _Job] = {}
        self._urgent: deque[Task] = deque()
        self._waiting: deque[str] = deque()
        self._checks: deque[Task] = deque()
        self._compiles: deque[Task] = deque()
        self.progress = Progress(len(plan.specs))

    @classmethod
    def start(cls, plan: Plan, folder: Path) -> Run:
        """A new run; its plan is on disk before anything starts."""
        with writing(folder, fix="choose another --state"):
            write_whole(folder / "plan.json", msgspec.json.encode(plan))
        return cls(plan, folder)

    @classmethod
    def resume(cls, folder: Path) -> Run:
        """The run of a folder."""
        try:
            return cls(decode(read_bytes(folder / "plan.json", most=MOST_BYTES), Plan, source=str(folder)), folder)
        except TridiffError as error:
            raise TridiffError(f"{folder} holds no interrupted sweep ({error.problem})",
                               fix="start one: tridiff sweep") from None

    def run(self, watch: Callable[[Progress], None] = lambda progress: None) -> SweepRecord:
        """Run to the end, or to a KeyboardInterrupt, after which what is done is returned."""
        started, interrupted = time.monotonic(), False
        self._prepare()
        try:
            if self._jobs:
                self._open()
            while self._jobs:
                self._dispatch()
                self._take()
                self.progress.elapsed = time.monotonic() - started
                watch(self.progress)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            for worker in self._workers:
                worker.stop()
        ordered = tuple(self.results[s.key] for s in self.plan.specs if s.key in self.results)
        return SweepRecord(
            environment=self._remembered(), results=ordered, seconds=round(time.monotonic() - started, 3),
            compiled=self.progress.compiled, compile_seconds=round(self._compile_seconds, 3),
            copy_bytes_per_second=self._rate, interrupted=interrupted)

    def _remembered(self) -> Environment:
        path = self.folder / "environment.json"
        if self.environment != Environment():
            write_whole(path, msgspec.json.encode(self.environment))
        elif path.exists():
            return msgspec.json.decode(path.read_bytes(), type=Environment)
        return self.environment

    def _prepare(self) -> None:
        """Which parts are still to be judged."""
        on_device = self.plan.backend == "cuda"
        decode = msgspec.json.Decoder(SweepResult).decode
        for spec in self.plan.specs:
            path = result_path(self.folder, spec)
            if path.exists():
                self._finish(decode(path.read_bytes()))
                continue
            try:
                kernels = build(spec, shape=ON_DEVICE if on_device else IN_INTERPRETER)
            except (TridiffError, KeyError) as error:
                self._give_up(spec, f"{error}")
                continue
            span, size = kernels.shape.span, kernels.space.size
            folder = str(self.folder)
            spans = size // span
            step = spans if kernels.space.on_host else max(1, PART // span)
            parts = [Part(spec, folder, first, min(step, spans - first)) for first in range(0, spans, step)]
            missing = deque(part for part in parts if not part_path(folder, spec, part.first).exists())
            self._jobs[spec.key] = _Job(spec, missing, len(missing), not on_device)
            if on_device and self.plan.helpers:
                self._compiles.append(Compile(spec, 0))
            else:
                self._jobs[spec.key].compiled = True
            if missing:
                self._waiting.append(spec.key)
            else:
                self._urgent.append(Inspect(spec, folder))

    def _open(self) -> None:
        if self.plan.backend == "cuda":
            names = [f"cuda:{number}" for number in self.plan.devices] + ["helper"] * self.plan.helpers
        else:
            names = ["interpreter"] * max(1, min(self.plan.helpers or 1, len(self._jobs)))
        self._workers = [self._worker(name) for name in names]
        if self.plan.backend == "cuda":
            self._urgent.appendleft(Copy())

    def _worker(self, where: str) -> Worker:
        if not self.plan.build:
            return Worker(where, self._replies)
        # Triton's cache does not tell two copies of one version apart.
        return Worker(where, self._replies, build=self.plan.build, cache=str((self.folder / "cache").resolve()))

    def _dispatch(self) -> None:
        for worker in self._workers:
            if worker.ready and worker.task is None:
                task = self._next(worker.where)
                if task is not None:
                    worker.give(task)

    def _next(self, where: str) -> Task | None:
        if where == "helper":
            if self._checks:
                return self._checks.popleft()
            if self._compiles and self.environment.capability:
                task = self._compiles.popleft()
                assert isinstance(task, Compile)
                return Compile(task.spec, int(self.environment.capability.replace(".", "")))
            return None
        if self._urgent:
            return self._urgent.popleft()
        if where == "interpreter" and self._checks:
            return self._checks.popleft()
        for key in self._waiting:
            job = self._jobs[key]
            if job.compiled:
                part = job.parts.popleft()
                if not job.parts:
                    self._waiting.remove(key)
                return part
        # Nothing left to judge: the devices' processes may help.
        return self._checks.popleft() if self._checks and not self._waiting else None

    def _take(self) -> None:
        """Wait for one reply, or notice a hang."""
        try:
            worker, reply = self._replies.get(timeout=1.0)
        except queue.Empty:
            for worker in self._workers:
                if worker.task is not None and worker.seconds > TASK_LIMIT:
                    self._replace(worker, f"did not answer for {TASK_LIMIT:.0f} s")
            return
        if worker not in self._workers:
            return
        if reply is None:
            self._replace(worker, worker.epitaph())
        elif isinstance(reply, Ready):
            worker.ready = True
            if worker.where != "helper":
                self.environment = reply.environment
        else:
            task, worker.task = worker.task, None
            assert task is not None
            if isinstance(reply, Failed):
                self._failed(task, f"{reply.kind}: {reply.message}")
            else:
                self._done(task, reply)

    def _replace(self, worker: Worker, why: str) -> None:
        self._workers.remove(worker)
        worker.stop()
        self._restarts += 1
        if not worker.ready and worker.task is None:
            raise TridiffError(f"a worker for {worker.where} does not start ({why})", fix="run `tridiff doctor`")
        if self._restarts > RESTARTS:
            raise TridiffError(f"{RESTARTS} workers have died, the last one {why}", fix="run `tridiff doctor`")
        self._workers.append(self._worker(worker.where))
        if worker.task is not None:
            self._failed(worker.task, f"the worker {why}")

    def _failed(self, task: Task, why: str) -> None:
        if isinstance(task, Copy):
            return
        if isinstance(task, Compile):
            # The launch will say the same, with the device's own words.
            if task.spec.key in self._jobs:
                self._jobs[task.spec.key].compiled = True
            return
        self._give_up(task.spec, why)

    def _give_up(self, spec: SweepSpec, why: str) -> None:
        if spec.key in self._waiting:
            self._waiting.remove(spec.key)
        self._jobs.pop(spec.key, None)
        self._finish(SweepResult(spec=spec, verdict="not_checked", reason=why[:600]))

    def _done(self, task: Task, reply: Done) -> None:
        if isinstance(task, Copy):
            self._rate = reply.rate
            return
        if isinstance(task, Compile):
            self._compile_seconds += reply.seconds
            self.progress.compiled += reply.compiled
            if task.spec.key in self._jobs:
                self._jobs[task.spec.key].compiled = True
            return
        job = self._jobs.get(task.spec.key)
        if job is None:
            return  # given up meanwhile
        self.progress.compiled += reply.compiled
        if isinstance(task, Part):
            job.left -= 1
            if job.left == 0:
                self._urgent.append(Inspect(job.spec, str(self.folder)))
        elif isinstance(task, Inspect):
            self._checks.append(Check(job.spec, str(self.folder)))
        elif reply.result is not None:
            self._jobs.pop(task.spec.key)
            self._finish(reply.result)

    def _finish(self, result: SweepResult) -> None:
        self.results[result.spec.key] = result
        progress = self.progress
        progress.done += 1
        progress.inputs += result.inputs
        progress.device_seconds += result.seconds
        progress.wrong += result.verdict == "disagree"
        progress.last = result


def sweep(specs: Sequence[SweepSpec], folder: Path, *, backend: str, devices: tuple[int, ...] = (0,),
          helpers: int = 1) -> SweepRecord:
    """Run these specs in a folder and return the record."""
    return Run.start(Plan(tuple(specs), backend, devices, helpers), folder).run()
