"""A pool without processes: every case gets the outcome that a function of the case decides."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.outcomes import outcome_of
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import (
    Case,
    Environment,
    Evidence,
    Explicit,
    JointOutcome,
    Outcome,
    RowCounts,
    Signature,
    Verdict,
)
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.registry import find
from tridiff.fuzz.workers.pool import PoolOptions

Failing = Callable[[Case], str]
"""The kind of failure of a case; empty for agreement. May raise TridiffError to refuse it."""


def in_place_of_workers(monkeypatch: pytest.MonkeyPatch) -> "type[FakePool]":
    """Have the shards of this process run on a pool of a class of its own, which a test may change."""
    class Pool(FakePool):
        pass

    stand_in(monkeypatch, Pool)
    return Pool


def stand_in(monkeypatch: pytest.MonkeyPatch, pool: "type[FakePool]") -> None:
    """Have the shards of this process run on pools of a class."""
    monkeypatch.setattr(shard, "Pool", pool)
    monkeypatch.setattr(shard, "_pools", {})


class FakePool:
    """Stands in for `tridiff.fuzz.workers.pool.Pool`. log: a file that gets the digest of every case before it runs."""

    failing: Failing = staticmethod(lambda case: "")
    log: Path | None = None
    together: Callable[[tuple[Case, ...]], str] = staticmethod(lambda cases: "")
    """The reason why a joint launch crashes; "" for none."""
    joined: list[int]
    """Numbers of cases of joint launches."""
    pause = 0.0
    """Seconds that every case takes."""

    def __init__(self, options: PoolOptions) -> None:
        self.options = options
        self.replacement_seconds: list[float] = []
        self.deaths = 0
        self.executed, self.joined = 0, []
        self.compile_seconds = 0.0
        self.observed: Observed | None = None
        self.reached: tuple[int, ...] = ()
        self.imported: tuple[int, ...] = ()

    def environments(self) -> tuple[Environment, ...]:
        return (self.environment,)

    @property
    def environment(self) -> Environment:
        return Environment(tridiff="0", triton="3.9.0", torch="2.13.0", backend=self.options.backend)

    def execute(self, case: Case, subject: str, *, backend: str | None = None, want_inputs: bool = False,
                inputs_only: bool = False, compile_limit: float | None = None, until: float | None = None,
                observe: Observe | None = None) -> Outcome:
        if self.log is not None:
            descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, f"{case.digest}\n".encode())
            os.close(descriptor)
        self.executed += 1
        self.observed = None if observe is None else Observed()
        time.sleep(self.pause)
        kind = type(self).failing(case)
        rows = case.sizes.get("rows", 1)
        signature = Signature(target=case.target, subject=subject, verdict=Verdict.DISAGREE, kind=kind, where="out",
                              about=find(case.target).judge.label(case)) if kind else None
        return outcome_of(case, Verdict.DISAGREE if kind else Verdict.AGREE, signature, subject=subject,
                          backend=backend or self.options.backend, reason=kind,
                          rows=RowCounts(agree=0 if kind else rows, disagree=rows if kind else 0), launches=1,
                          failing_rows=tuple(range(min(rows, 3))) if kind else ())

    def execute_joined(self, cases: tuple[Case, ...], subject: str, *, backend: str | None = None,
                       until: float | None = None) -> JointOutcome:
        self.joined.append(len(cases))
        if crash := type(self).together(cases):
            return JointOutcome(verdict=Verdict.CRASH, reason=crash, source="def kernel")
        return JointOutcome(outcomes=tuple(self.execute(one, subject, backend=backend) for one in cases))

    def inputs(self, case: Case, subject: str = "own") -> Evidence:
        """The listed values, or zeros."""
        found: dict[str, tuple[str, ...]] = {}
        for spec in case.arrays:
            if spec.content is None:
                continue
            base = spec.content.base
            n = 1
            for length in spec.shape(case.sizes):
                n *= length
            found[spec.name] = base.values if isinstance(base, Explicit) else ("0",) * n
        return Evidence(whole=True, inputs=found)

    def close(self) -> None:
        pass


def refuse(case: Case) -> str:
    """A `Failing` that refuses every case."""
    raise TridiffError("refused on purpose", fix="draw another")
