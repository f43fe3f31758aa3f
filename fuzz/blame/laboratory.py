"""The parent's side of trials: a process per build and mode, asked for one trial after the other, within a budget."""

import contextlib
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from tridiff.fuzz.blame.calls import departures
from tridiff.fuzz.blame.trial import Result, Trial
from tridiff.fuzz.builds import Build
from tridiff.fuzz.workers.leftovers import OwnFolder
from tridiff.fuzz.workers.preloaded import Zygote, fork_instead

PREFIX = "tridiff-trials-"
"""How the folders begin in which trials write (`workers.leftovers`)."""

START = 120.0
"""Seconds that a process may take to import torch and Triton."""

_RESULT = msgspec.json.Decoder(Result)


Child = subprocess.Popen[bytes] | Zygote


class OutOfTime(Exception):
    """The budget is used up: the trial was not run."""


class Laboratory:
    """Runs trials. seconds: the whole budget; build: the Triton to run, None for the installed one; baseline: one in
    which what fails may be right. preloaded: folder of processes that have the installed one imported, if there are any
    (`workers.preloaded`)."""

    def __init__(self, *, seconds: float, build: Build | None = None, baseline: Build | None = None,
                 preloaded: Path | None = None) -> None:
        self.baseline = Laboratory(seconds=seconds, build=baseline) if baseline is not None else None
        self._end = time.monotonic() + seconds
        self._build, self._preloaded = build, None if build is not None else preloaded
        self._children: dict[bool, Child] = {}
        self._started: list[Child] = []
        self._abandoned = False
        self._folder = OwnFolder(PREFIX)
        self._lines: dict[bool, dict[str, tuple[int, ...]] | None] = {}
        self._usual: dict[bool, frozenset[str]] = {}
        self.triton = ""
        self.trials = 0

    @property
    def left(self) -> float:
        """Seconds of the budget."""
        return self._end - time.monotonic()

    def abandon(self) -> None:
        """Said from another thread: what runs comes to no result, and nothing more is begun."""
        self._abandoned = True
        if self.baseline is not None:
            self.baseline.abandon()
        for child in self._started:
            child.kill()

    def renew(self, seconds: float) -> None:
        """Begin another budget with the processes that there are."""
        self._end = time.monotonic() + seconds
        if self.baseline is not None:
            self.baseline.renew(seconds)

    def start(self, *, interpreted: bool) -> None:
        """Start the processes before the first trial, outside of any budget: the one that compiles, and the one that
        interprets if asked for."""
        started = {kind: self._begun(kind) for kind in ((False, True) if interpreted else (False,))}
        for kind, child in started.items():
            self._ready(kind, child)
        if self.baseline is not None:
            self.baseline.start(interpreted=interpreted)

    def restart(self) -> None:
        """End the processes; the next trial starts others."""
        if self.baseline is not None:
            self.baseline.restart()
        for child in self._children.values():
            self._end_child(child)
        self._children.clear()

    def run(self, trial: Trial) -> Result:
        """The trial's result, whatever becomes of its process. Raises OutOfTime."""
        if self._abandoned or self.left <= 1.0:
            raise OutOfTime
        interpreted = trial.backend == "interpreter" and not trial.evaluated
        child = self._child(interpreted)
        if child is None:
            return Result(refused="no process could be started that imports Triton")
        trial = msgspec.structs.replace(trial, seconds=min(trial.seconds, self.left))
        self.trials += 1
        try:
            assert child.stdin is not None
            child.stdin.write(msgspec.json.encode(trial) + b"\n")
            child.stdin.flush()
        except OSError:
            self._children.pop(interpreted, None)
            return Result(refused="the process of the trials is gone")
        answer = self._line(child, trial.seconds + 20.0)
        if not answer:
            self._end_child(self._children.pop(interpreted))
            return Result(ended="lost")
        return _RESULT.decode(answer)

    def lines(self, trial: Trial) -> dict[str, tuple[int, ...]] | None:
        """Lines of Triton that right cases run, None where they cannot be run; asked for in each mode once, with the
        first trial for which there is all the time that it may take."""
        interpreted = trial.backend == "interpreter"
        if interpreted not in self._lines:
            if self.left < trial.seconds:
                return None
            result = self.run(trial)
            if result.refused or result.ended == "time":
                return None
            self._lines[interpreted] = None if result.ended else result.lines
        return self._lines[interpreted]

    def usual(self, trial: Trial) -> frozenset[str]:
        """Functions of Triton that depart from the baseline in right cases, asked for in each mode once; of one version
        both make the same of them. Raises OutOfTime."""
        interpreted = trial.backend == "interpreter"
        if interpreted not in self._usual and self.baseline is not None:
            ran = () if self.triton == self.baseline.triton else (self.run(trial), self.baseline.run(trial))
            if any(one.refused or one.ended for one in ran):
                raise OutOfTime
            self._usual[interpreted] = frozenset(departures(*(one.calls for one in ran)) if ran else ())
        return self._usual.get(interpreted, frozenset())

    def _child(self, interpreted: bool) -> Child | None:
        found = self._children.get(interpreted)
        if found is not None:
            return found
        return self._ready(interpreted, self._begun(interpreted))

    def _begun(self, interpreted: bool) -> Child:
        folder = self._folder.path / ("interpreter" if interpreted else "compiler")
        folder.mkdir(exist_ok=True)
        child = self._forked(interpreted, folder) or self._spawned(interpreted, folder)
        self._started = [one for one in self._started if one.poll() is None] + [child]
        if self._abandoned:
            child.kill()
        return child

    def _forked(self, interpreted: bool, folder: Path) -> Zygote | None:
        if self._preloaded is None:
            return None
        return fork_instead(self._preloaded, "trials", str(folder), interpreted=interpreted, log=folder / "log",
                            environment={"TRITON_CACHE_DIR": str(folder / "cache")})

    def _spawned(self, interpreted: bool, folder: Path) -> Child:
        environment = dict(self._build.environment() if self._build else os.environ)
        environment.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                           TRITON_DEFAULT_FP_FUSION="1", TRITON_CACHE_DIR=str(folder / "cache"))
        environment.pop("TRITON_INTERPRET", None)
        if interpreted:
            environment["TRITON_INTERPRET"] = "1"
        with open(folder / "log", "wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "tridiff.fuzz.blame.child", str(folder), str(os.getpid())],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0, env=environment,
                start_new_session=True)

    def _ready(self, interpreted: bool, child: Child) -> Child | None:
        """The process once it has imported Triton, None if it does not come to that."""
        ready = self._line(child, START)
        if not ready:
            self._end_child(child)
            return None
        self.triton = _RESULT.decode(ready).triton
        self._children[interpreted] = child
        return child

    @staticmethod
    def _line(child: Child, seconds: float) -> bytes:
        """The next whole line, b"" if none comes in time."""
        assert child.stdout is not None
        deadline, got = time.monotonic() + seconds, b""
        while not got.endswith(b"\n"):
            readable, _, _ = select.select([child.stdout], [], [], max(deadline - time.monotonic(), 0.0))
            if not readable:
                return b""
            part = os.read(child.stdout.fileno(), 1 << 20)
            if not part:
                return b""
            got += part
        return got

    @staticmethod
    def _end_child(child: Child) -> None:
        with contextlib.suppress(OSError):
            if child.stdin is not None:
                child.stdin.close()
        try:
            child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()

    def close(self) -> None:
        """End the processes and remove what they wrote."""
        if self.baseline is not None:
            self.baseline.close()
        self.restart()
        self._folder.remove()

    def __enter__(self) -> "Laboratory":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
