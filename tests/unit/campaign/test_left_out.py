"""A target that needs what the Triton version or the chip lacks is left out of a campaign, which says so once."""

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options, shard_spec
from tests.support.fake_pool import FakePool, stand_in
from tridiff.fuzz.campaign import run, shard
from tridiff.fuzz.campaign.record import Counts, Plan, ShardResult, Summary
from tridiff.fuzz.campaign.store import ShardStore, shard_path
from tridiff.fuzz.cli.render import render_summary
from tridiff.fuzz.records import Environment
from tridiff.fuzz.registry import find

REASON = "atomics on shared memory came with 3.9"
SHARD = shard_spec(backend="compile:sm_90", max_cases=5)


def _shard(state: Path, monkeypatch: pytest.MonkeyPatch, lacking: str) -> tuple[ShardResult, list[Environment]]:
    asked: list[Environment] = []

    def decide(environment: Environment) -> str:
        asked.append(environment)
        return lacking

    target = find("triton.vector_add")
    target = dataclasses.replace(target, run=dataclasses.replace(target.run, lacking=decide))
    stand_in(monkeypatch, FakePool)
    monkeypatch.setattr(shard, "find", lambda name: target)
    return shard.run_shard(SHARD, str(state)), asked


def test_no_case_of_a_target_is_drawn_where_something_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    result, asked = _shard(tmp_path, monkeypatch, REASON)
    assert (result.left_out, result.error, result.stopped) == (REASON, "", False)
    assert result.counts.executed == result.counts.not_checked == result.counts.refused == 0
    assert [(one.triton_release, one.architecture) for one in asked] == [((3, 9), "sm_90")]


def test_a_target_that_lacks_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    result, _ = _shard(tmp_path, monkeypatch, "")
    assert (result.left_out, result.counts.executed) == ("", 5)


def test_what_the_baseline_of_a_pair_lacks_is_left_out_as_well(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    builds = tuple(Environment(triton=one, backend="compile:sm_90") for one in ("3.6.0", "3.9.0"))
    monkeypatch.setattr(FakePool, "environments", lambda pool: builds)
    target = find("launch.translator")
    assert [target.run.lacking(one) for one in builds] == ["it is there from Triton 3.9.0 on", ""]
    stand_in(monkeypatch, FakePool)
    result = shard.run_shard(replace(SHARD, target="launch.translator"), str(tmp_path))
    assert result.left_out and result.counts.executed == 0


def _summary(tmp_path: Path, results: dict[int, ShardResult]) -> Summary:
    specs = tuple(replace(result.spec, index=index) for index, result in results.items())
    campaign = run.Campaign.start(Plan(id="one", options=campaign_options(), shards=specs), root=tmp_path)
    for spec, result in zip(specs, results.values(), strict=True):
        store = ShardStore(shard_path(campaign.state, spec.index))
        store.finish(replace(result, spec=spec))
        store.close()
    return campaign.run(lambda progress: None)


def test_the_summary_names_targets_left_out_in_one_line_and_gives_them_no_row(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    names = ("gluon.atomics", "gluon.gather_scatter", "gluon.atomics")
    results = {number: ShardResult(spec=replace(SHARD, target=name), counts=Counts(), left_out=REASON)
               for number, name in enumerate(names)}
    results[3] = ShardResult(spec=replace(SHARD, target="gluon.fp4"), counts=Counts(executed=7, agree=7))
    summary = _summary(tmp_path, results)
    assert summary.left_out == {REASON: ("gluon.atomics on compile:sm_90", "gluon.gather_scatter on compile:sm_90")}
    assert [one.target for one in summary.by_target] == ["gluon.fp4"]
    render_summary(summary, [], tmp_path)
    said = " ".join(capsys.readouterr().out.split())
    assert f"left out gluon.atomics on compile:sm_90, gluon.gather_scatter on compile:sm_90: {REASON}" in said


def test_an_environment_says_what_kernels_are_compiled_for():
    assert Environment(backend="cuda", capability="9.0").architecture == "sm_90"
    assert Environment(backend="compile:gfx942").architecture == "gfx942"
    assert Environment(backend="interpreter").architecture == ""


def test_a_release_of_triton_can_be_compared():
    assert Environment(triton="3.6.0").triton_release == (3, 6) < Environment(triton="3.10.1+git1").triton_release
    assert Environment(triton="").triton_release == () == Environment(triton="main.3").triton_release
