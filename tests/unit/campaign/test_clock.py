"""A campaign keeps its time: what starting and shrinking cost is taken from the shards that follow."""

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options, shard_spec
from tridiff.fuzz.campaign import run

OPTIONS, SHARD = campaign_options(workers=2), shard_spec(seconds=10.0)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [1000.0]
    monkeypatch.setattr(run.time, "monotonic", lambda: moment[0])
    return moment


def test_a_campaign_on_time_gives_every_shard_what_was_planned(now: list[float]) -> None:
    clock = run._Clock([SHARD] * 12, OPTIONS)
    assert clock.allot(SHARD, 12) == replace(SHARD, overtime=66.0)
    now[0] += 50
    assert clock.allot(SHARD, 2) == replace(SHARD, shrink_seconds=10.0, overtime=16.0)


def test_time_lost_is_taken_evenly_from_the_shards_that_remain(now: list[float]) -> None:
    clock = run._Clock([SHARD] * 12, OPTIONS)
    now[0] += 40
    assert clock.allot(SHARD, 8).seconds == 5.0


def test_time_that_shards_did_not_use_falls_to_those_that_remain(now: list[float]) -> None:
    clock = run._Clock([SHARD] * 12, OPTIONS)
    now[0] += 20
    assert clock.allot(SHARD, 4).seconds == 20.0
    long = [replace(SHARD, seconds=100.0)] * 12
    assert run._Clock(long, OPTIONS).allot(SHARD, 4).seconds == run.LONGEST_SHARD


def test_every_shard_and_every_finding_gets_a_little_even_when_time_is_up(now: list[float]) -> None:
    clock = run._Clock([SHARD] * 12, OPTIONS)
    now[0] += 100
    late = clock.allot(SHARD, 3)
    assert (late.seconds, late.shrink_seconds) == (run.SHORTEST_SHARD, run.SHORTEST_SHRINK)
    assert late.overtime == run.GRACE * OPTIONS.seconds


def test_shards_with_a_number_of_cases_are_left_alone(now: list[float]) -> None:
    counted = replace(SHARD, max_cases=7)
    clock = run._Clock([counted] * 4, OPTIONS)
    now[0] += 1000
    assert clock.allot(counted, 1) == counted
