"""Runs programs against a memory, one access at a time, in an order that is chosen from outside.

A program is a generator that yields `Access`es, is sent their results, and returns its own. A program that
repeats the read it has just made is taken to poll: from the same answer it learns nothing. If that answer was
the newest value, the program waits until the word is written. So a deadlock is seen at once: programs are
left, and all of them wait. (A program that reads a word twice in a row for another reason would be misjudged;
the protocols here do not.)
"""

import bisect
import random
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from tridiff.kernels.simulator.memory import Access, Address, Memory

T = TypeVar("T")
Program = Generator[Access, int, T]


class Choices(Protocol):
    """Decides what a GPU leaves open."""

    def program(self, runnable: Sequence[int]) -> int:
        """One of `runnable`: positions in the start order, ascending."""
        ...

    def version(self, count: int) -> int:
        """How many writes a load lags behind, in 0..count-1."""
        ...


class Oldest:
    """The program that started first, until it waits or ends; nothing lags. The order of the interpreter."""

    def program(self, runnable: Sequence[int]) -> int:
        return runnable[0]

    def version(self, count: int) -> int:
        return 0


class Newest:
    """The program that started last, until it waits or ends; nothing lags."""

    def program(self, runnable: Sequence[int]) -> int:
        return runnable[-1]

    def version(self, count: int) -> int:
        return 0


class RoundRobin:
    """All in turn, one access each; nothing lags."""

    def __init__(self) -> None:
        self._last = -1

    def program(self, runnable: Sequence[int]) -> int:
        position = bisect.bisect_right(runnable, self._last)
        self._last = runnable[position % len(runnable)]
        return self._last

    def version(self, count: int) -> int:
        return 0


class Random:
    """Any program with equal probability. A load that may lag does so with probability `staleness`."""

    def __init__(self, seed: int, *, staleness: float = 0.0) -> None:
        self._random = random.Random(seed)
        self._staleness = staleness

    def program(self, runnable: Sequence[int]) -> int:
        return runnable[self._random.randrange(len(runnable))]

    def version(self, count: int) -> int:
        if self._random.random() < self._staleness:
            return self._random.randrange(count)
        return 0


@dataclass(frozen=True, slots=True)
class Step:
    """One access and what it returned (0 for a store). program: its index, not its place in the start order."""

    program: int
    access: Access
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Generic[T]):
    """What a simulation left.

    outcome: "finished"; "deadlock" (every program left waits for a word that nobody will write);
    "step_limit". results: by program; None for one that did not finish. words: the newest value of every
    word, by buffer.
    """

    outcome: Literal["finished", "deadlock", "step_limit"]
    results: tuple[T | None, ...]
    steps: tuple[Step, ...]
    words: Mapping[str, tuple[int, ...]]


@dataclass(slots=True)
class _Running(Generic[T]):
    """A program that has started: its generator and the access it wants to make next."""

    generator: Program[T]
    wanted: Access
    last_read: tuple[Access, int] | None = None


def simulate(
    programs: Sequence[Callable[[], Program[T]]], memory: Memory, *, choices: Choices,
    start_order: Sequence[int] | None = None, resident: int | None = None, step_limit: int = 10_000_000,
    before_choice: Callable[[Sequence[tuple[int, ...]]], None] | None = None,
) -> Run[T]:
    """Runs all programs to their end, to a deadlock or to `step_limit` accesses.

    programs: one function per program that makes its generator. start_order: a permutation of the program
    indices (default: ascending). resident: how many may have started and not ended at once (default: all);
    the next one starts when one ends. before_choice: called before every choice of a program with what each
    program has been told so far, by index, repeated polls left out (for `exhaustive.py`).

    Raises ValueError for a start order that is no permutation or a `resident` below 1.
    """
    count = len(programs)
    order = list(range(count)) if start_order is None else list(start_order)
    if sorted(order) != list(range(count)):
        raise ValueError(f"start_order must name each of the {count} programs once")
    if resident is not None and resident < 1:
        raise ValueError(f"resident is {resident}: at least one program must fit")
    results: list[T | None] = [None] * count
    told: list[tuple[int, ...]] = [()] * count
    steps: list[Step] = []
    running: dict[int, _Running[T]] = {}
    waiting: dict[Address, list[int]] = {}
    runnable: list[int] = []
    next_start = 0

    def start_what_fits() -> None:
        nonlocal next_start
        while next_start < count and (resident is None or len(running) < resident):
            place = next_start
            next_start += 1
            generator = programs[order[place]]()
            try:
                running[place] = _Running(generator, next(generator))
            except StopIteration as end:
                results[order[place]] = end.value
            else:
                bisect.insort(runnable, place)

    try:
        start_what_fits()
        while runnable and len(steps) < step_limit:
            if before_choice is not None:
                before_choice(told)
            place = choices.program(runnable)
            one = running[place]
            access, program = one.wanted, order[place]
            outcome = memory.perform(program, access, choices.version)
            steps.append(Step(program, access, outcome.value))
            read = None if access.writes else (access, outcome.value)
            if before_choice is not None and (read is None or read != one.last_read):
                told[program] = (*told[program], outcome.value)
            one.last_read = read
            if access.writes:
                for waiter in waiting.pop(access.address, ()):
                    bisect.insort(runnable, waiter)
            try:
                one.wanted = one.generator.send(outcome.value)
            except StopIteration as end:
                results[program] = end.value
                del running[place]
                del runnable[bisect.bisect_left(runnable, place)]
                start_what_fits()
            else:
                if read is not None and outcome.newest and one.wanted == access:
                    del runnable[bisect.bisect_left(runnable, place)]
                    waiting.setdefault(access.address, []).append(place)
    finally:
        for one in running.values():
            one.generator.close()
    unfinished = bool(running) or next_start < count
    return Run(
        outcome="finished" if not unfinished else "step_limit" if runnable else "deadlock", results=tuple(results),
        steps=tuple(steps), words=memory.words(),
    )
