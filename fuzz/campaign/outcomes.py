"""What all shards of a campaign recorded, gathered from their files."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tridiff.fuzz.campaign.record import Plan, ShardSpec
from tridiff.fuzz.campaign.store import ShardStore, shard_path
from tridiff.fuzz.campaign.yields import COUNTED
from tridiff.fuzz.coverage.record import DIGEST_CHARACTERS, MISSED, WANTED_CASES, Ledger
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import encode


def ledger(plan: Plan, state: Path, triton: str) -> Ledger:
    """The cells that all shards reached."""
    def recorded() -> Iterator[tuple[ShardSpec, dict[str, int]]]:
        for spec in plan.shards:
            path = shard_path(state, spec.index)
            if path.exists():
                store = ShardStore(path)
                result = store.result()
                cells = store.cells() or (result.cells if result else {})
                store.close()
                yield spec, cells

    return united(recorded(), triton)


def united(found: Iterable[tuple[ShardSpec, dict[str, int]]], triton: str) -> Ledger:
    """The cells of shards, each with the number of cases that reached it, as one ledger."""
    reached: dict[str, dict[str, dict[str, int]]] = {}
    digests: dict[tuple[str, str, str], set[str]] = {}
    in_vain: dict[tuple[str, str, str], Counter[str]] = {}
    for spec, cells in found:
        total = reached.setdefault(spec.backend, {}).setdefault(spec.target, {}) if cells else {}
        for cell, cases in cells.items():
            if cell.startswith(COUNTED):
                what, _, digest = cell.removeprefix(COUNTED).rpartition(" ")
                digests.setdefault((spec.backend, spec.target, what), set()).add(digest)
            elif cell.startswith(MISSED):
                what, _, reason = cell.removeprefix(MISSED).partition(": ")
                in_vain.setdefault((spec.backend, spec.target, what), Counter())[reason] += cases
            else:
                total[cell] = total.get(cell, 0) + cases
    different: dict[str, dict[str, dict[str, int]]] = {}
    listing: dict[str, dict[str, dict[str, str]]] = {}
    for (backend, target, what), members in sorted(digests.items()):
        different.setdefault(backend, {}).setdefault(target, {})[what] = len(members)
        listed = "".join(sorted(digest[:DIGEST_CHARACTERS] for digest in members))
        listing.setdefault(backend, {}).setdefault(target, {})[what] = listed
    missed: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
    for (backend, target, cell), reasons in sorted(in_vain.items()):
        if reached[backend][target].get(cell, 0) < WANTED_CASES:
            missed.setdefault(backend, {}).setdefault(target, {})[cell] = dict(sorted(reasons.items()))
    return Ledger(triton=triton, reached=reached, different=different, digests=listing, missed=missed)


def merge(plan: Plan, state: Path, path: Path) -> None:
    """All outcomes of all shards in one SQLite file, with the plan. Raises TridiffError when it cannot be written."""
    try:
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        try:
            _merge(plan, state, database)
        finally:
            database.close()
    except (sqlite3.Error, OSError) as error:
        raise TridiffError(f"{path} cannot be written ({error})", fix=(
            f"free disk space, then run `tridiff fuzz --resume --id {plan.id}`")) from None


def _merge(plan: Plan, state: Path, database: sqlite3.Connection) -> None:
    database.execute("create table campaign (id text, plan text)")
    database.execute("insert into campaign values (?, ?)", (plan.id, encode(plan).decode()))
    database.execute("create table outcomes (shard integer, number integer, target text, subject text, "
                     "backend text, round integer, phase text, verdict text, signature text, reason text, "
                     "digest text, rows integer, launches integer, compiled integer, seconds real, compiling real, "
                     "judging real)")
    database.commit()
    for spec in plan.shards:
        shard = shard_path(state, spec.index)
        if not shard.exists():
            continue
        database.execute("attach ? as shard", (str(shard),))
        database.execute(
            "insert into outcomes select ?, number, ?, ?, ?, round, phase, verdict, signature, reason, digest, "
            "rows, launches, compiled, seconds, compiling, judging from shard.outcomes",
            (spec.index, spec.target, spec.subject, spec.backend))
        database.commit()
        database.execute("detach shard")
