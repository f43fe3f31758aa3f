"""What became of every pair of a shard, one line each, on disk before the next case is drawn."""

import collections
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records import Case, Outcome
from tridiff.fuzz.records.pair import Numeric, PairOutcome, Relation

_REASONS = 120
"""Characters of a reason in the log."""


class PairLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One drawn case on both builds. seconds: compiling and launching, of the baseline and of the candidate.
    resources: by name, of both, where they differ."""

    target: str
    backend: str
    relation: Relation
    reason: str = ""
    kind: str = ""
    where: str = ""
    """Of a failure of both."""
    code_changed: tuple[str, ...] = ()
    compiled: bool = False
    flaky: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)
    resources: dict[str, tuple[int, int]] = {}
    numeric: dict[str, Numeric] = {}


_LINE = msgspec.json.Decoder(PairLine)


class PairLog:
    """Observer of a shard's runs (`fuzz.campaign.recorder`)."""

    def __init__(self, state: Path, shard: int, pool: PairPool) -> None:
        self._path = state / f"pairs-{shard:05}.jsonl"
        self._findings = state / "pairs"
        self._pool = pool

    def note(self, case: Case, phase: str, outcome: Outcome | None) -> None:
        """Write what the pool found last; of cases run to shrink or confirm only those that differ."""
        pair = self._pool.last
        if outcome is None or pair is None or pair.case != case:
            return
        if pair.relation.different:
            self._findings.mkdir(exist_ok=True)
            (self._findings / f"{case.digest}.json").write_bytes(msgspec.json.encode(pair))
        if phase == "fuzz":
            with open(self._path, "ab") as file:
                file.write(msgspec.json.encode(_line(pair)) + b"\n")


def _line(pair: PairOutcome) -> PairLine:
    resources: dict[str, tuple[int, int]] = {}
    code = False
    if pair.observed is not None:
        before, after = pair.observed
        code = bool(before.code)
        resources = {name: (number, after.resources[name]) for name, number in before.resources.items()
                     if name in after.resources and after.resources[name] != number}
    told = pair.relation in (Relation.NOT_CHECKED, Relation.FLAKY)
    return PairLine(
        target=pair.candidate.target, backend=pair.candidate.backend, relation=pair.relation,
        reason=pair.reason[:_REASONS] if told else "", kind=pair.kind if pair.relation is Relation.BOTH else "",
        where=pair.where if pair.relation is Relation.BOTH else "", code_changed=pair.code_changed, compiled=code,
        flaky=pair.flaky,
        seconds=(round(pair.baseline.seconds.launch, 4), round(pair.candidate.seconds.launch, 4)), resources=resources,
        numeric=pair.numeric)


def lines(state: Path) -> Iterator[PairLine]:
    """All lines of a campaign's pairs; one that was cut off by a kill is left out."""
    for path in sorted(state.glob("pairs-*.jsonl")):
        with open(path, "rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield _LINE.decode(line)


def shown(state: Path, digest: str) -> PairOutcome | None:
    """The pair of a case that differed, by the case's digest."""
    try:
        return msgspec.json.decode((state / "pairs" / f"{digest}.json").read_bytes(), type=PairOutcome)
    except FileNotFoundError:
        return None


def totals(found: Iterator[PairLine]) -> collections.Counter[Relation]:
    """Number of pairs by relation."""
    return collections.Counter(line.relation for line in found)
