"""What became of every pair of a shard, one line each, on disk before the next case is drawn."""

import contextlib
import re
from collections.abc import Container, Iterator
from pathlib import Path

import msgspec

from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records import Case, CorpusEntry, Outcome
from tridiff.fuzz.records.pair import Numeric, PairOutcome, Relation, RunTime

CODE_KEPT = 3
"""Pairs of a shard that are kept in full because of their code alone."""

_REASONS = 120
"""Characters of a reason in the log."""


class PairLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One drawn case on both builds. number: from 0, within its shard. digest: of the case.
    seconds: compiling and launching, compiling: of these, the compiler's, both of the baseline and of the candidate.
    resources: by name, of both, where they differ. launched, control: as in `PairOutcome`. cells: of IR operations that
    the shard had not reached before, on each build, of cases that both compiled."""

    number: int
    target: str
    backend: str
    relation: Relation
    reason: str = ""
    kind: str = ""
    where: str = ""
    """Of a failure of both."""
    code_changed: tuple[str, ...] = ()
    digest: str = ""
    launched: bool = True
    control: bool = False
    compiling: tuple[float, float] = (0.0, 0.0)
    cells: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    compiled: bool = False
    flaky: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)
    resources: dict[str, tuple[int, int]] = {}
    numeric: dict[str, Numeric] = {}
    run_time: RunTime | None = None
    reached: tuple[int, ...] = ()
    imported: tuple[int, ...] = ()
    issue: str = ""
    """The known issue for whose pattern it was drawn (`ShardSpec.issue`)."""


_LINE = msgspec.json.Decoder(PairLine)


class PairLog:
    """Keeps the pairs of a shard (`fuzz.campaign.recorder`)."""

    def __init__(self, state: Path, shard: int, pool: PairPool, *, issue: str = "") -> None:
        self._state, self._shard = state, shard
        self._findings = state / "pairs"
        self._pool, self._issue = pool, issue
        self._cells: tuple[set[str], set[str]] = (set(), set())
        """What was reached on each build."""
        self._code = 0
        """Drawn cases of other code so far."""

    def note(self, case: Case, phase: str, outcome: Outcome, number: int) -> None:
        """Write what the pool found last; of cases run to shrink or confirm only those that differ. In full those that
        differ, and the first ones of other code. number: of drawn cases before this one."""
        pair = self._pool.last
        if pair is None or pair.case != case:
            return
        code = bool(pair.code_changed) and phase == "fuzz"
        self._code += code
        if pair.relation.different or (code and self._code <= CODE_KEPT):
            self._findings.mkdir(exist_ok=True)
            path = _file(self._findings, case, pair.candidate.subject, pair.candidate.backend)
            path.write_bytes(msgspec.json.encode(pair))
        if phase == "fuzz":
            write(self._state, self._shard, _line(pair, number, self._fresh(pair), self._issue))

    def _fresh(self, pair: PairOutcome) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Cells reached for the first time, where both builds made a kernel of the case."""
        if not (pair.baseline.cells and pair.candidate.cells) or pair.baseline.verdict.failed or (
                pair.candidate.verdict.failed):
            return (), ()
        fresh = [sorted(set(outcome.cells) - seen) for outcome, seen in
                 zip((pair.baseline, pair.candidate), self._cells, strict=True)]
        for seen, found in zip(self._cells, fresh, strict=True):
            seen.update(found)
        return tuple(fresh[0]), tuple(fresh[1])


def _line(pair: PairOutcome, number: int, cells: tuple[tuple[str, ...], tuple[str, ...]], issue: str) -> PairLine:
    resources: dict[str, tuple[int, int]] = {}
    code = False
    if pair.observed is not None:
        before, after = pair.observed
        code = bool(before.code or before.answers)
        resources = {name: (needed, after.resources[name]) for name, needed in before.resources.items()
                     if name in after.resources and after.resources[name] != needed}
    told = pair.relation in (Relation.NOT_CHECKED, Relation.FLAKY, Relation.BOTH)
    return PairLine(
        number=number, digest=pair.case.digest, launched=pair.launched, control=pair.control, compiling=pair.compiling,
        cells=cells, target=pair.candidate.target, backend=pair.candidate.backend, relation=pair.relation,
        reason=pair.reason[:_REASONS] if told else "", kind=pair.kind if pair.relation is Relation.BOTH else "",
        where=pair.where if pair.relation is Relation.BOTH else "", code_changed=pair.code_changed, compiled=code,
        flaky=pair.flaky,
        seconds=(round(pair.baseline.seconds.launch, 4), round(pair.candidate.seconds.launch, 4)), resources=resources,
        numeric=pair.numeric, run_time=pair.run_time, reached=pair.reached, imported=pair.imported, issue=issue)


def lines(state: Path, *, without: Container[int] = ()) -> Iterator[PairLine]:
    """All lines of a campaign's pairs, each case once: of one that was written again (a kill came) the last, and a line
    that was cut off is none. without: numbers of shards that are left out."""
    return (line for _, line in of_shards(state, without=without))


def of_shards(state: Path, *, without: Container[int] = ()) -> Iterator[tuple[int, PairLine]]:
    """The same lines, each with the number of its shard."""
    for path in sorted(state.glob("pairs-*.jsonl")):
        shard = int(path.stem.removeprefix("pairs-"))
        if shard in without:
            continue
        found: dict[int, PairLine] = {}
        for line in path.read_bytes().splitlines():
            with contextlib.suppress(msgspec.MsgspecError):
                one = _LINE.decode(line)
                found[one.number] = one
        for one in found.values():
            yield shard, one


def write(state: Path, shard: int, line: PairLine) -> None:
    """Add a line; an earlier one of its case no longer counts."""
    with open(state / f"pairs-{shard:05}.jsonl", "ab") as file:
        # The end of a line that was cut off is no beginning of this one.
        file.write(b"\n" + msgspec.json.encode(line))


def in_full(state: Path, line: PairLine) -> PairOutcome | None:
    """The pair of a line, if it was kept. One case may have run on several subjects."""
    for path in (state / "pairs").glob(f"{line.digest}-*-{_safe(line.backend)}.json"):
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            found = msgspec.json.decode(path.read_bytes(), type=PairOutcome)
            if set(line.code_changed) <= set(found.code_changed):
                return found
    return None


def shown(state: Path, entry: CorpusEntry) -> PairOutcome | None:
    """The pair of a case that differed, of the entry's subject on the backend where it was found."""
    path = _file(state / "pairs", entry.case, entry.signature.subject, entry.found_in.backend)
    try:
        return msgspec.json.decode(path.read_bytes(), type=PairOutcome)
    except FileNotFoundError:
        return None


def _file(folder: Path, case: Case, subject: str, backend: str) -> Path:
    """One case may differ on several backends, and in other ways."""
    return folder / f"{_safe(f'{case.digest}-{subject}-{backend}')}.json"


def _safe(name: str) -> str:
    return re.sub(r"[^a-z0-9_.+-]", "_", name)
