"""The rate of generated programs counts each program once, however many shards drew it."""

from tridiff.fuzz.campaign.program_rate import program_rate
from tridiff.fuzz.campaign.record import Counts, ProgramRate


def test_programs_are_counted_once_per_target_and_those_not_judged_are_not_accepted():
    judged = [("codegen.mixed", "a"), ("codegen.mixed", "ab"), ("codegen.scan", "a")]
    counts = Counts(executed=5, agree=3, disagree=1, not_checked=1)
    assert program_rate(judged, counts, 0.5) == ProgramRate(
        distinct=3, per_second=6.0, accepted=0.8, to_nearest_public=1.33)


def test_a_campaign_without_programs_has_no_rate():
    assert program_rate([], Counts(), 10.0) is None
