"""Check: one question that is asked of every launch, a file each.

A check is a function of a `Trial` that yields what speaks against the case, the worst first, and nothing if all is
well. It may launch the case again. What it yields ends the case, unless known issues explain it (`Found.explained_by`):
that is set aside, and the check goes on behind it.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import torch

from tridiff.fuzz.backends.launch import LaunchReport
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.judge.outputs import Expectations, Judged
from tridiff.fuzz.records import Case, Evidence, LaunchOptions, RowCounts, Verdict
from tridiff.fuzz.target import Target


@dataclass(frozen=True, kw_only=True)
class Found:
    """What speaks against a case.

    kind, where: of the signature; both are empty where the verdict is NOT_CHECKED. explained_by: names of the known
    issues that predict every wrong element of the launch as it is. explained_too: others, each of which does so alone.
    """

    reason: str
    verdict: Verdict = Verdict.DISAGREE
    kind: str = ""
    where: str = ""
    rows: RowCounts = field(default_factory=RowCounts)
    failing_rows: tuple[int, ...] = ()
    evidence: Evidence | None = None
    explained_by: tuple[str, ...] = ()
    explained_too: tuple[str, ...] = ()


class Trial(Protocol):
    """A case that has been launched, as checks see it."""

    case: Case
    target: Target
    backend: str
    buffers: dict[str, Buffer]
    """The arrays of the first launch; empty where the backend only compiles."""
    reports: list[LaunchReport]
    """Of all launches so far."""
    planted: str
    """The name of the subject's planted fault, "" if it has none."""
    ttgir: str
    """The compiler's IR of the last kernel of the first launch; "" in the interpreter, and where the kernel had been
    compiled before."""
    expected: Expectations
    judged: Judged | None
    """What the outputs of the first launch were found to be, once that has been asked."""
    explained: Found | None
    """What was set aside, because known issues explain it."""
    explained_elements: dict[str, torch.Tensor]
    """Per output, a bool tensor of its shape: the elements in which some launch was wrong as known issues predict."""

    def launch_again(self, *, options: LaunchOptions | None = None, schedule: int = 0,
                     second: bool = True) -> tuple[dict[str, Buffer], str]:
        """Launch over fresh poison (second: of the other pattern), under other options or in another schedule: the
        arrays behind the launch, and a line if the compiler did not use the options that were asked for."""
        ...

    def explanation(self, judged: Judged, buffers: dict[str, Buffer]) -> tuple[tuple[str, ...], ...]:
        """Names of the known issues that predict every wrong element of a launch, as `explained_launch` gives them."""
        ...

    def judging_done(self) -> None:
        """Seconds since the last launch were spent on judging."""
        ...


Check = Callable[[Trial], Iterator[Found]]


def found_in(trial: Trial, judged: Judged, buffers: dict[str, Buffer]) -> Found:
    """The wrong outputs of a launch, with the known issues that explain them."""
    names, *others = (trial.explanation(judged, buffers) if judged.verdict.failed else ()) or ((),)
    return Found(verdict=judged.verdict, kind=judged.kind, where=judged.where, reason=judged.reason, rows=judged.rows,
                 failing_rows=judged.failing_rows, evidence=judged.evidence, explained_by=names,
                 explained_too=tuple(itertools.chain.from_iterable(others)))
