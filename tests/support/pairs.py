"""Outcomes and observations of one case on two builds, made by hand."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

from tests.support.cases import addition
from tridiff.fuzz.pair.log import PairLog
from tridiff.fuzz.pair.relate import Fetch
from tridiff.fuzz.records import Case, Environment, Outcome, Signature, Verdict
from tridiff.fuzz.records.observed import Chunk, Observe, Observed, ObservedOutput
from tridiff.fuzz.records.pair import PairOutcome
from tridiff.fuzz.workers.pool import PoolOptions

CASE = addition(rows=4)


def outcome(verdict: Verdict, *, kind: str = "value", reason: str = "", case: Case = CASE,
            **changes: object) -> Outcome:
    """What one build said. kind: of the failure, if it is one."""
    signature = Signature(target=case.target, subject="own", verdict=verdict, kind=kind, where="out") if (
        verdict.failed) else None
    return Outcome(**{"case_digest": case.digest, "target": case.target, "subject": "own", "backend": "interpreter",
                      "verdict": verdict, "signature": signature,
                      "reason": reason or ("" if verdict is Verdict.AGREE else "as it was made"), **changes})


def output(values: bytes, *, dtype: str = "i32", rule: str = "BIT", judged: bytes = b"", unordered: bool = False,
           parts: bool = False) -> ObservedOutput:
    """One output of one part. values: as they lie in memory. parts: with its values."""
    width = {"i32": 4, "fp32": 4, "fp16": 2, "fp8e5": 1}[dtype]
    return ObservedOutput(dtype=dtype, rule=rule, elements=len(values) // width, unordered=unordered,
                          chunks=(hashlib.blake2b(values, digest_size=8).hexdigest(),),
                          parts=(Chunk(number=0, values=values, judged=judged),) if parts else ())


def observed(values: bytes | None = None, *, code: Mapping[str, str] | None = None,
             resources: Mapping[str, int] | None = None, answers: Mapping[str, str] | None = None,
             **changes: object) -> Observed:
    """One output `out`, or none."""
    outputs = {} if values is None else {"out": output(values, **changes)}
    return Observed(outputs=outputs, code=dict(code or {}), resources=dict(resources or {}),
                    answers=dict(answers or {}))


def fetching(before: bytes, after: bytes, **changes: object) -> Fetch:
    """What is fetched when the outputs differ."""
    return lambda chunks: (observed(before, parts=True, **changes), observed(after, parts=True, **changes))


def keep(state: Path, *pairs: PairOutcome) -> None:
    """Write pairs as a shard does."""
    for pair in pairs:
        log = PairLog(state, 0, SimpleNamespace(last=pair))
        log.note(pair.case, "shrink", pair.candidate, 0)


class Side:
    """Stands in for the `Pool` of one build: `answers` says what every run gives, by its number from 0."""

    def __init__(self, answers: Callable[[int], tuple[Outcome, Observed | None]]) -> None:
        self.options = PoolOptions(backend="interpreter")
        self.observed: Observed | None = None
        self.reached: tuple[int, ...] = ()
        self.imported: tuple[int, ...] = ()
        self.compile_seconds = 0.0
        self.runs = self.anew = 0
        self._answers = answers

    @property
    def environment(self) -> Environment:
        return Environment(triton="3.9.0", backend="interpreter")

    def execute(self, case: Case, subject: str, *, observe: Observe | None = None, **given: object) -> Outcome:
        found, self.observed = self._answers(self.runs)
        self.anew += observe is not None and observe.anew
        self.runs += 1
        return found
