"""What is no finding: a worker killed from outside, limits of the campaign's own, what was seen once."""

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options, shard_spec
from tests.support.fake_pool import FakePool, stand_in
from tridiff.fuzz.campaign import run, shard
from tridiff.fuzz.campaign.findings import doubt
from tridiff.fuzz.campaign.record import Plan, ShardResult
from tridiff.fuzz.records import Case, CorpusEntry, Outcome, Signature, Verdict
from tridiff.fuzz.records.outcome import PERHAPS_TRAPPED

each = pytest.mark.parametrize
SHARD = shard_spec(max_cases=40, rows=16)


class FatalPool(FakePool):
    """What `failing` calls a case's failure is the signal or the limit that ended its worker."""

    verdict = Verdict.CRASH

    def execute(self, case: Case, subject: str, **rest: object) -> Outcome:
        outcome = super().execute(case, subject)
        if not outcome.verdict.failed:
            return outcome
        kind, _, reason = outcome.reason.partition(": ")
        return replace(outcome, verdict=self.verdict, failing_rows=(), reason=reason or kind, signature=Signature(
            target=case.target, subject=subject, verdict=self.verdict, kind=kind))


Fuzz = Callable[..., tuple[run.Campaign, ShardResult]]


@pytest.fixture
def fuzz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fuzz:
    """Run one shard whose cases fail as a function of the case says."""
    def start(failing: Callable[[Case], str], verdict: Verdict = Verdict.CRASH, *,
              subject: str = "own") -> tuple[run.Campaign, ShardResult]:
        spec = replace(SHARD, subject=subject)

        class Pool(FatalPool):
            pass

        Pool.failing, Pool.verdict = staticmethod(failing), verdict
        stand_in(monkeypatch, Pool)
        campaign = run.Campaign.start(Plan(id="one", options=campaign_options(), shards=(spec,)), root=tmp_path)
        return campaign, shard.run_shard(spec, str(campaign.state))

    return start


def at(*runs: int, kind: str) -> Callable[[Case], str]:
    """Fails in the runs of these numbers, whatever the case."""
    number = itertools.count(1)
    return lambda case: kind if next(number) in runs else ""


def test_a_worker_that_is_killed_once_is_told_and_not_counted(fuzz: Fuzz):
    campaign, result = fuzz(at(7, 20, kind="SIGKILL"))
    assert (result.findings, result.error, result.counts.crash, result.counts.executed) == ((), "", 2, 40)
    assert result.counts.shrink_runs == 2, "each is run again once, and not shrunk"
    assert campaign.findings() == []
    (why, names), = campaign.unconfirmed().items()
    assert why.startswith("the worker was killed from outside") and len(names) in (1, 2)


def test_a_kill_that_comes_again_each_time_is_a_finding(fuzz: Fuzz):
    campaign, _ = fuzz(lambda case: "SIGKILL" if case.sizes["rows"] >= 3 else "")
    assert {(entry.reproduced, entry.status, entry.case.sizes["rows"]) for entry in campaign.findings()} == {
        ("5/5", "stable", 3)}
    assert campaign.unconfirmed() == {}


def test_a_kill_that_comes_again_only_sometimes_is_none(fuzz: Fuzz):
    # Seen, seen again at once, then three of five.
    campaign, _ = fuzz(at(5, 6, *range(9, 12), kind="SIGKILL"))
    assert campaign.findings() == []


def test_a_launch_that_an_assertion_may_have_stopped_counts_if_it_fails_again(fuzz: Fuzz):
    perhaps = f"launch_failure: {PERHAPS_TRAPPED}"
    campaign, result = fuzz(at(7, 20, kind=perhaps))
    assert (result.counts.crash, result.counts.shrink_runs, campaign.findings()) == (2, 2, [])
    (why, names), = campaign.unconfirmed().items()
    assert why.startswith("the trap behind a device assertion") and names


def test_a_launch_that_fails_for_no_reason_each_time_is_a_finding(fuzz: Fuzz):
    perhaps = f"launch_failure: {PERHAPS_TRAPPED}"
    campaign, _ = fuzz(lambda case: perhaps if case.sizes["rows"] >= 3 else "")
    assert [entry.reproduced for entry in campaign.findings()] == ["5/5"] and not campaign.unconfirmed()


def test_a_launch_failure_where_no_assertion_may_be_due_is_no_accident(fuzz: Fuzz):
    campaign, _ = fuzz(at(5, 8, 30, kind="launch_failure: CUDA error"))
    assert campaign.findings() and not campaign.unconfirmed()


@each("subject, counts", [("own", False), ("own+fault:out_of_memory", True)])
def test_the_memory_cap_is_the_campaigns_own(fuzz: Fuzz, subject: str, counts: bool):
    campaign, result = fuzz(lambda case: "out_of_memory" if case.sizes["rows"] >= 3 else "", subject=subject)
    assert result.findings and bool(campaign.findings()) == counts
    assert bool(campaign.unconfirmed()) != counts


def test_a_hang_that_does_not_come_again_is_none(fuzz: Fuzz):
    campaign, result = fuzz(at(5, kind="launch"), Verdict.HANG)
    assert result.findings and campaign.findings() == []
    assert list(campaign.unconfirmed()) == ["a time limit of this campaign was reached once, and not again"]


def test_a_wrong_value_that_comes_and_goes_is_a_finding(fuzz: Fuzz):
    campaign, _ = fuzz(at(5, 8, 30, kind="value"), Verdict.DISAGREE)
    assert campaign.findings() and {entry.status for entry in campaign.findings()} == {"flaky"}


def test_what_was_seen_once_is_neither_stable_nor_counted(fuzz: Fuzz):
    campaign, _ = fuzz(lambda case: "SIGSEGV" if case.sizes["rows"] >= 3 else "")
    entry: CorpusEntry = campaign.findings()[0]
    assert doubt(replace(entry, reproduced="0/0")).startswith("seen once")
    assert doubt(replace(entry, reproduced="1/1")) == doubt(replace(entry, reproduced="0/5")) == ""


@each("about", ["second", "fp16"])
def test_a_failure_of_another_thing_on_the_way_to_the_smallest_case_is_a_finding_of_its_own(
        about: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing is drawn behind the first failure, and only what is smaller than that fails as the second. Another dtype
    is no other thing."""
    failed: list[int] = []

    class Pool(FatalPool):
        verdict = Verdict.DISAGREE

        @staticmethod
        def failing(case: Case) -> str:
            rows = case.sizes["rows"]
            if not failed and rows > 2:
                failed.append(rows)
                time.sleep(spec.left or 0.0)
            return "" if not failed else "first: it is long" if rows >= failed[0] else "second: it is short"

        def execute(self, case: Case, subject: str, **rest: object) -> Outcome:
            outcome = super().execute(case, subject)
            signature = outcome.signature
            return outcome if signature is None or signature.kind == "first" else replace(
                outcome, signature=replace(signature, about=about))

    stand_in(monkeypatch, Pool)
    spec = replace(SHARD, max_cases=None, seconds=60.0, left=1.0)
    campaign = run.Campaign.start(Plan(id="one", options=campaign_options(), shards=(spec,)), root=tmp_path)
    shard.run_shard(spec, str(campaign.state))
    smallest = {one.signature.kind: one.case.sizes["rows"] for one in campaign.findings()}
    assert smallest == {"first": failed[0]} | ({"second": 1} if about == "second" else {})
