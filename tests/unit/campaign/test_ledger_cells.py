"""Ledger cells: counted once per judged case, kept over a restart of the store."""

import json
import sqlite3
from pathlib import Path

from msgspec.structs import replace

from tests.support.campaigns import campaign_options, shard_spec
from tridiff.fuzz.campaign.record import Plan
from tridiff.fuzz.campaign.run import Campaign
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.records import Case, Outcome, Verdict

CASE = Case(target="t", sizes={}, arrays=())


def _outcome(verdict: Verdict = Verdict.AGREE) -> Outcome:
    return Outcome(case_digest="0", target="t", subject="own", backend="interpreter", verdict=verdict)


def record(path: Path, *cases: list[str]) -> None:
    """A shard's store of one case after the other, of which each reached these cells."""
    store = ShardStore(path)
    for cells in cases:
        store.begin(CASE, round_number=0)
        store.end(_outcome(), CASE, phase="fuzz", round_number=0, cells=cells)
    store.close()


def test_cells_are_counted_per_case_and_survive_reopening(tmp_path: Path):
    record(tmp_path / "shard.sqlite", ["op=exp", "op=sin"], ["op=exp"])
    again = ShardStore(tmp_path / "shard.sqlite")
    assert again.cells() == {"op=exp": 2, "op=sin": 1}
    again.close()


def test_of_counted_cells_the_ledger_keeps_how_many_different_ones_all_shards_saw(tmp_path: Path):
    specs = tuple(shard_spec(index=index, target="t", backend="cuda") for index in range(2))
    campaign = Campaign.start(Plan(id="one", options=campaign_options(), shards=specs), root=tmp_path)
    seen = (["#view chain 0a", "#view chain 0b", "ir op"], ["#view chain 0b", "#pair 0b", "ir op"])
    for spec, cells in zip(specs, seen, strict=True):
        record(campaign.state / f"shard-{spec.index:05}.sqlite", cells)
    ledger = campaign.ledger("3.9.0")
    assert ledger.reached == {"cuda": {"t": {"ir op": 2}}}
    assert ledger.different == {"cuda": {"t": {"pair": 1, "view chain": 2}}}


def test_cases_on_which_the_oracles_contradict_each_other_are_kept_and_others_not_checked_are_not(
    tmp_path: Path
):
    store = ShardStore(tmp_path / "shard.sqlite")
    for number in range(30):
        for reason in ("the contract leaves every row open", "oracle_conflict: 2 rows of out0"):
            outcome = replace(_outcome(Verdict.NOT_CHECKED), reason=reason)
            store.end(outcome, CASE, phase="fuzz", round_number=number)
    store.close()
    with sqlite3.connect(tmp_path / "shard.sqlite") as database:
        kept = [json.loads(outcome)["reason"] for (outcome,) in database.execute("select outcome from failing")]
    assert kept == ["oracle_conflict: 2 rows of out0"] * 20
