"""Every order in which small cases can run: a proof by enumeration instead of a sample.

Depth-first over all choices (which program goes next, which value a lagging load sees), replaying the
programs from the start for each branch. Branches that reach a state seen before are cut: the memory and
everything each program has been told determine the rest, because programs have no other input.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tridiff.kernels.simulator.memory import Memory
from tridiff.kernels.simulator.scheduling import Program, Run, simulate

T = TypeVar("T")


class _SeenBefore(Exception):
    """The current state has been explored already."""


class _Script:
    """Plays a list of choices, then the first option each time; remembers how many options there were."""

    def __init__(self, planned: Sequence[int]) -> None:
        self.taken = list(planned)
        self.options: list[int] = []

    def _next(self, count: int) -> int:
        position = len(self.options)
        self.options.append(count)
        if position == len(self.taken):
            self.taken.append(0)
        return self.taken[position]

    def program(self, runnable: Sequence[int]) -> int:
        return runnable[self._next(len(runnable))]

    def version(self, count: int) -> int:
        return self._next(count)

    def following(self) -> list[int] | None:
        """The next list of choices in order; None after the last."""
        taken = self.taken[: len(self.options)]
        while taken:
            if taken[-1] + 1 < self.options[len(taken) - 1]:
                taken[-1] += 1
                return taken
            taken.pop()
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration(Generic[T]):
    """runs: how many complete runs were seen. states: distinct states. wrong: the first runs that were not `right`."""

    runs: int
    states: int
    wrong: tuple[Run[T], ...]


def explore(
    programs: Sequence[Callable[[], Program[T]]], memory: Callable[[], Memory], *, right: Callable[[Run[T]], bool],
    state_limit: int = 1_000_000, keep: int = 1, stop_at_first: bool = False,
) -> Exploration[T]:
    """Runs the programs in every order on fresh memories and judges the end of each with `right`.

    All programs are resident. Raises ValueError beyond `state_limit` states: choose fewer programs.
    """
    seen: set[object] = set()
    wrong: list[Run[T]] = []
    runs = 0
    planned: list[int] | None = []
    while planned is not None:
        script = _Script(planned)
        fresh = memory()
        replayed = len(planned)

        def look(
            told: Sequence[tuple[int, ...]], script: _Script = script, fresh: Memory = fresh, replayed: int = replayed,
        ) -> None:
            # Up to the last planned choice the states are those of the branch before.
            if len(script.options) < replayed:
                return
            state = (fresh.state(), tuple(told))
            if state in seen:
                raise _SeenBefore
            seen.add(state)
            if len(seen) > state_limit:
                raise ValueError(f"more than {state_limit} states: explore fewer or shorter programs")

        try:
            run = simulate(programs, fresh, choices=script, before_choice=look)
        except _SeenBefore:
            pass
        else:
            runs += 1
            if not right(run):
                if len(wrong) < keep:
                    wrong.append(run)
                if stop_at_first:
                    break
        planned = script.following()
    return Exploration(runs=runs, states=len(seen), wrong=tuple(wrong))
