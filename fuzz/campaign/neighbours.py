"""Cases beside a case: one step of the shrinker, another number of warps, another choice of what its target may say."""

import collections
import itertools
from collections.abc import Iterator

from msgspec.structs import replace

from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find

BESIDE = 4
"""Cases that are run beside each that is followed."""

MOST_VALUES = 1 << 12
"""Values that a choice may have for each of them to be chosen; of a longer range its ends and its middle may."""


class Beside:
    """Cases to judge next: beside those that reached a changed function, each of them once, and chosen ones."""

    def __init__(self) -> None:
        self._waiting: collections.deque[Case] = collections.deque()
        self._met: set[str] = set()
        """Digests of cases that wait or have waited."""

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take(self) -> Case:
        """The next case. Raises IndexError where none waits."""
        return self._waiting.popleft()

    def add(self, case: Case) -> None:
        """Have a case wait."""
        self._waiting.append(case)

    def follow(self, case: Case) -> None:
        """Have a few cases beside this one wait that have not before."""
        beside = (one for one in itertools.chain.from_iterable(itertools.zip_longest(
            other_choices(case), neighbours(case))) if one is not None and one.digest not in self._met)
        for one in itertools.islice(beside, BESIDE):
            self._met.add(one.digest)
            self._waiting.append(one)


def neighbours(case: Case) -> Iterator[Case]:
    """Cases one step of the shrinker beside a case, or compiled for other numbers of warps, as far as the target could
    have drawn them."""
    target = find(case.target)
    for one in itertools.chain(target.shrink.steps(case), other_warps(case)):
        if target.draw.valid(one):
            yield one


def other_warps(case: Case) -> Iterator[Case]:
    for warps in (8, 1, 2):
        if warps != case.options.num_warps:
            yield replace(case, options=replace(case.options, num_warps=warps))


def other_choices(case: Case, turn: int = 0) -> Iterator[Case]:
    """The case with one of its choices made otherwise, each choice in turn; which way, its digest and the turn decide.
    Types and options are choices where a target has them so."""
    target = find(case.target)
    luck = int(case.digest[:12], 16)
    for number, (name, values) in enumerate(sorted(target.draw.params(case).items())):
        if isinstance(values, range) and len(values) > MOST_VALUES:
            values = values[0], values[len(values) // 2], values[-1]
        others = [value for value in tuple(values) if value != case.params.get(name)] if name in case.params else []
        if others:
            chosen = others[finalise(luck + number + (turn << 8)) % len(others)]
            one = replace(case, params=dict(case.params) | {name: chosen})
            if target.draw.valid(one):
                yield one
