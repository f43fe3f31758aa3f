"""Cases drawn from the targets of data movement, the same in every run."""

from __future__ import annotations

from functools import cache

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.records import Case
from fuzz.target import Limits
from fuzz.targets import all_targets, find
from kernels.gluon.chain import Chain

CHAIN_TARGETS = tuple(name for name in all_targets() if name.startswith("gluon.") and name != "gluon.global_scratch")


@cache
def cases(target: str, count: int, start: int = 1) -> tuple[Case, ...]:
    """The first `count` distinct cases that the target draws from the seed `start`."""
    found: dict[str, Case] = {}

    @seed(start)
    @settings(max_examples=2 * count, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])
    @given(find(target).cases(Limits(elements=1 << 12, rows=64)))
    def collect(case: Case) -> None:
        found.setdefault(case.digest, case)

    collect()
    return tuple(found.values())[:count]


def chain_of(case: Case) -> Chain:
    assert isinstance(case.program, Chain)
    return case.program
