"""All inputs of an operation on two builds: what became wrong blocks, what became right is told."""

from pathlib import Path
from typing import Any

import pytest

from tests.gate.test_judged import line, verdict
from tests.support.builds import HARMLESS, edited
from tests.support.campaigns import campaign_options
from tests.unit.sweep.records import box, deviation, record, result
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.policy import read
from tridiff.fuzz.gate.sweeps import compared, run_sweeps, swept
from tridiff.fuzz.sweep import run as running

RIGHT = record(result("exp"), result("neg", ulps=1.0))
WRONG = record(result("exp", deviation("value", box((3, 9)))), result("neg", ulps=1.5), triton="3.9.0")


def test_inputs_that_are_wrong_now_block():
    found = compared(RIGHT, WRONG, policy=read())
    assert (found.compared, found.unchanged) == (2, 0)
    assert {(one.sweep.split()[0], one.kind, one.worse, one.action) for one in found.changes} == {
        (WRONG.results[0].spec.key, "verdict", True, "block"), (WRONG.results[0].spec.key, "class", True, "block"),
        (WRONG.results[1].spec.key, "max_ulps", False, "report")}


def test_inputs_that_are_right_now_are_told():
    found = compared(WRONG, RIGHT, policy=read())
    assert found.changes and not any(one.worse for one in found.changes)
    assert {one.action for one in found.changes} == {"report"}


def test_the_verdict_rests_on_sweeps_as_well(tmp_path: Path):
    worse = verdict(tmp_path, line(), sweeps=compared(RIGHT, WRONG, policy=read()))
    assert worse.verdict == "do not upgrade" and worse.why[0].startswith("all inputs of ")
    assert verdict(tmp_path, line(), sweeps=compared(WRONG, RIGHT, policy=read())).verdict == "upgrade"
    assert verdict(tmp_path, line(), sweeps=compared(record(), record(), policy=read())).verdict == "could not check"


def test_a_sweep_needs_something_that_executes():
    with pytest.raises(TridiffError, match="a sweep runs on the GPU or in the interpreter"):
        swept(("exp",), ("compile:sm_90",))
    with pytest.raises(TridiffError, match="no operation matches"):
        swept(("nonsense",), ("interpreter",))


@pytest.mark.slow
def test_workers_of_a_sweep_run_their_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = edited(tmp_path / "other", HARMLESS)
    asked: list[dict[str, Any]] = []

    class Worker(running.Worker):
        def __init__(self, where: str, replies: Any, **given: Any) -> None:
            asked.append(given)
            super().__init__(where, replies, **given)

    monkeypatch.setattr(running, "Worker", Worker)
    options = campaign_options(backends=("interpreter",), builds=("", str(other)), seconds=9.0)
    found = run_sweeps(("signbit",), options, tmp_path, policy=read())
    assert (found.compared, found.changes, found.not_checked) == (found.unchanged, (), ()) and found.compared > 0
    # The installed Triton needs nothing; the other build is in front of the path, with a cache of its own.
    assert asked == [{}, {"build": str(other), "cache": str(tmp_path / "sweep-candidate/cache")}]
    assert run_sweeps(("signbit",), options, tmp_path, policy=read()).compared == found.compared
    assert len(asked) == 2, "what is done is not done again"
