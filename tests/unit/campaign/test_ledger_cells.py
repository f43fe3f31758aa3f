"""Ledger cells: counted once per judged case, kept over a restart of the store."""

from pathlib import Path

from fuzz.campaign.store import ShardStore
from fuzz.records import Case, Outcome, Verdict


def _outcome(verdict: Verdict = Verdict.AGREE) -> Outcome:
    return Outcome(case_digest="0", target="t", subject="own", backend="interpreter", verdict=verdict)


def test_cells_are_counted_per_case_and_survive_reopening(tmp_path: Path) -> None:
    case = Case(target="t", sizes={}, arrays=())
    store = ShardStore(tmp_path / "shard.sqlite")
    store.begin(case, round_number=0)
    store.end(_outcome(), case, phase="fuzz", round_number=0, cells=["op=exp", "op=sin"])
    store.begin(case, round_number=0)
    store.end(_outcome(), case, phase="fuzz", round_number=0, cells=["op=exp"])
    store.close()
    again = ShardStore(tmp_path / "shard.sqlite")
    assert again.cells() == {"op=exp": 2, "op=sin": 1}
    again.close()
