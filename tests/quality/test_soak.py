"""How a long campaign is judged (the campaign itself: `python -m tests.quality.soak`)."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.quality.soak import Sample, sizes, verdict


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


def test_rate_and_memory_of_the_last_sixth_are_held_against_the_first() -> None:
    steady = verdict(samples(20, 20, 1.0))
    assert steady["rate_ratio"] == pytest.approx(1.0, abs=0.01) and steady["memory_ratio"] == pytest.approx(1.0)
    assert verdict(samples(20, 16, 1.0))["rate_ratio"] == pytest.approx(0.8, abs=0.01)
    assert verdict(samples(20, 20, 1.5))["memory_ratio"] == pytest.approx(1.4, abs=0.02), "a sixth at either end"
    assert steady["most_descriptors"] == 23


def test_work_of_others_shows_in_the_rate_by_time_alone() -> None:
    crowded = verdict(samples(20, 10, 1.0, idle=0.5))
    assert crowded["rate_ratio"] == pytest.approx(0.5, abs=0.01)
    assert crowded["rate_of_work_ratio"] == pytest.approx(1.0, abs=0.01)
    assert verdict(samples(20, 10, 1.0))["rate_of_work_ratio"] == pytest.approx(0.5, abs=0.01)


def test_neither_the_start_nor_the_writing_of_the_record_counts() -> None:
    hour = samples(20, 20, 1.0)
    few = [replace(one, processes=2, memory=1 << 20) if one.seconds < 300 else one for one in hour]
    over = [replace(hour[-1], seconds=hour[-1].seconds + number, memory=1 << 20) for number in range(5, 900, 5)]
    assert verdict([*few, *over]) == verdict([one for one in hour if one.seconds >= 300])


def test_too_short_a_campaign_is_judged_by_nobody() -> None:
    with pytest.raises(ValueError, match="too few"):
        verdict(samples(20, 20, 1.0)[:12])


def test_folders_that_go_away_while_they_are_measured_are_passed_over(tmp_path: Path, monkeypatch: Any) -> None:
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
