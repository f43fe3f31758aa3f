"""How a long campaign is judged (the campaign itself: `python -m tests.quality.soak`)."""

from dataclasses import replace

import pytest

from tests.quality.soak import Sample, verdict


def samples(rate: float, later: float, grown: float) -> list[Sample]:
    """An hour: 20 s without a case, `rate` cases a second in its first half and `later` in its second; memory grows
    evenly to `grown` times what it was."""
    found, cases = [], 0.0
    for number in range(0, 3600, 5):
        cases += 5 * (0 if number < 20 else rate if number < 1800 else later)
        found.append(Sample(seconds=number, cases=int(cases), processes=9, descriptors=20 + number // 1000, shared=0,
                            memory=int(1e9 * (1 + (grown - 1) * number / 3600))))
    return found


def test_rate_and_memory_of_the_last_sixth_are_held_against_the_first() -> None:
    steady = verdict(samples(20, 20, 1.0))
    assert steady["rate_ratio"] == pytest.approx(1.0, abs=0.01) and steady["memory_ratio"] == pytest.approx(1.0)
    assert verdict(samples(20, 16, 1.0))["rate_ratio"] == pytest.approx(0.8, abs=0.01)
    assert verdict(samples(20, 20, 1.5))["memory_ratio"] == pytest.approx(1.4, abs=0.02), "a sixth at either end"
    assert steady["most_descriptors"] == 23


def test_neither_the_start_nor_the_writing_of_the_record_counts() -> None:
    hour = samples(20, 20, 1.0)
    few = [replace(one, processes=2, memory=1 << 20) if one.seconds < 300 else one for one in hour]
    over = [replace(hour[-1], seconds=hour[-1].seconds + number, memory=1 << 20) for number in range(5, 900, 5)]
    assert verdict([*few, *over]) == verdict([one for one in hour if one.seconds >= 300])


def test_too_short_a_campaign_is_judged_by_nobody() -> None:
    with pytest.raises(ValueError, match="too few"):
        verdict(samples(20, 20, 1.0)[:12])
