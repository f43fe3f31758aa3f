"""How a long campaign is judged (the campaign itself: `python -m tests.quality.soak`)."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.quality.soak import Sample, Shard, Shards, like_for_like, sizes, verdict
from tests.support.campaigns import shard_spec
from tridiff.fuzz.campaign.record import Counts, ShardResult
from tridiff.fuzz.campaign.store import ShardStore, shard_path


def samples(rate: float, later: float, grown: float, *, idle: float = 0.0) -> list[Sample]:
    """An hour: 20 s without a case, `rate` cases a second in its first half and `later` in its second; memory grows
    evenly to `grown` times what it was. In its second half the machine gives the share `idle` of its time to others."""
    found, cases, work = [], 0.0, 0.0
    for number in range(0, 3600, 5):
        cases += 5 * (0 if number < 20 else rate if number < 1800 else later)
        work += 10 * (1 if number < 1800 else 1 - idle)
        found.append(Sample(seconds=number, work=work, cases=int(cases), processes=9, shared=0,
                            descriptors=20 + number // 1000, memory=int(1e9 * (1 + (grown - 1) * number / 3600))))
    return found


def test_rate_and_memory_of_the_last_sixth_are_held_against_the_first():
    steady = verdict(samples(20, 20, 1.0))
    assert steady["rate_ratio"] == pytest.approx(1.0, abs=0.01) and steady["memory_ratio"] == pytest.approx(1.0)
    assert verdict(samples(20, 16, 1.0))["rate_ratio"] == pytest.approx(0.8, abs=0.01)
    assert verdict(samples(20, 20, 1.5))["memory_ratio"] == pytest.approx(1.4, abs=0.02), "a sixth at either end"
    hump = [replace(one, memory=2 * one.memory if 1800 < one.seconds < 2400 else one.memory,
                    by_role={"workers": 7, "drivers": 3}) for one in samples(20, 20, 1.0)]
    assert verdict(hump)["memory_ratio"] == pytest.approx(2.0, abs=0.02), "any sixth after the first"
    assert verdict(hump)["memory_by_role"] == {"drivers": [3] * 6, "workers": [7] * 6}
    assert steady["most_descriptors"] == 23


def test_work_of_others_shows_in_the_rate_by_time_alone():
    crowded = verdict(samples(20, 10, 1.0, idle=0.5))
    assert crowded["rate_ratio"] == pytest.approx(0.5, abs=0.01)
    assert crowded["rate_of_work_ratio"] == pytest.approx(1.0, abs=0.01)
    assert verdict(samples(20, 10, 1.0))["rate_of_work_ratio"] == pytest.approx(0.5, abs=0.01)


def shards(slow: float = 1.0) -> list[Shard]:
    """An hour of shards of ten seconds, on two workers: cheap things first and dear ones last, something of both
    always. In the second half every case takes `slow` times as long."""
    found = []
    for number in range(360):
        at, late = 10.0 * number + 10, number >= 180
        cost = slow if late else 1.0
        found += [Shard(about=("dear" if late else "cheap", "own", "compile"), at=at, cases=2 if late else 900,
                        seconds=10.0),
                  Shard(about=(f"both {number % 3}", "own", "compile"), at=at,
                        cases=round(30 * (1 + number % 3) / cost), seconds=10.0)]
    return found


def test_the_rate_like_for_like_is_that_of_the_harness_and_not_of_what_is_drawn():
    steady = like_for_like(shards(), samples(20, 20, 1.0), 2)
    assert steady["ratio"] == pytest.approx(1.0) and steady["things"] == 3 and steady["seconds"] == pytest.approx(1800)
    assert like_for_like(shards(1.25), samples(20, 20, 1.0), 2)["ratio"] == pytest.approx(0.8, abs=0.01)
    crowded = like_for_like(shards(2.0), samples(20, 10, 1.0, idle=0.5), 2)
    assert crowded["ratio"] == pytest.approx(1.0, abs=0.02), "others had half of the processors"
    with pytest.raises(ValueError, match="both halves"):
        like_for_like([one for one in shards() if not one.about[0].startswith("both")], samples(20, 20, 1.0), 2)


def test_shards_on_disk_are_counted_once_they_have_ended_without_what_makes_findings_smaller(tmp_path: Path):
    spec, folder = shard_spec(target="helpers.any", backend="compile:sm_90", index=3), tmp_path / "night"
    folder.mkdir()
    store = ShardStore(shard_path(folder, 3))
    one = Shards(tmp_path)
    assert one.cases(5.0) == 0 and not one.ended
    store.finish(ShardResult(spec=spec, counts=Counts(executed=40, shrink_seconds=2.0), seconds=10.0))
    store.close()
    assert one.cases(10.0) == 40 == one.cases(15.0)
    assert list(one.ended.values()) == [Shard(about=("helpers.any", "own", "compile"), at=10.0, cases=40, seconds=8.0)]


def test_neither_the_start_nor_the_writing_of_the_record_counts():
    hour = samples(20, 20, 1.0)
    few = [replace(one, processes=2, memory=1 << 20) if one.seconds < 300 else one for one in hour]
    over = [replace(hour[-1], seconds=hour[-1].seconds + number, memory=1 << 20) for number in range(5, 900, 5)]
    assert verdict([*few, *over]) == verdict([one for one in hour if one.seconds >= 300])


def test_too_short_a_campaign_is_judged_by_nobody():
    with pytest.raises(ValueError, match="too few"):
        verdict(samples(20, 20, 1.0)[:12])


def test_folders_that_go_away_while_they_are_measured_are_passed_over(tmp_path: Path, monkeypatch: Any):
    kept, gone = tmp_path / "tridiff-1", tmp_path / "tridiff-2"
    for folder in (kept / "deep", gone / "deep"):
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"1234")
    scan = os.scandir

    def racing(path: Any) -> Any:
        if str(path).endswith("tridiff-2/deep"):
            raise FileNotFoundError(path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", racing)
    assert sizes([kept, gone, tmp_path / "tridiff-3"]) == 4
