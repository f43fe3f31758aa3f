"""Failures of edits of the IR behind a pass (`fuzz.bench.stage_faults`), one cause in all kernels that have a place for
it, evaluated, made small and blamed as a campaign's findings are. Those of edits of Triton's Python layer:
`fuzz.planted.failures`.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from tridiff.fuzz.bench.failures import LIMITS, Failure, Laboratory
from tridiff.fuzz.bench.stage_faults import ARCH, faults
from tridiff.fuzz.blame import laboratory as blaming
from tridiff.fuzz.blame.localise import blame
from tridiff.fuzz.blame.planted import edits_of
from tridiff.fuzz.blame.points import Evaluation
from tridiff.fuzz.blame.record import shortened
from tridiff.fuzz.builds import Build
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, Evidence
from tridiff.fuzz.registry import select

EACH_TARGET = 2
"""Failures of one cause and one target at the most, on one backend."""

BLAME_SECONDS = 45.0

EVALUATED = f"evaluated:{ARCH}"

Cases = Mapping[str, Sequence[Case]]


def of_passes(laboratory: Laboratory, *, targets: Sequence[str], each: int, draws: int, seed: int,
              baseline: Build | None = None) -> Iterator[Failure]:
    """Failures of edits behind the front end and behind passes, in random order, `each` of one at the most. baseline: a
    build without them, to hold the front end's IR against."""
    right, places = Evaluation(ARCH), dict[str, None]()
    cases = drawn(targets, draws, seed, backend="evaluated")
    for some in cases.values():
        control = Evaluation(ARCH)
        control.outcome(some[0], "own")
        places |= {one.written: None for one in faults(control.runner.texts(), device=False) if not one.number}

    def inputs(case: Case, backend: str) -> Evidence:
        return right.execute(case, "own", backend=backend, inputs_only=True)[0].evidence or Evidence()

    original = laboratory.instead(lambda case, subject, backend: right.outcome(case, subject), inputs)
    with blaming.Laboratory(seconds=BLAME_SECONDS, baseline=baseline) as trials:
        for written in random.Random(seed).sample(list(places), len(places)):
            wrong = Evaluation(ARCH, **edits_of(written))
            planted = laboratory.instead(
                lambda case, subject, backend, wrong=wrong: wrong.outcome(case, subject), inputs)  # type: ignore[misc]
            for one in in_turn(planted, cases, EVALUATED, original, f"triton {written}", each):
                yield blamed(one, trials, written)


def drawn(targets: Sequence[str], draws: int, seed: int, *, backend: str) -> Cases:
    """Cases by target, of those that have the backend."""
    found = {one.name: draw_cases(one.name, LIMITS, draws, seed=seed) for one in select(tuple(targets))
             if backend in one.backends and "own" in one.subjects}
    return {name: some for name, some in found.items() if some}


def in_turn(laboratory: Laboratory, cases: Cases, backend: str, original: Laboratory, cause: str,
            each: int) -> Iterator[Failure]:
    """Targets in turn; what fails without the fault as well is left out."""
    had: Counter[str] = Counter()
    for number in range(max(map(len, cases.values()), default=0)):
        for target, some in cases.items():
            if number >= len(some) or had[target] == EACH_TARGET or had.total() == each:
                continue
            outcome = laboratory.failing(some[number], "own", backend)
            if outcome is None:
                continue
            found = laboratory.small(some[number], outcome, cause=cause)
            if original.agrees(found.case, "own", backend):
                had[target] += 1
                yield found


def blamed(failure: Failure, trials: blaming.Laboratory, planted: str = "") -> Failure:
    """The failure with its blame, if it has one. planted: the edit of the IR."""
    trials.renew(BLAME_SECONDS)
    try:
        found = blame(failure.case, failure.subject, failure.outcome.backend, signature=failure.outcome.signature,
                      plant=planted, laboratory=trials)
    except TridiffError:
        return failure
    return replace(failure, blame=shortened(found))
