"""Cases of the pipeline targets, drawn without shrinking or a database."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.records import Case
from fuzz.target import Limits, Target
from fuzz.targets.pipelines_async import TARGETS as PLANS
from fuzz.targets.pipelines_loops import TARGETS as LOOPS
from fuzz.targets.pipelines_text import TARGETS as TEXTS

ALL: tuple[Target, ...] = (*PLANS, *LOOPS, *TEXTS)


def drawn(target: Target, count: int, *, number: int = 1, elements: int = 1 << 10, rows: int = 8) -> list[Case]:
    """`count` cases of a target; the same ones for the same number."""
    found: list[Case] = []

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])
    @given(target.cases(Limits(elements=elements, rows=rows)))
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found
