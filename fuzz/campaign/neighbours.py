"""Cases beside a case: one step of the shrinker, another number of warps, another choice of what its target may say."""

import itertools
from collections.abc import Iterator

from msgspec.structs import replace

from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find


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
        others = [value for value in tuple(values) if value != case.params.get(name)] if name in case.params else []
        if others:
            chosen = others[finalise(luck + number + (turn << 8)) % len(others)]
            one = replace(case, params=dict(case.params) | {name: chosen})
            if target.draw.valid(one):
                yield one
