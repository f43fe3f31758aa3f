"""A running campaign as it is at this moment, from its state folder, which is only read."""

import contextlib
import sqlite3
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.campaign import outcomes
from tridiff.fuzz.campaign.deal import dealt
from tridiff.fuzz.campaign.findings import doubt
from tridiff.fuzz.campaign.gathered import Gathered
from tridiff.fuzz.campaign.known import known_findings
from tridiff.fuzz.campaign.record import Plan, ShardResult, ShardSpec, Summary
from tridiff.fuzz.campaign.state import MOST_BYTES
from tridiff.fuzz.campaign.store import ShardStore, shard_path
from tridiff.fuzz.campaign.totals import Totals
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Environment, decode
from tridiff.fuzz.records.reading import read_bytes


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What a campaign has come to so far. Its findings are new to it: the corpus is asked in the end."""

    summary: Summary
    ledger: Ledger
    findings: tuple[CorpusEntry, ...]


class Live:
    """A campaign to look at again and again: shards that came to their end are read once."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._ended: dict[int, ShardResult] = {}

    def moment(self) -> Moment:
        """Totals, findings and coverage so far. TridiffError where the folder holds no campaign."""
        state, path = self._state, self._state / "plan.json"
        plan = decode(read_bytes(path, most=MOST_BYTES), Plan, source=str(path))
        shards = plan.shards + dealt(state)
        results = self._results(shards)
        findings, doubtful = _findings(state)
        totals = Totals()
        for result in results.values():
            totals.add(result)
        seconds = max(time.time() - path.stat().st_mtime, 0.0)
        summary = Gathered(plan=plan, state=state, totals=totals, open_={}, failures={}, lost=(), left_out=(),
                           running=True).summary(
            counts=totals.counts, findings=findings, unconfirmed=doubtful, seconds=seconds, interrupted=False)
        if not summary.environments:  # No shard has come to its end.
            installed = Environment(triton=plan.installed.get("triton", ""), torch=plan.installed.get("torch", ""),
                                    device=plan.installed.get("gpus", ""), backend=" ".join(plan.options.backends))
            summary = replace(summary, environments=(installed,))
        ledger = outcomes.united(((result.spec, result.cells) for result in results.values()),
                                 summary.environments[0].triton)
        return Moment(summary=summary, ledger=ledger, findings=tuple(findings))

    def _results(self, shards: tuple[ShardSpec, ...]) -> dict[int, ShardResult]:
        found = dict(self._ended)
        for spec in shards:
            if spec.index not in found:
                with contextlib.suppress(sqlite3.Error, msgspec.MsgspecError):
                    result, ended = _so_far(spec, self._state)
                    if result is not None:
                        found[spec.index] = result
                        if ended:
                            # Shards of a target have most of their cells in common.
                            cells = {sys.intern(cell): cases for cell, cases in result.cells.items()}
                            self._ended[spec.index] = found[spec.index] = replace(result, cells=cells)
        return found


def _findings(state: Path) -> tuple[list[CorpusEntry], dict[str, tuple[str, ...]]]:
    """Those that count, and ids of the others by why they do not."""
    findings: list[CorpusEntry] = []
    doubtful: dict[str, tuple[str, ...]] = {}
    for path in sorted((state / "findings").glob("*.json")):
        with contextlib.suppress(TridiffError):  # It is being replaced by a smaller one.
            entry = decode(read_bytes(path, most=MOST_BYTES), CorpusEntry, source=str(path))
            why = doubt(entry)
            if why:
                doubtful[why] = (*doubtful.get(why, ()), entry.id)
            else:
                findings.append(entry)
    return findings, doubtful


def _so_far(spec: ShardSpec, state: Path) -> tuple[ShardResult | None, bool]:
    """What a shard recorded so far, None for one that has not begun, and whether it has come to its end. Raises
    sqlite3.Error while its file is made."""
    path = shard_path(state, spec.index)
    if not path.exists():
        return None, False
    store = ShardStore(path, write=False)
    try:
        result = store.result()
        if result is not None:
            return result, True
        if not store.counts().executed:
            return None, False
        return ShardResult(spec=spec, counts=store.counts(), issues=store.issues(), reasons=store.reasons(),
                           known_seen=store.known_seen(known_findings(spec, state)), cells=store.cells(),
                           stopped=True), False
    finally:
        store.close()
