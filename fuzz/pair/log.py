"""What became of every pair of a shard, one line each, on disk before the next case is drawn."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records import Case, Outcome
from tridiff.fuzz.records.pair import Numeric, PairOutcome, Relation

_REASONS = 120
"""Characters of a reason in the log."""


class PairLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One drawn case on both builds. number: from 0, within its shard. seconds: compiling and
    launching, of the baseline and of the candidate. resources: by name, of both, where they differ."""

    number: int
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
    """Keeps the pairs of a shard (`fuzz.campaign.recorder`)."""

    def __init__(self, state: Path, shard: int, pool: PairPool) -> None:
        self._path = state / f"pairs-{shard:05}.jsonl"
        self._findings = state / "pairs"
        self._pool = pool

    def note(self, case: Case, phase: str, outcome: Outcome, number: int) -> None:
        """Write what the pool found last; of cases run to shrink or confirm only those that differ. number: of drawn
        cases before this one."""
        pair = self._pool.last
        if pair is None or pair.case != case:
            return
        if pair.relation.different:
            self._findings.mkdir(exist_ok=True)
            (self._findings / f"{case.digest}.json").write_bytes(msgspec.json.encode(pair))
        if phase == "fuzz":
            with open(self._path, "ab") as file:
                # The end of a line that was cut off is no beginning of this one.
                file.write(b"\n" + msgspec.json.encode(_line(pair, number)))


def _line(pair: PairOutcome, number: int) -> PairLine:
    resources: dict[str, tuple[int, int]] = {}
    code = False
    if pair.observed is not None:
        before, after = pair.observed
        code = bool(before.code)
        resources = {name: (number, after.resources[name]) for name, number in before.resources.items()
                     if name in after.resources and after.resources[name] != number}
    told = pair.relation in (Relation.NOT_CHECKED, Relation.FLAKY)
    return PairLine(
        number=number, target=pair.candidate.target, backend=pair.candidate.backend, relation=pair.relation,
        reason=pair.reason[:_REASONS] if told else "", kind=pair.kind if pair.relation is Relation.BOTH else "",
        where=pair.where if pair.relation is Relation.BOTH else "", code_changed=pair.code_changed, compiled=code,
        flaky=pair.flaky,
        seconds=(round(pair.baseline.seconds.launch, 4), round(pair.candidate.seconds.launch, 4)), resources=resources,
        numeric=pair.numeric)


def lines(state: Path) -> Iterator[PairLine]:
    """All lines of a campaign's pairs, each case once: one that was written when a kill came is run and written again,
    and a line that was cut off is none."""
    for path in sorted(state.glob("pairs-*.jsonl")):
        found: dict[int, PairLine] = {}
        for line in path.read_bytes().splitlines():
            with contextlib.suppress(msgspec.MsgspecError):
                one = _LINE.decode(line)
                found[one.number] = one
        yield from found.values()


def shown(state: Path, digest: str) -> PairOutcome | None:
    """The pair of a case that differed, by the case's digest."""
    try:
        return msgspec.json.decode((state / "pairs" / f"{digest}.json").read_bytes(), type=PairOutcome)
    except FileNotFoundError:
        return None
