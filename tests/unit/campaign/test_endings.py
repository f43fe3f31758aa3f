"""How a campaign is told to end, and shards that are lost on the way."""

import concurrent.futures
import contextlib
import os
import shutil
import signal
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.support.fake_pool import FakePool, stand_in
from tests.support.refusals import refusal
from tridiff.fuzz.campaign import clock, drivers, run
from tridiff.fuzz.campaign.gathered import NO_TIME, Gathered
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.processes import JobLost
from tridiff.fuzz.campaign.record import CampaignOptions, Counts, Plan, Summary
from tridiff.fuzz.campaign.totals import Totals
from tridiff.fuzz.records import Case
from tridiff.fuzz.workers.pool import NoWorker, TimeUp

each = pytest.mark.parametrize


@each("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_way_to_tell_a_campaign_to_end_is_a_flag(number: signal.Signals):
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with drivers.interrupts() as asked:
        assert not asked()
        os.kill(os.getpid(), number)
        assert asked()
        os.kill(os.getpid(), signal.SIGTERM)  # A scheduler may send both, one after the other.
        os.kill(os.getpid(), signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert before == [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]


def test_jobs_that_do_not_end_when_told_to_are_forced_to(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drivers, "PATIENCE", 0.5)
    futures = {job: concurrent.futures.Future[None]() for job in (1, 2, 3)}
    for job in (1, 2):
        futures[job].set_running_or_notify_cancel()
    told: list[str] = []

    def force() -> None:
        told.append("force")
        futures[2].set_exception(JobLost("killed"))

    def stop() -> None:
        told.append("stop")
        futures[1].set_result(None)

    asked, started = iter([False]), time.monotonic()
    waiting = deque([1, 2, 3])
    ended = [job for some in drivers.in_turn(waiting, futures.__getitem__, at_once=2, asked=lambda: next(asked, True),
                                             stop=stop, force=force) for job, _ in some]
    assert (ended, told, list(waiting)) == ([1, 2], ["stop", "force"], [3])
    assert time.monotonic() - started < 10


# -- shards that are lost

class Executor(concurrent.futures.ThreadPoolExecutor):
    """Runs shards in this process; loses the first jobs as said in `losses`."""

    losses = 0

    def submit(self, fn: object, /, *args: object, **kwargs: object) -> "concurrent.futures.Future[object]":
        if type(self).losses > 0:
            type(self).losses -= 1
            future: concurrent.futures.Future[object] = concurrent.futures.Future()
            future.set_exception(JobLost("its process ended with status -9"))
            return future
        return super().submit(fn, *args, **kwargs)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> type[FakePool]:
    class Pool(FakePool):
        pass

    @contextlib.contextmanager
    def local(options: CampaignOptions, preloaded: object = None) -> Iterator[concurrent.futures.Executor]:
        with Executor(1) as one:
            yield one

    monkeypatch.setattr(Executor, "losses", 0)
    monkeypatch.setattr(run, "drivers", local)
    stand_in(monkeypatch, Pool)
    return Pool


def campaign(root: Path, **changes: object) -> run.Campaign:
    options = campaign_options(**{"targets": ("triton.vector_add",), "subjects": ("own",), "max_cases": 20,
                                  "backends": ("interpreter",), **changes})
    shards = tuple(replace(one, rows=16, elements=64) for one in plan_shards(options))
    return run.Campaign.start(Plan(id="one", options=options, shards=shards), root=root)


def finish(one: run.Campaign) -> tuple[Summary, bool]:
    """The summary, and whether nothing is left to do."""
    summary = one.run(lambda progress: None)
    one.finish(summary)
    return summary, (one.state / "finished").exists()


@each("losses, errors, executed", [(0, 0, 20), (2, 0, 20), (3, 1, 0)])
def test_a_shard_that_is_lost_is_run_again_and_red_if_that_does_not_help(
        tmp_path: Path, here: type[FakePool], losses: int, errors: int, executed: int):
    Executor.losses = losses
    summary, finished = finish(campaign(tmp_path))
    assert (summary.counts.executed, len(summary.errors)) == (executed, errors)
    assert finished == (errors == 0) and summary.exit_status == (2 if errors else 0)
    said = summary.errors if errors else summary.repaired
    line = "triton.vector_add on interpreter: its process ended with status -9"
    assert said == ((line,) if losses else ())


def test_what_a_shard_did_before_it_was_lost_counts(tmp_path: Path, here: type[FakePool]):
    ran: list[Case] = []

    def twelve(case: Case) -> str:
        ran.append(case)
        if len(ran) > 12:
            raise NoWorker("nothing runs here any more")
        return ""

    here.failing = staticmethod(twelve)
    one = campaign(tmp_path)
    summary, finished = finish(one)
    assert (summary.counts.agree, summary.exit_status, finished) == (12, 2, False)
    assert summary.errors == ("triton.vector_add on interpreter: nothing runs here any more; run `tridiff doctor`",)
    assert [line.counts.agree for line in summary.by_target] == [12]
    one.close()
    here.failing = staticmethod(lambda case: "")
    summary, finished = finish(run.Campaign.resume("", root=tmp_path))
    assert (summary.counts.agree, summary.exit_status, summary.errors, finished) == (20, 0, (), True)


def test_a_state_folder_that_vanishes_is_no_success(tmp_path: Path, here: type[FakePool]):
    one = campaign(tmp_path)

    def vanish(case: Case) -> str:
        shutil.rmtree(one.state, ignore_errors=True)
        return ""

    here.failing = staticmethod(vanish)
    assert refusal(lambda: one.run(lambda progress: None)).startswith(f"{one.state} is gone")


def test_what_there_is_no_time_for_is_said(
        tmp_path: Path, here: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(clock, "GRACE", 1.0)
    here.pause = 0.3
    one = campaign(tmp_path, max_cases=None, seconds=1.0, targets=("triton.*",), seed=3)
    started = time.monotonic()
    summary, finished = finish(one)
    assert time.monotonic() - started < 10 and finished and summary.exit_status == 0
    assert 0 < summary.counts.executed < 20
    judged = {line.target for line in summary.by_target}
    assert {name for name in summary.left_out.get(NO_TIME, ())} == {
        f"{spec.target} on interpreter" for spec in one.plan.shards if spec.target not in judged}


def test_what_cannot_run_here_is_not_said_to_lack_time(tmp_path: Path):
    one = campaign(tmp_path, max_cases=None, targets=("triton.vector_add", "triton.mod"))
    totals = Totals()
    totals.left_out["no such chip"] = {"triton.mod on interpreter"}
    found = Gathered(plan=one.plan, state=one.state, totals=totals, open_={}, failures={}, lost=(),
                     left_out=one.plan.shards, running=True)
    summary = found.summary(counts=Counts(), findings=[], unconfirmed={}, seconds=1.0, interrupted=False)
    assert summary.left_out == {"no such chip": ("triton.mod on interpreter",),
                                NO_TIME: ("triton.vector_add on interpreter",)}


def test_a_terminal_that_is_gone_ends_no_campaign(tmp_path: Path, here: type[FakePool]):
    def watch(progress: run.Progress) -> None:
        raise OSError("input/output error")

    summary = campaign(tmp_path).run(watch)
    assert summary.counts.executed == 20


def test_a_campaign_in_which_nothing_ever_runs_ends_and_is_no_success(
        tmp_path: Path, here: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    """Every case is given up for lack of time: no strategy is to blame, and nobody waits for all shards."""
    def late(case: Case) -> str:
        raise TimeUp

    monkeypatch.setattr(clock, "GRACE", 0.2)
    monkeypatch.setattr(clock, "FIRST", 1.0)
    here.failing = staticmethod(late)
    one = campaign(tmp_path, max_cases=None, seconds=1.0, targets=("triton.*",), subjects=())
    started = time.monotonic()
    summary, _ = finish(one)
    assert time.monotonic() - started < 20
    assert (summary.counts.executed, summary.exit_status, summary.errors) == (0, 2, ())
    assert len(summary.left_out[NO_TIME]) == len({spec.target for spec in one.plan.shards})


def test_the_time_before_a_campaign_counts(tmp_path: Path, here: type[FakePool]):
    one = campaign(tmp_path, max_cases=None, seconds=60.0)
    began = time.monotonic()
    summary = one.run(lambda progress: None, since=began - 55.0)
    assert time.monotonic() - began < 30 and summary.counts.executed and summary.seconds > 55
