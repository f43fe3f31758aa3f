"""Questions answered in a copy of this process, which an answer may end: Triton's C++ layer aborts on some texts."""

import json
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tridiff.fuzz.backends import watched
from tridiff.fuzz.backends.device_errors import refusal

ENDED = "ends the process"
"""The answer of a question whose copy died, or was ended because of what it took."""
SECONDS, BYTES = 4.0, 4 << 30
"""Time of a core for one question, and memory beyond that of this process, after which the copy is ended: a text may
ask for more than there is."""
_Lines = dict[str, dict[str, set[Any]]]
"""Lines and steps between lines, by kind and by file."""
WAITING = 60.0
"""Seconds by the clock after which a copy that waits for something is ended."""


def answered(questions: Sequence[Callable[[], str]], *, seconds: float = 0) -> list[str]:
    """What each gives, asked one after the other in one copy as long as that lives; nothing is printed. seconds: in
    place of SECONDS.

    Lines that a tracer of this process notes in the copy (`fuzz.coverage.lines`) are noted here as well, and watched
    functions that run there."""
    found: list[str] = []
    while len(found) < len(questions):
        got = _copy(questions[len(found):], seconds or SECONDS)
        found += got
        if len(found) < len(questions):
            found.append(ENDED)
    return found


def tried(call: Any, *given: object, **named: object) -> object:
    """What a call gives, or its refusal; of what a version does not have, that it cannot be called."""
    try:
        return call(*given, **named)
    except Exception as error:
        return refusal(error)


def _copy(questions: Sequence[Callable[[], str]], seconds: float) -> list[str]:
    """The answers of a copy, in order, up to its end."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Other threads of this process hold no lock that an answer needs.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, taken + BYTES))
            if "torch" in sys.modules:
                sys.modules["torch"].set_num_threads(1)  # its other threads were not copied, and would be waited for
            with os.fdopen(writer, "w", buffering=1) as told:
                told_before = _noted({})
                for ask in questions:
                    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
                    signal.setitimer(signal.ITIMER_REAL, WAITING)
                    answer = ask()
                    noted = _noted(told_before)
                    told.write(json.dumps({"answer": answer, "reached": watched.reached(), "lines": {
                        kind: {file: list(some) for file, some in files.items()} for kind, files in noted.items()}})
                        + "\n")
                    for kind, files in noted.items():
                        for file, some in files.items():
                            told_before[kind].setdefault(file, set()).update(some)
        finally:
            os._exit(0)
    os.close(writer)
    answers = []
    with os.fdopen(reader) as told:
        for line in told:
            answer = json.loads(line)
            answers.append(answer["answer"])
            watched.note(answer["reached"])
            _note(answer["lines"])
    os.waitpid(pid, 0)
    return answers


def _noted(before: _Lines) -> _Lines:
    """What a tracer of this process has, beyond what was noted before."""
    tracer = getattr(sys.gettrace(), "__self__", None)
    if tracer is None:
        return {}
    return {kind: {file: lines - before.get(kind, {}).get(file, set()) for file, lines in getattr(tracer, kind).items()}
            for kind in ("found", "steps")}


def _note(lines: dict[str, dict[str, list[Any]]]) -> None:
    tracer = getattr(sys.gettrace(), "__self__", None)
    for kind, files in lines.items():
        for file, several in files.items():
            getattr(tracer, kind).setdefault(file, set()).update(
                tuple(one) if isinstance(one, list) else one for one in several)
