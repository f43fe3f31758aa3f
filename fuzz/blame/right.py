"""Lines of Triton's Python layer that right cases run: what an error is held against (`fuzz.blame.raised`)."""

import time
from collections.abc import Iterable
from pathlib import Path

from tridiff.fuzz.backends import kind
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
"""The longest that they are run: once for all findings that a process is asked about."""

LEAST = 24
"""Cases with fewer of which nothing is said: helpers that every kernel goes through would be lines of nobody."""

_LIMITS = Limits(elements=1 << 6, rows=1 << 2, variants=False)


def right_lines(backend: str, package: Path, seconds: float = 2 * SECONDS) -> dict[str, tuple[int, ...]]:
    """Lines that right cases run, by file. A compiler's case is right as far as this goes where its source becomes IR,
    and an interpreter's where its values are. seconds: that there are for all of this.

    Raises TridiffError where they are too few."""
    interpreted = kind(backend) == "interpreter"
    end = time.monotonic() + min(SECONDS, 0.7 * seconds)
    executor, ran = Executor(backend=backend), 0
    found: dict[str, set[int]] = {}
    for case in _in_turn(backend):
        if time.monotonic() > end:
            break
        lines = Lines(package, visited=True)
        try:
            with lines:
                outcome, _ = executor.execute(case, "own", backend=backend,
                                              observe=None if interpreted else Observe(stop="source"))
        except TridiffError:
            continue
        ran += 1
        if outcome.verdict is Verdict.AGREE or outcome.reason == SOURCE_READ:
            for file, some in lines.found.items():
                found.setdefault(file, set()).update(some)
    if ran < LEAST:
        raise TridiffError(f"{ran} right cases were run, which are too few", fix="give them more time")
    return {file: tuple(sorted(some)) for file, some in found.items()}


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
