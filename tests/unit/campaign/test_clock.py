"""A campaign keeps its time: what starting and shrinking cost is taken from the shards that follow."""

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options, shard_spec
from tridiff.fuzz.campaign import clock as clocks

OPTIONS, SHARD = campaign_options(workers=2), shard_spec(seconds=10.0)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [1000.0]
    monkeypatch.setattr(clocks.time, "monotonic", lambda: moment[0])
    return moment


def left(clock: clocks.Clock) -> float:
    """The time that the last shard of a campaign by yield may have."""
    return clock.allot(replace(SHARD, seconds=1e6), 1).left


def test_a_campaign_on_time_gives_every_shard_what_was_planned(now: list[float]):
    clock = clocks.Clock([SHARD] * 12, OPTIONS)
    assert clock.allot(SHARD, 12) == replace(SHARD, left=60.0, overtime=65.0)
    now[0] += 50
    assert clock.allot(SHARD, 2) == replace(SHARD, shrink_seconds=10.0, left=10.0, overtime=15.0)


def test_time_lost_is_taken_evenly_from_the_shards_that_remain(now: list[float]):
    clock = clocks.Clock([SHARD] * 12, OPTIONS)
    now[0] += 40
    assert clock.allot(SHARD, 8).seconds == 5.0


def test_time_that_shards_did_not_use_falls_to_those_that_remain(now: list[float]):
    clock = clocks.Clock([SHARD] * 12, OPTIONS)
    now[0] += 20
    assert clock.allot(SHARD, 4).seconds == 20.0
    long = [replace(SHARD, seconds=100.0)] * 12
    assert clocks.Clock(long, OPTIONS).allot(SHARD, 4).seconds == clocks.LONGEST_SHARD


def test_a_shard_that_starts_late_has_a_little_and_what_it_runs_is_given_up(now: list[float]):
    clock = clocks.Clock([SHARD] * 12, OPTIONS)
    assert not clock.over()
    now[0] += 62
    late = clock.allot(SHARD, 3)
    assert (late.seconds, late.shrink_seconds, late.left) == (clocks.SHORTEST_SHARD, clocks.SHORTEST_SHRINK, 0.0)
    assert late.overtime == clocks.GRACE - 2 and clock.over()


def test_a_short_campaign_has_the_time_that_its_first_worker_takes_to_start(now: list[float]):
    clock = clocks.Clock([replace(SHARD, seconds=1.0)] * 2, OPTIONS)
    assert clock.allot(SHARD, 2).overtime == clocks.FIRST


def test_time_is_left_for_findings_that_may_become_smaller(now: list[float]):
    clock = clocks.Clock([SHARD] * 12, OPTIONS)
    assert clock.allot(SHARD, 12, unfinished=9).left == 54.0
    now[0] += 54
    assert clock.spare(2) == 11.0


def test_shards_with_a_number_of_cases_are_left_alone(now: list[float]):
    counted = replace(SHARD, max_cases=7)
    clock = clocks.Clock([counted] * 4, OPTIONS)
    now[0] += 1000
    assert clock.allot(counted, 1) == counted and not clock.over()


def test_time_counts_from_when_the_command_began(now: list[float]):
    clock = clocks.Clock([SHARD] * 12, OPTIONS, since=now[0] - 7)
    assert clock.allot(SHARD, 12).left == 53.0


def test_what_the_record_takes_is_kept_back(now: list[float]):
    clock = clocks.Clock([replace(SHARD, seconds=1000.0)] * 2, OPTIONS)
    clock.reserve(1000)
    assert clock.allot(SHARD, 2).left == 1000.0, "it fits into the seconds after the campaign's time"
    clock.reserve(2_000_000)
    assert clock.allot(SHARD, 2).left == 1000.0 - (clocks.ENDING + 20 - clocks.GRACE)
    clock.reserve(10**9)
    assert clock.allot(SHARD, 2).left == 950.0


def test_what_people_read_of_findings_is_kept_back_from_the_time_and_not_added_to_it(
        now: list[float], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(clocks, "told_at_once", lambda: 2)

    def kept(seconds: float, findings: int, **changes: object) -> float:
        options = replace(OPTIONS, **{"by_yield": True, "seconds": seconds, **changes})
        clock = clocks.Clock([], options)
        clock.reserve(0, findings=findings)
        assert clock.until == 1000.0 + seconds
        return seconds - left(clock)

    assert (kept(1440.0, 0), kept(1440.0, 4), kept(1440.0, 55)) == (0.0, 30.0, pytest.approx(115.2))
    assert (kept(60.0, 9), kept(30.0, 9), kept(28800.0, 900)) == (10.0, 5.0, 300.0)
    assert kept(1440.0, 9, shrink=False) == 0.0 == kept(1440.0, 9, subjects=("own+fault:tail_dropped",))
    assert kept(1440.0, 9, builds=("", "/other")) == 0.0, "a gate tells of its findings later"


def test_what_was_told_while_the_campaign_ran_is_not_kept_back_again(
        now: list[float], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(clocks, "told_at_once", lambda: 2)
    clock = clocks.Clock([], replace(OPTIONS, by_yield=True, seconds=1000.0))

    def kept(findings: float, telling: float) -> float:
        clock.reserve(0, findings=findings, telling=telling)
        return 1000.0 - left(clock)

    assert [kept(40, 0.0), kept(40, 120.0), kept(0.5, 120.0), kept(1, 0.0), kept(40, 300.0)] == [
        80.0, 20.0, 10.0, 20.0, 0.0]
    clock.reserve(0, findings=4, told=9, telling=45.0)
    assert 1000.0 - left(clock) == 20.0, "those that were told took 5 s each"
    clock.reserve(0, findings=10, told=9, telling=45.0)
    assert 1000.0 - left(clock) == 10 * 6.0 / 2
    clock.reserve(0, findings=4, told=1, telling=60.0)
    assert 1000.0 - left(clock) == 30.0, "no more is kept than for the first"
    assert clocks.longest_telling(30.0) == 5.0 and clocks.longest_telling(1000.0) == 80.0


def test_what_is_kept_for_findings_that_may_become_smaller_is_not_drawn_away(now: list[float]):
    clock = clocks.Clock([SHARD] * 12, OPTIONS)
    now[0] += 55
    assert clock.over(unfinished=9) and not clock.over()
    assert clock.allot(SHARD, 12, unfinished=9).left == 0.0 < clock.spare(9)


def test_many_shards_take_longer_to_be_put_together(now: list[float]):
    clock = clocks.Clock([], replace(OPTIONS, by_yield=True, seconds=28800.0))
    clock.reserve(0, shards=8000)
    assert left(clock) == 28800 - (
        clocks.ENDING + 8000 * clocks.PER_SHARD - clocks.GRACE)


def test_a_campaign_whose_workers_never_start_is_given_up(now: list[float]):
    clock = clocks.Clock([SHARD] * 12, OPTIONS)
    now[0] += 62
    assert clock.over() and not clock.given_up()
    now[0] += 4
    assert clock.given_up()
    short = clocks.Clock([replace(SHARD, seconds=1.0)] * 2, OPTIONS)
    now[0] += 20
    assert short.over() and not short.given_up(), "its workers may start for half a minute"


def test_a_campaign_by_yield_has_what_it_has_not_spent(now: list[float]):
    options = replace(OPTIONS, by_yield=True, seconds=60.0)
    assert clocks.Clock([SHARD] * 3, options).allot(SHARD, 3).left == 60.0
    clock = clocks.Clock([SHARD] * 3, options, spent=100.0)
    assert clock.allot(SHARD, 1).left == 10.0
    assert clock.allot(replace(SHARD, seconds=3.0), 1).seconds == 3.0, "what it leaves is dealt"
