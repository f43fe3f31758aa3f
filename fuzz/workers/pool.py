"""The driver's side: one active worker, one warm spare, and a verdict whatever happens to them."""

import math
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tridiff.fuzz.backends import FOR_CHIPS, kind
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, Environment, Evidence, JointOutcome, Outcome, Signature, Verdict
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.registry import find
from tridiff.fuzz.workers import protocol
from tridiff.fuzz.workers.connection import Worker
from tridiff.fuzz.workers.diagnostics import ON_DEVICE
from tridiff.fuzz.workers.forks import Forks, NoWorker, PoolOptions
from tridiff.fuzz.workers.leftovers import OwnFolder, sweep

__all__ = ["NoWorker", "Pool", "PoolOptions", "TimeUp", "longest_case"]

SPARE_AFTER = 5.0
"""Seconds from a pool's first worker to its spare: contexts on one GPU are made one after another, and every pool of a
campaign waits for its first."""

HARNESS_FAILED = 70
"""Exit status of a worker whose own code raised (see zygote.py)."""

FIRST_CASE = 20.0
"""Seconds that a worker's first case may take beyond the hang limit until it is launched, where a device has to load
what makes arrays."""

ASSERTED = 20.0
"""Seconds beyond the hang limit until a launch that a device assertion stopped is over: 16 processes on one GPU have
seen 8, and once more than 10."""

FAILED_STARTS = 3
"""Workers that may die while starting, one after another."""

DIE_STARTING = "workers die while starting"
"""How it is told that so many did."""

OWN_STAGES = ("materialise", "judge", "evaluate")
"""Stages in which nothing of the subject runs: not to end there is no evidence against it."""

PREFIX = "tridiff-pool-"

_Request = protocol.Run | protocol.RunJoined


class TimeUp(Exception):
    """The caller's time ended before a case did: nothing is known of it."""


def longest_case(options: PoolOptions) -> float:
    """Seconds after which no case runs any more, whatever its worker announces."""
    return 2 * options.compile_limit + 4 * options.hang_limit + FIRST_CASE


class _Stages:
    """What a worker is doing with a case, and until when it may."""

    def __init__(self, options: PoolOptions, *, compile_limit: float, launches: int, first: bool,
                 until: float | None) -> None:
        self._hang, self._compile = options.hang_limit, compile_limit
        self._end = time.monotonic() + longest_case(options)
        self._until = math.inf if until is None else until
        self._repeats = launches
        self._since = time.monotonic()
        self.name, self.limit = "materialise", options.hang_limit
        if first and kind(options.backend) == "cuda":
            self.limit += FIRST_CASE
        self.deadline = self._bounded()
        self.compiling = 0.0
        self._prolonged = False

    def _bounded(self) -> float:
        return min(self._since + self.limit, self._end, self._until)

    def enter(self, name: str) -> None:
        """The worker announces a stage. One that it announces again and again, beyond the launches that the case may
        have, gets no more time."""
        if name == self.name:
            self._repeats -= 1
            if self._repeats < 0:
                return
        self.leave()
        self.name, self.limit = name, self._compile if name == "compile" else self._hang
        self.deadline = self._bounded()

    def leave(self) -> None:
        """The present stage ended."""
        now = time.monotonic()
        if self.name == "compile":
            self.compiling += now - self._since
        self._since = now

    def prolong(self, log: str) -> bool:
        """More time, once, for a launch of which the worker's log says that an assertion stopped it: a driver takes
        seconds for that, where many processes share a device. Whether there is any."""
        prolonged, self._prolonged = self._prolonged, True
        if prolonged or self.name != "launch" or not ON_DEVICE.search(log):
            return False
        self.limit += ASSERTED
        self.deadline = self._bounded()
        return time.monotonic() < self.deadline

    def time_up(self) -> bool:
        """Whether it is the caller's time that ended, and not that of the stage."""
        return time.monotonic() >= self._until


class Pool:
    """Runs cases one after another on expendable workers of one device, or of the compilers for several architectures:
    each architecture has a worker of its own (corpus/without_entries.md says why), and all come from one zygote.

    `execute` always returns an outcome: death and hang of a worker are verdicts, a worker that talks nonsense is ended
    and its case not checked, and a warm spare takes over. A zygote that is gone is replaced as well.
    """

    def __init__(self, options: PoolOptions, *, start: Callable[[PoolOptions, Path], Forks] = Forks) -> None:
        self.options = options
        """Its backend is that of the last case."""
        self.deaths = 0
        self.replacement_seconds: list[float] = []
        self.compile_seconds = 0.0
        """What compiling took so far, as workers announced it."""
        self.observed: Observed | None = None
        """What the last case gave bit for bit, if that was asked for and it came to an end."""
        self.reached: tuple[int, ...] = ()
        """Numbers of the watched functions that the last case ran, if it came to an end."""
        self.imported: tuple[int, ...] = ()
        """Numbers of those that the start of its worker ran."""
        sweep(PREFIX)
        self._folder = OwnFolder(PREFIX)
        self._start_forks = start
        self._generation = 0
        self._sequence = 0
        self._workers: dict[str, Worker] = {}
        """Those that run cases, by backend."""
        self._first = math.inf
        """When the first worker was ready."""
        self._forks = self._fresh()

    def _fresh(self) -> Forks:
        """A zygote in a folder of its own, with a first child on the way."""
        self._generation += 1
        forks = self._start_forks(self.options, self._folder.path / str(self._generation))
        forks.ask()
        return forks

    @property
    def _active(self) -> Worker | None:
        return self._workers.get(self.options.backend)

    @property
    def folder(self) -> Path:
        """The pool's temporary folder, with the logs of its processes."""
        return self._folder.path

    def processes(self) -> tuple[int, int]:
        """Process numbers of the zygote and of the active worker, which is started when needed."""
        worker = self._ready().pid
        return self._forks.zygote.pid, worker

    @property
    def worker(self) -> int:
        """Process number of the active worker; starts one when needed."""
        return self._ready().pid

    @property
    def log(self) -> Path:
        """File that has the active worker's output."""
        return self._ready().log

    def environments(self) -> tuple[Environment, ...]:
        """Of all that run a case: of two builds there are two."""
        return (self.environment,)

    @property
    def environment(self) -> Environment:
        """Of the active worker; starts one when needed."""
        return self._ready().environment

    def spares(self) -> int:
        """Children that stand ready or are on their way."""
        return self._forks.waiting()

    def _next_worker(self, until: float | None) -> Worker:
        """Take in the next child that says it is ready. Raises NoWorker, and TimeUp at `until`."""
        failures = 0
        deadline = time.monotonic() + self.options.start_limit
        while True:
            now = time.monotonic()
            problem = self._forks.problem()
            if problem:
                if not self._forks.taken:
                    raise NoWorker(problem)
                # It served, so it can be started here: somebody killed or stopped it.
                self._forks.close()
                self._dismiss()
                self._forks = self._fresh()
                deadline = now + self.options.start_limit
            if until is not None and now >= until:
                raise TimeUp
            if not self._forks.waiting():
                self._forks.ask(self.options.backend)
            before = self._forks.waiting()
            worker = self._forks.take(now + 0.2)
            if worker is not None and self._serves(worker):
                return worker
            if worker is not None:
                continue
            failures += self._forks.waiting() < before
            # Only now: a spare may have stood ready for hours.
            failures += self._forks.give_up_late()
            if failures >= FAILED_STARTS:
                raise NoWorker(f"{DIE_STARTING}: {self._forks.last_log()}")
            if now > deadline:
                raise NoWorker(f"no worker became ready in {self.options.start_limit:g} s: {self._forks.zygote_log()}")

    def _serves(self, worker: Worker) -> bool:
        """Whether a worker that became ready is for the present backend. One for another stands by for that."""
        if kind(self.options.backend) not in FOR_CHIPS or worker.environment.backend == self.options.backend:
            return True
        if self._workers.setdefault(worker.environment.backend, worker) is not worker:
            worker.kill()
            worker.close()
        return False

    def _ready(self, until: float | None = None) -> Worker:
        active = self._active
        if active is None:
            start = time.monotonic()
            active = self._workers[self.options.backend] = self._next_worker(until)
            if self.deaths:
                self.replacement_seconds.append(time.monotonic() - start)
            self._first = min(self._first, time.monotonic())
        rested = self.deaths > 0 or time.monotonic() > self._first + SPARE_AFTER
        if self.options.spare and not self._forks.waiting() and rested:
            self._forks.ask(self.options.backend)
        return active

    def stand_by(self) -> None:
        """Return when a spare stands ready, so that no start falls into what is measured next.

        Raises TridiffError when none is ready within the start limit."""
        self._ready()
        if not self._forks.waiting():
            self._forks.ask(self.options.backend)
        if not self._forks.spare(self.options.start_limit):
            raise NoWorker(f"no spare became ready in {self.options.start_limit:g} s: {self._forks.zygote_log()}")

    def inputs(self, case: Case, subject: str = "own") -> Evidence:
        """The input values of a small case; nothing is launched."""
        return self.execute(case, subject, inputs_only=True).evidence or Evidence()

    def execute(self, case: Case, subject: str, *, backend: str | None = None, want_inputs: bool = False,
                inputs_only: bool = False, compile_limit: float | None = None, until: float | None = None,
                observe: Observe | None = None) -> Outcome:
        """Run one case to a verdict. Raises TridiffError only for a case that cannot be run at all, and NoWorker when
        there is nothing to run it on.

        compile_limit: seconds for compiling one kernel, if less than the pool's. until: a moment (monotonic) at which
        the case is given up, whatever it does; raises TimeUp then.
        """
        backend = backend or self.options.backend
        self.options = replace(self.options, backend=backend)
        worker = self._listening(until)
        self._sequence += 1
        request = protocol.Run(sequence=self._sequence, case=case, subject=subject, backend=backend,
                               want_inputs=want_inputs, inputs_only=inputs_only, observe=observe)
        self.observed, self.reached = None, ()
        stages = _Stages(
            self.options, compile_limit=min(self.options.compile_limit, compile_limit or math.inf), until=until,
            launches=_launches(case), first=worker.cases == 0)
        found = self._carried_out(worker, request, stages, _Ending(case, subject, backend))
        assert isinstance(found, Outcome)
        return found

    def execute_joined(self, cases: tuple[Case, ...], subject: str, *, backend: str | None = None,
                       until: float | None = None) -> JointOutcome:
        """Run some cases of one target in a joint launch. Raises what `execute` does."""
        backend = backend or self.options.backend
        self.options = replace(self.options, backend=backend)
        worker = self._listening(until)
        self._sequence += 1
        request = protocol.RunJoined(sequence=self._sequence, cases=cases, subject=subject, backend=backend)
        self.observed, self.reached = None, ()
        stages = _Stages(self.options, compile_limit=self.options.compile_limit, until=until,
                         launches=sum(map(_launches, cases)), first=worker.cases == 0)
        found = self._carried_out(worker, request, stages, _JointEnding(cases[0], subject, backend))
        assert isinstance(found, JointOutcome)
        return found

    def _carried_out(self, worker: Worker, request: _Request, stages: _Stages,
                     ending: "_Ending") -> Outcome | JointOutcome:
        """What becomes of a request, whatever its worker does."""
        try:
            worker.send(request)
        except OSError:
            return self._died(worker, ending, "start")
        try:
            outcome, spent = self._answer(worker, request, stages)
        except protocol.Garbled as error:
            worker.kill()
            self._retire(worker)
            return ending.unchecked(f"the worker broke the protocol at stage {stages.name}: {error}")
        except TimeoutError:
            return self._hung(worker, ending, stages)
        except EOFError:
            return self._died(worker, ending, stages.name)
        finally:
            self.compile_seconds += stages.compiling
        if spent:
            self._retire(worker)
        return outcome

    def _listening(self, until: float | None) -> Worker:
        """The active worker, if it has been silent since its last answer; one that has not is replaced."""
        worker = self._ready(until)
        if worker.unasked():
            worker.kill()
            self._retire(worker)
            worker = self._ready(until)
        return worker

    def _answer(self, worker: Worker, request: _Request, stages: _Stages) -> tuple[Outcome | JointOutcome, bool]:
        """What the worker says of the request, and whether it ends now. Raises TridiffError for a refusal, Garbled for
        what does not belong here, TimeoutError, and EOFError when the worker is gone."""
        digest = _cases(request)[0].digest
        while True:
            try:
                message = worker.read(stages.deadline)
            except TimeoutError:
                if stages.prolong(worker.tail()):
                    continue
                raise
            if message is None:
                raise EOFError
            if isinstance(message, protocol.Ready):
                raise protocol.Garbled("it says again that it is ready")
            if message.sequence != request.sequence:
                raise protocol.Garbled(f"it speaks of request {message.sequence}, not {request.sequence}")
            match message:
                case protocol.Stage():
                    stages.enter(message.name)
                case protocol.Done() | protocol.DoneJoined():
                    stages.leave()
                    self._about(request, message.outcome)
                    self._silent(worker)
                    if isinstance(message, protocol.DoneJoined):
                        return message.outcome, message.spent
                    self.observed, self.reached, self.imported = message.observed, message.reached, message.imported
                    return message.outcome, message.spent
                case protocol.Refused():
                    if message.case_digest != digest:
                        raise protocol.Garbled(f"it refuses case {message.case_digest}, not {digest}")
                    self._silent(worker)
                    raise TridiffError(message.problem, fix=message.fix)

    def _about(self, request: _Request, said: Outcome | JointOutcome) -> None:
        """Raises Garbled for an answer to something else. A joint launch may have ended without outcomes."""
        if isinstance(said, JointOutcome) != isinstance(request, protocol.RunJoined):
            raise protocol.Garbled("it answers another kind of request")
        outcomes = said.outcomes if isinstance(said, JointOutcome) else (said,)
        told = [(one.case_digest, one.target, one.subject, one.backend) for one in outcomes]
        asked = [(one.digest, one.target, request.subject, request.backend) for one in _cases(request)]
        if told != asked and (told or isinstance(said, Outcome)):
            raise protocol.Garbled(f"it answers for case {told[0][0]}, not for {asked[0][0]}")

    def _silent(self, worker: Worker) -> None:
        left = worker.unasked()
        if left:
            raise protocol.Garbled(f"it goes on after its answer: {left!r}")

    def _retire(self, worker: Worker) -> None:
        worker.close()
        self.deaths += 1
        self._workers.pop(self.options.backend, None)

    def _hung(self, worker: Worker, ending: "_Ending", stages: _Stages) -> Outcome | JointOutcome:
        log = worker.tail()
        worker.kill()
        self._retire(worker)
        if stages.time_up():
            raise TimeUp
        reason = f"no answer within {stages.limit:g} s of stage {stages.name}; the worker was killed"
        if stages.name in OWN_STAGES:
            return ending.unchecked(reason)
        return ending.failure(Verdict.HANG, stages.name, reason, log)

    def _died(self, worker: Worker, ending: "_Ending", stage: str) -> Outcome | JointOutcome:
        self._retire(worker)
        status = self._forks.status_of(worker.pid)
        if status is None:
            worker.kill()
            return ending.unchecked(f"the worker was lost at stage {stage}, and nobody can say how it ended")
        if status == HARNESS_FAILED:
            # The worker's own code raised, outside of what it does for the subject: no evidence against anybody.
            last = worker.tail().splitlines()[-1:] or ["no message"]
            return ending.unchecked(f"the worker failed at stage {stage}: {last[0]}")
        kind_ = signal.Signals(-status).name if status < 0 else f"exit_{status}"
        return ending.failure(Verdict.CRASH, kind_, f"the worker ended with {kind_} at stage {stage}", worker.tail())

    def close(self) -> None:
        """End the zygote and with it every child, and remove what they wrote."""
        self._dismiss()
        self._forks.close()
        self._folder.remove()

    def _dismiss(self) -> None:
        """Listen to no worker any more."""
        while self._workers:
            self._workers.popitem()[1].close()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _Ending:
    """Outcomes of a case whose worker gave none."""

    def __init__(self, case: Case, subject: str, backend: str) -> None:
        self._case, self._subject, self._backend = case, subject, backend

    def unchecked(self, reason: str) -> Outcome | JointOutcome:
        """Nothing is known of the subject."""
        return self._outcome(Verdict.NOT_CHECKED, reason)

    def failure(self, verdict: Verdict, kind_: str, reason: str, log: str) -> Outcome | JointOutcome:
        """It speaks against the subject. log: what the worker wrote last."""
        signature = Signature(target=self._case.target, subject=self._subject, verdict=verdict, kind=kind_,
                              about=find(self._case.target).judge.label(self._case))
        return self._outcome(verdict, reason, signature=signature, evidence=Evidence(log=log))

    def _outcome(self, verdict: Verdict, reason: str, *, signature: Signature | None = None,
                 evidence: Evidence | None = None) -> Outcome | JointOutcome:
        return Outcome(case_digest=self._case.digest, target=self._case.target, subject=self._subject,
                       backend=self._backend, verdict=verdict, reason=" ".join(reason.split())[:2000],
                       signature=signature, evidence=evidence)


class _JointEnding(_Ending):
    """The same of a joint launch, of which the case is the first."""

    def _outcome(self, verdict: Verdict, reason: str, **of_a_case: object) -> JointOutcome:
        return JointOutcome(verdict=verdict, reason=" ".join(reason.split())[:2000])


def _cases(request: _Request) -> tuple[Case, ...]:
    return request.cases if isinstance(request, protocol.RunJoined) else (request.case,)


def _launches(case: Case) -> int:
    return 1 + case.repeats + len(case.variants) + _schedules(case)


def _schedules(case: Case) -> int:
    """How many other schedules a case's launch has; a stranger's case may belong to no target or fit none."""
    try:
        return find(case.target).run.schedules(case)
    except Exception:
        return 0
