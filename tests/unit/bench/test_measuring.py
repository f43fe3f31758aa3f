"""A benchmark takes the time that it was given, says what it does, and keeps what it has."""

import json
import math
from collections.abc import Callable

import pytest

from tests.support.refusals import refused
from tridiff.fuzz.bench import measure
from tridiff.fuzz.bench.measure import Measurement, Step, TooLate, run_bench, steps
from tridiff.fuzz.campaign.record import Counts
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.cli.failure import ending

each = pytest.mark.parametrize


class Clock:
    """Time that passes only where a step says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(measure.time, "monotonic", made.monotonic)
    return made


def fills(clock: Clock, name: str) -> Callable[[float], list[Measurement]]:
    def step(until: float) -> list[Measurement]:
        clock.now = max(clock.now, until)
        return [Measurement(name=name, value=1.0)]

    return step


def takes(clock: Clock, name: str, seconds: float) -> Callable[[float], list[Measurement]]:
    def step(until: float) -> list[Measurement]:
        clock.now += seconds
        return [Measurement(name=name, value=1.0)]

    return step


@each("fixed", [0.0, 20.0, 35.0])
def test_what_one_step_takes_the_others_do_without(fixed: float, clock: Clock, monkeypatch: pytest.MonkeyPatch):
    """However long the step takes that cannot be shortened, all together take what was asked for."""
    planned = [Step(name="a", weight=1, run=fills(clock, "a")), Step(name="b", weight=5, run=takes(clock, "b", fixed)),
               Step(name="c", weight=6, run=fills(clock, "c")), Step(name="d", weight=12, run=fills(clock, "d"))]
    monkeypatch.setattr(measure, "steps", lambda backend, workers: planned)
    told: list[str] = []
    found = list(run_bench(backends=("interpreter",), seconds=60, workers=1, tell=told.append))
    assert math.isclose(clock.now, 1060) and [one.name for one in found] == ["a", "b", "c", "d"]
    assert [line.partition(",")[0] for line in told] == ["a", "b", "c", "d"] and told[0] == "a, 2 s"


def test_what_does_not_start_in_time_is_no_measurement(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    def late(until: float) -> list[Measurement]:
        raise TooLate("4 workers had not all judged a case 9 s after they began")

    planned = [Step(name="a", weight=1, run=late), Step(name="b", weight=1, run=fills(clock, "b"))]
    monkeypatch.setattr(measure, "steps", lambda backend, workers: planned)
    first, second = run_bench(backends=("interpreter",), seconds=10, workers=1)
    assert (first.value, second.value) == (None, 1.0)
    assert first.limit.startswith("not measured: 4 workers had not all judged a case") and "--seconds" in first.limit


@each("backend", ["cuda", "interpreter", "compile:sm_90"])
def test_what_cannot_be_shortened_comes_before_what_can(backend: str):
    names = [one.name for one in steps(backend, 4)]
    assert names[:2] == ["drawing cases", "the driver's own cost"] and "4 workers" in names[-1]
    assert ("replacing workers that die" in names) == (backend == "cuda")


def test_a_campaign_is_held_against_a_bare_loop_over_as_many_kernels_of_each_target(monkeypatch: pytest.MonkeyPatch):
    """One of b costs four of a: 10 and 30 of them take two bare processes 65 s, and the campaign 100."""
    monkeypatch.setattr(measure, "_bare", lambda *asked: '{"a": [100, 100.0], "b": [5, 20.0]}')
    monkeypatch.setattr(measure, "_campaign", lambda *asked: (
        Counts(compiled_kernels=40, compile_seconds=150.0), 100.0, {"a": 10, "b": 30, "c": 0}))
    bare, programs = measure._programs("compile:sm_90", 2, 0.0)
    assert (bare.value, programs.value, programs.ratio) == (40 / 65, 0.4, 0.65)
    assert programs.limit == "Triton's compiler, 75% of the workers' time"
    monkeypatch.setattr(measure, "_bare", lambda *asked: '{"a": [100, 100.0]}')
    with pytest.raises(TooLate, match="the bare loop compiled nothing of b"):
        measure._programs("compile:sm_90", 2, 0.0)


@each("seconds", [0.0, 5.0, -1.0, 1e9, math.nan])
def test_times_that_cannot_be_kept_are_refused(seconds: float):
    with refused("is out of range; choose 10 to 3600"):
        run_bench(backends=("interpreter",), seconds=seconds, workers=1)


def test_an_interrupted_benchmark_prints_what_it_has(clock: Clock, monkeypatch: pytest.MonkeyPatch,
                                                     capsys: pytest.CaptureFixture[str]):
    def interrupted(until: float) -> list[Measurement]:
        raise KeyboardInterrupt

    planned = [Step(name="a", weight=1, run=fills(clock, "a")), Step(name="b", weight=1, run=interrupted),
               Step(name="c", weight=1, run=fills(clock, "c"))]
    monkeypatch.setattr(measure, "steps", lambda backend, workers: planned)
    assert ending(run, ["bench", "--backend", "interpreter", "--json"]) == 130
    said = capsys.readouterr()
    assert [one["name"] for one in json.loads(said.out)] == ["a"]
    assert "s of 120] a, 40 s" in said.err and "interrupted; what was measured until then" in said.err


def test_a_benchmark_that_measured_nothing_says_so(monkeypatch: pytest.MonkeyPatch, clock: Clock,
                                                   capsys: pytest.CaptureFixture[str]):
    def late(until: float) -> list[Measurement]:
        raise TooLate("nothing began")

    monkeypatch.setattr(measure, "steps", lambda backend, workers: [Step(name="a", weight=1, run=late)])
    assert ending(run, ["bench", "--backend", "interpreter"]) == 2
    assert "not measured: nothing began" in " ".join(capsys.readouterr().out.split())
