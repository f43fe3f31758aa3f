"""The process in which trials run: it imports torch and Triton once and forks for each of them.

A compiler that aborts, hangs or changes its process ends a fork. Requests and answers are lines of JSON.
"""

import contextlib
import importlib
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.blame.raised import stack
from tridiff.fuzz.blame.trial import Frame, Result, Trial
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.workers.zygote import die_with_parent

LONGEST_LOG = 20_000
MEMORY = 6 << 30
OWN_FAULT = 70
"""Exit status of a fork whose own code raised: nothing is known of the case."""


def serve(folder: Path) -> None:
    """Answer trials from the standard input until it ends."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # What kernels and compilers print is no answer.
    import torch
    import triton

    torch.set_num_threads(1)
    out.write(msgspec.json.encode(Result(triton=triton.__version__)) + b"\n")
    for number, line in enumerate(sys.stdin.buffer):
        trial = msgspec.json.decode(line, type=Trial)
        _imported(trial)
        result = _forked(trial, folder / str(number))
        out.write(msgspec.json.encode(msgspec.structs.replace(result, triton=triton.__version__)) + b"\n")


def _imported(trial: Trial) -> None:
    """Import here, once, what the fork would import: seconds of every trial. What fails to import fails there. Not
    torch's compiler where there is a GPU: to import it may ask the driver, which must not happen before a fork that
    does so, too, whatever it runs on."""
    with contextlib.suppress(Exception):
        importlib.import_module("tridiff.fuzz.workers.execute")
        from tridiff.fuzz.registry import find

        find(trial.case.target)
        if trial.subject.startswith("inductor") and not Path("/dev/nvidiactl").exists():
            importlib.import_module("torch._inductor.compile_fx")


def _forked(trial: Trial, base: Path) -> Result:
    """Run one trial in a fork and say how it ended."""
    answer, journal, log = (base.with_suffix(end) for end in (".json", ".steps", ".log"))
    started = time.monotonic()
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        status = OWN_FAULT
        try:
            die_with_parent(parent)
            os.setsid()
            sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            answer.write_bytes(msgspec.json.encode(run(trial, journal)))
            status = 0
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.write(2, f"tridiff: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)
    ended = _wait(pid, started + trial.seconds)
    result = Result(ended=ended)
    if ended == f"exit_{OWN_FAULT}":
        last = (log.read_text(errors="replace").strip().splitlines() or [""])[-1]
        result = Result(refused=f"the trial's own process failed: {last}"[:300])
    elif not ended and answer.exists():
        result = msgspec.json.decode(answer.read_bytes(), type=Result)
    entered = journal.read_text(errors="replace").splitlines() if journal.exists() else []
    said = log.read_text(errors="replace")[:LONGEST_LOG] if log.exists() else ""
    for path in (answer, journal, log):
        path.unlink(missing_ok=True)
    return msgspec.structs.replace(result, entered=(entered or [""])[-1][:300], log=result.log or said,
                                   seconds=round(time.monotonic() - started, 3))


def _wait(pid: int, deadline: float) -> str:
    """How the fork ended: "" as it should, the name of a signal, "time", or its status."""
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return "" if code == 0 else signal.Signals(-code).name if code < 0 else f"exit_{code}"
        if time.monotonic() > deadline:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "time"
        time.sleep(0.005)


def run(trial: Trial, journal: Path) -> Result:
    """Run one trial in this process, which the environment variables are left to."""
    os.environ.update(trial.environment)
    if trial.environment.get("TRITON_INTERPRET") is None and not trial.backend.startswith("cuda"):
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def enter(name: str) -> None:
        os.write(descriptor, f"{name}\n".encode())

    try:
        return _judged(trial, enter)
    except TridiffError as error:
        return Result(refused=error.problem)


def _judged(trial: Trial, enter: Any) -> Result:
    if trial.calls:
        return _called(trial)
    if trial.right:
        from tridiff.fuzz.blame.right import right_lines

        return Result(lines=right_lines(trial.backend, _package(), trial.seconds))
    if trial.evaluated:
        return _evaluated(trial)
    if trial.backend == "interpreter":
        return _interpreted(trial)
    if kind(trial.backend) == "evaluated":
        return _last_ir(trial)
    from tridiff.fuzz.blame.planted import edits_of
    from tridiff.fuzz.blame.stepping import Stepper, stepping

    stepper = Stepper(enter=enter, drop=trial.drop, **edits_of(trial.plant))
    from tridiff.fuzz.workers.execute import Executor

    executor = Executor(backend=trial.backend)
    raised = _stack_of(executor)
    watching = stepping(stepper) if trial.stepped or trial.drop or trial.plant or trial.texts else (
        contextlib.nullcontext())
    with watching:
        outcome, _ = executor.execute(trial.case, trial.subject, backend=trial.backend, stage=enter)
    return Result(outcome=outcome, steps=tuple(stepper.steps), ptx=stepper.ptx,
                  library=tuple(stepper.library), inside=stepper.inside, stack=tuple(raised),
                  texts=dict(stepper.located) if trial.texts else {})


def _called(trial: Trial) -> Result:
    """What Triton's functions make of what they are given: of the case, up to its IR where it is compiled, or of right
    cases."""
    from tridiff.fuzz.blame.calls import Calls
    from tridiff.fuzz.blame.right import calls_of_right
    from tridiff.fuzz.records.observed import Observe
    from tridiff.fuzz.workers.execute import Executor

    if trial.right:
        return Result(calls=calls_of_right(trial.backend, _package(), trial.seconds))
    calls, observe = Calls(_package()), None if trial.backend == "interpreter" else Observe(stop="source")
    with calls:
        outcome, _ = Executor(backend=trial.backend).execute(trial.case, trial.subject, backend=trial.backend,
                                                             observe=observe)
    return Result(outcome=outcome, calls=tuple(calls.made))


def _package() -> Path:
    """The folder of Triton."""
    import triton

    return Path(triton.__file__).parent


def _stack_of(executor: Any) -> list[Frame]:
    """Where Triton was when the executor's case failed with an error, once it has. Triton takes the frames of its code
    generator out of a traceback."""
    compiler: Any = importlib.import_module("triton.compiler.compiler")
    if hasattr(compiler, "filter_traceback"):
        compiler.filter_traceback = lambda error: None
    found: list[Frame] = []
    executor.on_error = lambda error: found.extend(stack(error, _package()))
    return found


def _evaluation(trial: Trial) -> Any:
    from tridiff.fuzz.blame.planted import edits_of
    from tridiff.fuzz.blame.points import Evaluation

    arch = {"interpreter": "sm_90", "cuda": ""}.get(kind(trial.backend), trial.backend.partition(":")[2])
    return Evaluation(arch, drop=trial.drop, **edits_of(trial.plant))


def _evaluated(trial: Trial) -> Result:
    """What the IR computes behind every pass."""
    evaluation = _evaluation(trial)
    evaluation.runner.source = trial.source
    values = evaluation.values(trial.case, trial.subject, seconds=0.6 * trial.seconds)
    return Result(values=values, library=evaluation.runner.library,
                  texts=evaluation.runner.texts() if trial.texts else {})


def _last_ir(trial: Trial) -> Result:
    """What the last TTGIR computes."""
    evaluation = _evaluation(trial)
    raised = _stack_of(evaluation)
    outcome = evaluation.outcome(trial.case, trial.subject)
    return Result(outcome=outcome, library=evaluation.runner.library, stack=tuple(raised),
                  steps=tuple(step for step in evaluation.runner.order() if step is not None))


def _interpreted(trial: Trial) -> Result:
    from tridiff.fuzz import interpreter
    from tridiff.fuzz.workers.execute import Executor

    executor = Executor(backend="interpreter")
    if trial.repairs != "usual":
        none = interpreter.Repairs.none()
        interpreter.install(none if trial.repairs == "none" else interpreter.Repairs())
        executor._repair = lambda subject: None  # type: ignore[method-assign]
    raised = _stack_of(executor)
    outcome, _ = executor.execute(trial.case, trial.subject, backend="interpreter")
    return Result(outcome=outcome, stack=tuple(raised))


def forked(folder: str) -> None:
    """As `serve`, in a fork of a process that has imported already (`workers.preload`)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    serve(Path(folder))


if __name__ == "__main__":
    die_with_parent(int(sys.argv[2]))
    serve(Path(sys.argv[1]))
