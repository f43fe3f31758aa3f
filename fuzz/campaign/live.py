"""A running campaign as it is at this moment, from its state folder, which is only read."""

import contextlib
import sqlite3
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
from tridiff.fuzz.campaign.record import Counts, Plan, ShardResult, ShardSpec, Summary
from tridiff.fuzz.campaign.state import MOST_BYTES
from tridiff.fuzz.campaign.store import ShardStore, shard_path
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


def moment(state: Path) -> Moment:
    """Totals, findings and coverage of the campaign in a state folder. TridiffError where there is none."""
    plan = decode(read_bytes(state / "plan.json", most=MOST_BYTES), Plan, source=str(state / "plan.json"))
    plan = replace(plan, shards=plan.shards + dealt(state))
    results = {}
    for spec in plan.shards:
        with contextlib.suppress(sqlite3.Error, msgspec.MsgspecError):
            result = _so_far(spec, state)
            if result is not None:
                results[spec.index] = result
    findings: list[CorpusEntry] = []
    doubtful: dict[str, tuple[str, ...]] = {}
    for path in sorted((state / "findings").glob("*.json")):
        with contextlib.suppress(TridiffError):  # It is being written.
            entry = decode(read_bytes(path, most=MOST_BYTES), CorpusEntry, source=str(path))
            why = doubt(entry)
            if why:
                doubtful[why] = (*doubtful.get(why, ()), entry.id)
            else:
                findings.append(entry)
    counts = Counts()
    for result in results.values():
        counts = counts.plus(result.counts)
    there = replace(plan, shards=tuple(spec for spec in plan.shards if spec.index in results))
    summary = Gathered(
        plan=there, state=state, specs={spec.index: spec for spec in there.shards}, results=results, failures={},
        lost=(), left_out=(), running=True).summary(
        counts=counts, findings=findings, unconfirmed=doubtful,
        seconds=max(time.time() - (state / "plan.json").stat().st_mtime, 0.0), interrupted=False)
    if not summary.environments:  # No shard has come to its end.
        installed = Environment(triton=plan.installed.get("triton", ""), torch=plan.installed.get("torch", ""),
                                device=plan.installed.get("gpus", ""), backend=" ".join(plan.options.backends))
        summary = replace(summary, environments=(installed,))
    triton = summary.environments[0].triton
    return Moment(summary=summary, ledger=outcomes.ledger(there, state, triton, running=True), findings=tuple(findings))


def _so_far(spec: ShardSpec, state: Path) -> ShardResult | None:
    """What a shard recorded so far; None for one that has not begun. Raises sqlite3.Error while its file is made."""
    path = shard_path(state, spec.index)
    if not path.exists():
        return None
    store = ShardStore(path, write=False)
    try:
        result = store.result()
        if result is not None or not store.counts().executed:
            return result
        return ShardResult(spec=spec, counts=store.counts(), issues=store.issues(), reasons=store.reasons(),
                           known_seen=store.known_seen(known_findings(spec, state)), cells=store.cells(), stopped=True)
    finally:
        store.close()
