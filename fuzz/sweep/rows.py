"""Sweeps over the rows of the language: every call with every input, and what explains those that fail."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.language.every import calls, case_of
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.workers.pool import Pool


@dataclass(frozen=True, kw_only=True)
class Swept:
    """One call with all its inputs. inputs: how many; issues: known issues that explain a failure."""

    row: str
    types: tuple[str, ...]
    options: str
    inputs: int
    verdict: Verdict
    reason: str
    issues: tuple[str, ...]
    seconds: float

    @property
    def news(self) -> bool:
        """Whether it fails and nothing explains it."""
        return self.verdict.failed and not self.issues


def planned(patterns: tuple[str, ...], *, most: int = 4000) -> Iterator[Case]:
    """The cases of the rows whose names match a glob."""
    for row in rows().values():
        if any(fnmatchcase(row.name, pattern) for pattern in patterns):
            for call in calls(row, most=most):
                yield case_of(f"language.{row.topic}", call, row)


def run(pool: Pool, patterns: tuple[str, ...], *, subject: str = "own", most: int = 4000,
        watch: Callable[[Swept], None] = lambda one: None) -> list[Swept]:
    """Sweep the rows that match on the pool's backend."""
    def execute(case: Case) -> Outcome:
        return pool.execute(case, subject)

    attribution, found = Attribution(execute), []
    for case in planned(patterns, most=most):
        begun = time.monotonic()
        outcome = execute(case)
        call = case.program
        one = Swept(
            row=getattr(call, "row", ""), types=tuple(array.dtype for array in case.arrays),
            options=" ".join(f"{name}={value}" for name, value in getattr(call, "options", {}).items()),
            inputs=case.sizes["rows"] * (256 if "n0" in case.sizes and case.sizes["n0"] == 256 else 1),
            verdict=outcome.verdict, reason=outcome.reason,
            issues=attribution.issues(case, outcome) if outcome.verdict.failed else (),
            seconds=time.monotonic() - begun)
        found.append(one)
        watch(one)
    return found
