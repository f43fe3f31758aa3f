"""A campaign's folder has one owner, and is resumed on what it was started on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.builds import without_distribution
from tests.support.campaigns import campaign_options, shard_spec
from tests.support.refusals import refusal
from tridiff.fuzz.campaign import run, state
from tridiff.fuzz.campaign.known import KnownFindings, release_claims
from tridiff.fuzz.campaign.record import Counts, Plan, Summary
from tridiff.fuzz.records import Environment

PLAN = Plan(id="night", options=campaign_options(), shards=())
ROOT = Path(__file__).parents[3]

OWNER = """
import sys
from pathlib import Path
from tridiff.fuzz.campaign.state import Owned
owned = Owned(Path(sys.argv[1]))
print("owned", flush=True)
sys.stdin.read()
"""


def test_a_campaign_that_runs_is_not_resumed(tmp_path: Path):
    run.Campaign.start(PLAN, root=tmp_path).close()
    (tmp_path / "night" / "stop").touch()
    other = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path / "night")], cwd=ROOT, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout.readline() == "owned\n"
    for name in ("night", ""):
        assert refusal(lambda name=name: run.Campaign.resume(name, root=tmp_path)).startswith(
            f"campaign night is running, pid {other.pid}; ")
    assert (tmp_path / "night" / "stop").exists(), "nothing of a campaign that runs is touched"
    run.Campaign.start(replace(PLAN, id="older"), root=tmp_path).close()
    os.utime(tmp_path / "older" / "plan.json", (1, 1))
    assert run.Campaign.resume("", root=tmp_path).plan.id == "older"
    other.kill()
    other.communicate()
    again = run.Campaign.resume("night", root=tmp_path)
    assert not (tmp_path / "night" / "stop").exists()
    again.close()


@pytest.mark.parametrize("what, then, label", [("triton", "3.5.1", "Triton 3.5.1"), ("torch", "1.0", "torch 1.0"),
                                               ("gpus", "NVIDIA H200", "the GPU NVIDIA H200")])
def test_a_campaign_is_resumed_only_on_what_it_was_started_on(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, then: str, label: str):
    here = state.installed(PLAN.options)
    assert here["triton"] and here["torch"]
    monkeypatch.setattr(state, "installed", lambda options: {**here, what: then})
    one = run.Campaign.start(PLAN, root=tmp_path)
    assert one.plan.installed[what] == then
    one.close()
    run.Campaign.resume("night", root=tmp_path).close()
    monkeypatch.setattr(state, "installed", lambda options: here)
    for _ in range(2):
        line = refusal(lambda: run.Campaign.resume("night", root=tmp_path))
        assert line.startswith(f"campaign night was started on {label}, here is "), "and it is not locked afterwards"


def test_a_build_without_a_distribution_is_told_from_the_installed_release(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run.Campaign.start(PLAN, root=tmp_path / "state").close()
    without_distribution(tmp_path, "3.9.1+git1234", monkeypatch)
    assert state.installed(PLAN.options)["triton"] == "3.9.1+git1234"
    assert "here is 3.9.1+git1234: verdicts would be mixed" in refusal(
        lambda: run.Campaign.resume("night", root=tmp_path / "state"))


def test_only_a_campaign_that_lost_nothing_is_finished(tmp_path: Path):
    one = run.Campaign.start(PLAN, root=tmp_path)
    good = Summary(id="night", options=PLAN.options, environments=(), counts=Counts(executed=1, agree=1), by_target=())
    assert good.exit_status == 0
    for bad, status in ((replace(good, errors=("a shard was lost",)), 2), (replace(good, interrupted=True), 0)):
        one.finish(bad)
        assert not (tmp_path / "night" / "finished").exists() and bad.exit_status == status
    assert replace(good, errors=("a shard was lost",), new_findings=("f",)).exit_status == 2
    one.finish(good)
    assert (tmp_path / "night" / "finished").exists()


def test_a_claim_to_a_finding_that_was_lost_is_given_up(tmp_path: Path):
    first, second = (KnownFindings(shard_spec(index=index), tmp_path, environment=Environment) for index in (1, 2))
    assert first.claim("a") and first.claim("b") and not second.claim("a") and second.claim("c")
    first.written("a", "value-0123456789")
    release_claims(tmp_path, shard=1)
    third = KnownFindings(shard_spec(index=3), tmp_path, environment=Environment)
    assert [third.claim(finding) for finding in "abc"] == [False, True, False]
    third.withdraw("b")
    assert KnownFindings(shard_spec(index=4), tmp_path, environment=Environment).claim("b")


def test_what_the_corpus_gained_before_an_interruption_is_new_still(tmp_path: Path):
    one = run.Campaign.start(PLAN, root=tmp_path)
    assert one.admitted() == frozenset()
    one.admit("value-0123456789")
    one.close()
    assert run.Campaign.resume("night", root=tmp_path).admitted() == {"value-0123456789"}
