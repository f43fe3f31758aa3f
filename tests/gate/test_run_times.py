"""Kernels whose code differs run against the clock, in turn on both builds."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.pairs import CASE, observed, outcome
from tridiff.fuzz.backends.launch import Times
from tridiff.fuzz.gate.policy import read
from tridiff.fuzz.gate.tally import Tally
from tridiff.fuzz.pair.log import PairLine
from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.pair.times import EACH, LAUNCHES, ROUNDS, SHORTEST, of_turns, timeable
from tridiff.fuzz.records import Environment, Outcome, Verdict
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.records.pair import Relation, RunTime
from tridiff.fuzz.registry import find
from tridiff.fuzz.workers.pool import PoolOptions


class Clocked:
    """Stands in for a `Pool` on a GPU whose kernels take so many seconds."""

    def __init__(self, code: str, seconds: float, turns: list[str]) -> None:
        self.options = PoolOptions(backend="cuda")
        self.compile_seconds = 0.0
        self.observed: Observed | None = None
        self.reached = self.imported = tuple[int, ...]()
        self.environment = Environment(triton="3.9.0", backend="cuda")
        self._code, self._seconds, self._turns = {"ptx": code}, seconds, turns

    def execute(self, case: object, subject: str, *, observe: Observe, **given: object) -> Outcome:
        if observe.timed:
            self._turns.append(self._code["ptx"])
            self.observed = replace(observed(), seconds=(self._seconds,) * observe.timed)
            return outcome(Verdict.NOT_CHECKED, reason="timed and not judged", backend="cuda")
        self.observed = observed(b"\1\0\0\0", code=self._code)
        return outcome(Verdict.AGREE, backend="cuda")


def timed(before: float, after: float, *, code: str = "new", cases: int = 1) -> tuple[list[RunTime | None], list[str]]:
    turns: list[str] = []
    pool = PairPool(Clocked("old", before, turns), Clocked(code, after, turns))  # type: ignore[arg-type]
    found = []
    for _ in range(cases):
        pool.execute(CASE, "own", backend="cuda")
        assert pool.last is not None
        found.append(pool.last.run_time)
    return found, turns


def test_both_builds_have_their_turns_one_after_the_other():
    (found,), turns = timed(40e-6, 60e-6)
    assert found is not None and found.quotient == pytest.approx(1.5) and found.spread == 0
    assert turns == ["old", "new"] * ROUNDS


def test_the_median_of_the_turns_counts_and_the_spread_is_that_of_the_less_steady_build():
    found = of_turns([1.0, 1.0, 1.1, 1.0, 9.0], [2.0, 2.0, 2.0, 2.0, 2.0])
    assert (found.baseline, found.candidate, found.spread) == (1.0, 2.0, 8.0)


@pytest.mark.parametrize("before, code", [(SHORTEST / 2, "new"), (1.0, "old")])
def test_short_kernels_and_equal_code_are_not_timed(before: float, code: str):
    (found,), turns = timed(before, before, code=code)
    assert found is None and len(turns) <= 1


def test_few_cases_of_a_target_are_timed():
    found, _ = timed(1.0, 1.0, cases=EACH + 2)
    assert [one is not None for one in found] == [True] * EACH + [False] * 2


def test_what_waits_or_leaves_something_behind_is_not_timed():
    assert timeable(CASE)
    scratch = find("helpers.exclusive_scan_decoupled_lookback")
    assert scratch.run.written and not timeable(replace(CASE, target=scratch.name))


def test_a_kernel_that_became_slower_than_its_own_spread_is_told_as_the_policy_says(tmp_path: Path):
    from tridiff.fuzz.gate.judge import _beside

    (tmp_path / "strict.toml").write_text('[run_time]\naction = "block"\n')
    policy = read(tmp_path / "strict.toml")

    def lines(*times: RunTime) -> list[tuple[str, str]]:
        tally = Tally(PairLine(number=number, digest=f"d{number}", target="t", backend="cuda", relation=Relation.SAME,
                               run_time=one) for number, one in enumerate(times))
        return list(_beside(tally, policy, ()))

    slow = RunTime(baseline=100e-6, candidate=180e-6, spread=0.1)
    assert lines(slow) == [("block", "run time: a kernel of t takes 180 us where the baseline takes 100 us (case d0)")]
    assert lines(replace(slow, spread=0.9), RunTime(baseline=1.0, candidate=1.2, spread=0.0)) == []
    assert read(None).run_time.action == "report"


@pytest.mark.gpu
def test_a_launch_on_a_device_is_timed_without_what_the_host_does():
    import torch

    from tridiff.fuzz.backends.cuda import CudaRunner

    runner = CudaRunner()
    assert isinstance(runner, Times)
    small, large = torch.ones(1 << 10, device="cuda"), torch.ones(1 << 26, device="cuda")
    seconds = [sorted(runner.timed(lambda one=one: one.add_(1)) for _ in range(LAUNCHES))[LAUNCHES // 2]
               for one in (small, large)]
    # 512 MiB of traffic at 4.8 TB/s is more than 100 microseconds; an empty launch is a few.
    assert seconds[0] < 20e-6 < 90e-6 < seconds[1]
