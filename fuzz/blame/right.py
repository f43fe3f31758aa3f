"""What right cases run of Triton's Python layer: its lines, which an error is held against (`fuzz.blame.raised`), and
what its functions make (`fuzz.blame.calls`)."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.blame.calls import Calls, digest
from tridiff.fuzz.blame.trial import Call
from tridiff.fuzz.coverage.lines import Lines
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.records.observed import Observe
from tridiff.fuzz.records.outcome import SOURCE_READ
from tridiff.fuzz.registry import select
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.execute import Executor

TARGETS = ("language.*",)
"""Those whose cases are all over Triton's Python layer."""

REFUSED = "language.refusals"
"""Not those: what must be refused runs the lines that refuse it."""

EACH = 5
"""Cases of each."""

SECONDS = 4.0
"""So long they are run, once for all findings that a process is asked about: longer where fewer than `LEAST` were."""

LEAST = 24
"""Cases with fewer of which nothing is said: helpers that every kernel goes through would be lines of nobody."""

CALLS_SECONDS, CALLS_LEAST = 10.0, 8
"""The same where what functions make is told, which takes longer, and of which every case has most."""

Watch = TypeVar("Watch", bound=AbstractContextManager[Any])

_LIMITS = Limits(elements=1 << 6, rows=1 << 2, variants=False)


def right_lines(backend: str, package: Path, seconds: float = 2 * SECONDS) -> dict[str, tuple[int, ...]]:
    """Lines that right cases run, by file. A compiler's case is right as far as this goes where its source becomes IR,
    and an interpreter's where its values are. seconds: that there are for all of this.

    Raises TridiffError where they are too few."""
    found: dict[str, set[int]] = {}
    for _, lines in _watched(backend, (SECONDS, 0.7 * seconds), LEAST, lambda: Lines(package, visited=True)):
        for file, some in lines.found.items():
            found.setdefault(file, set()).update(some)
    return {file: tuple(sorted(some)) for file, some in found.items()}


def calls_of_right(backend: str, package: Path, seconds: float = 2 * CALLS_SECONDS) -> tuple[Call, ...]:
    """What functions make in right cases, each case's told apart. As `right_lines`."""
    return tuple(replace(one, given=digest(f"{case.digest} {one.given}"))
                 for case, calls in _watched(backend, (CALLS_SECONDS, 0.7 * seconds), CALLS_LEAST,
                                             lambda: Calls(package)) for one in calls.made)


def _watched(backend: str, seconds: tuple[float, float], least: int,
             watch: Callable[[], Watch]) -> Iterator[tuple[Case, Watch]]:
    """The right cases, with what watched each. seconds: for as many as these allow, and for the least. least: how many
    have to be run."""
    interpreted = kind(backend) == "interpreter"
    began = time.monotonic()
    executor, ran = Executor(backend=backend), 0
    for case in _in_turn(backend):
        if time.monotonic() - began > (min(seconds) if ran >= least else seconds[1]):
            break
        watching = watch()
        try:
            with watching:
                outcome, _ = executor.execute(case, "own", backend=backend,
                                              observe=None if interpreted else Observe(stop="source"))
        except TridiffError:
            continue
        ran += 1
        if outcome.verdict is Verdict.AGREE or outcome.reason == SOURCE_READ:
            yield case, watching
    if ran < least:
        raise TridiffError(f"{ran} right cases were run, which are too few", fix="give them more time")


def _in_turn(backend: str) -> Iterable[Case]:
    """A case of every target before the second of any."""
    names = [one.name for one in select(TARGETS)
             if kind(backend) in one.backends and "own" in one.subjects and one.name != REFUSED]
    drawn: dict[str, list[Case]] = {}
    for number in range(EACH):
        for name in names:
            if name not in drawn:
                drawn[name] = draw_cases(name, _LIMITS, EACH)
            yield from drawn[name][number:number + 1]
