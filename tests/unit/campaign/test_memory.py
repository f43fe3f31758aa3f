"""What a campaign keeps in memory grows with the different things that it meets, not with its shards and cases."""

import functools
import gc
import pathlib
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options, drivers_here, shard_spec
from tests.support.fake_pool import FakePool, stand_in
from tridiff.fuzz.campaign import run, shard
from tridiff.fuzz.campaign.deal import Deal
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import Counts, Plan, ShardResult, ShardSpec
from tridiff.fuzz.campaign.seen import Seen
from tridiff.fuzz.records import Environment
from tridiff.fuzz.registry import all_targets

CELLS = 200
"""Of each shard, out of twice as many: a third of what a shard of an hour's campaign on two cores reaches."""

KEPT = 200
"""Bytes that one shard may leave behind. With its cells it would leave over 20,000."""


def ended(spec: ShardSpec) -> ShardResult:
    """What comes from a driver process: no text is shared with that of another shard."""
    cells = {f"an operation with a long name and a layout {(spec.index + k) % (2 * CELLS)}": 3 for k in range(CELLS)}
    done = ShardResult(spec=spec, counts=Counts(executed=9, agree=9), cells=cells, seconds=1.0, reasons={"late": 1},
                       environment=Environment(triton="3.9.0", backend=spec.backend))
    return pickle.loads(pickle.dumps(done))


@pytest.fixture
def traced() -> Iterator[Callable[[], int]]:
    """Bytes that Python's objects have, without the interpreter's table of names, which doubles now and then: pathlib
    enters every part of a path there for as long as it is used."""
    def held() -> int:
        gc.collect()
        without = (tracemalloc.Filter(False, pathlib.__file__), tracemalloc.Filter(False, tracemalloc.__file__))
        return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(without).traces)

    all_targets()
    tracemalloc.start()
    try:
        yield held
    finally:
        tracemalloc.stop()


def test_a_campaign_keeps_what_its_shards_amount_to_and_not_the_shards(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traced: Callable[[], int]):
    held: dict[int, int] = {}

    def ran(spec: ShardSpec, directory: str) -> ShardResult:
        if spec.index in (40, 400):
            held[spec.index] = traced()
        return ended(spec)

    monkeypatch.setattr(run, "drivers", drivers_here)
    monkeypatch.setattr(run, "run_shard", ran)
    shards = tuple(shard_spec(index=index, max_cases=9) for index in range(401))
    plan = Plan(id="one", options=campaign_options(targets=("triton.vector_add",)), shards=shards)
    summary = run.Campaign.start(plan, root=tmp_path).run(lambda progress: None)
    assert summary.by_target[0].counts.executed == 9 * 401 and summary.not_checked_reasons == {"late": 401}
    assert len(summary.environments) == 1
    # Over so many that a table of Python's own that doubles once does not count.
    assert held[400] - held[40] < 360 * KEPT


def test_what_is_dealt_next_follows_from_cells_that_are_not_kept_by_shard(
        tmp_path: Path, traced: Callable[[], int]):
    options = campaign_options(targets=("triton.*",), subjects=("own",), backends=("interpreter",), by_yield=True,
                               seconds=600.0)
    plan = Plan(id="one", options=options, shards=plan_shards(options))
    deal = Deal(plan, tmp_path, plan.shards)

    def turn(number: int) -> None:
        for _ in range(number):
            spec = deal.popleft()
            deal.ended(replace(ended(spec), spec=spec))

    turn(80)
    before = traced()
    turn(80)
    assert traced() - before < 80 * KEPT


def test_of_texts_only_the_new_ones_come_back_and_eight_bytes_of_each_are_kept(traced: Callable[[], int]):
    seen = Seen()
    assert seen.fresh(["b", "a", "b"]) == ["b", "a"] and seen.fresh([]) == []
    assert seen.fresh(["a", "c"]) == ["c"] and len(seen) == 3
    before = traced()
    for part in range(20):
        assert len(seen.fresh(f"{part} {number}" for number in range(1000))) == 1000
    assert traced() - before < 20_000 * 9
    assert seen.fresh(f"{part} 7" for part in range(20)) == [] and len(seen) == 20_003


def kept_for_ever() -> int:
    """Entries of all caches of ours that have no bound."""
    gc.unfreeze()  # objects from before the tests
    wrapped = [one for one in gc.get_objects() if type(one) is functools._lru_cache_wrapper]
    gc.freeze()
    return sum(one.cache_info().currsize for one in wrapped
               if one.cache_info().maxsize is None and str(one.__module__).startswith("tridiff."))


def test_what_a_driver_keeps_for_ever_does_not_grow_with_its_cases(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stand_in(monkeypatch, FakePool)

    def draw(first: int) -> None:
        for number, target in enumerate(("codegen.mixed", "inductor.bucketize", "helpers.frexp")):
            spec = shard_spec(index=first + number, seed=first, target=target, max_cases=30, elements=1 << 14,
                              rows=1 << 10)
            assert shard.run_shard(spec, str(tmp_path)).counts.agree == 30

    for first in (0, 10, 20, 30):  # tables of operations fill up: there are so many operations, and no more
        draw(first)
    before = kept_for_ever()
    draw(40)
    assert before > 50 and kept_for_ever() - before < 30, "programs have other types, but not other tables"
