"""A process that ends, stops or takes too long costs the job it ran, and no other."""

import concurrent.futures
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tridiff.fuzz.campaign import processes
from tridiff.fuzz.campaign.processes import JobLost, Processes
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.workers.wear import MOST_GROWTH


def nothing() -> None:
    """What these processes need before their first job."""


def add(one: int, other: int) -> int:
    return one + other


def own_pid() -> int:
    return os.getpid()


_kept = list[bytes]()


def grow(number: int, megabytes: int) -> tuple[int, int]:
    """Keep so much for ever."""
    _kept.append(b"x" * (megabytes << 20))
    return number, os.getpid()


def fail() -> None:
    raise TridiffError("a problem", fix="a remedy")


def unsendable() -> object:
    return lambda: None


def strike(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(60)


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    monkeypatch.setattr(processes, "SILENT_SECONDS", 3.0)
    with Processes(2, nothing) as made:
        yield made


def test_results_and_errors_come_back(two: Processes):
    futures = [two.submit(add, number, 1) for number in range(20)]
    assert [future.result(60) for future in futures] == list(range(1, 21))
    with pytest.raises(TridiffError, match="a problem; a remedy"):
        two.submit(fail).result(60)
    with pytest.raises(RuntimeError, match="its result cannot be sent"):
        two.submit(unsendable).result(60)
    assert two.submit(add, 2, 3).result(60) == 5


def test_a_job_for_one_process_waits_for_that_one(two: Processes):
    first, second = (two.submit_within(None, own_pid, place=place).result(60) for place in (0, 1))
    assert first != second
    slow = two.submit_within(None, sleep, 1.5, place=0)
    for_first, for_any = two.submit_within(None, own_pid, place=0), two.submit(own_pid)
    assert for_any.result(60) == second and not for_first.done()
    assert slow.result(60) == 1.5 and for_first.result(60) == first


def test_a_process_that_ends_costs_its_job_and_no_other(two: Processes):
    slow = two.submit(sleep, 2.0)
    killed = two.submit(strike, signal.SIGKILL)
    later = [two.submit(add, number, 1) for number in range(4)]
    with pytest.raises(JobLost, match="its process ended with status -9"):
        killed.result(60)
    assert slow.result(60) == 2.0 and [future.result(60) for future in later] == [1, 2, 3, 4]


def test_a_process_that_is_stopped_is_noticed_and_killed(two: Processes):
    pids = {two.submit(own_pid).result(60) for _ in range(6)}
    began = time.monotonic()
    with pytest.raises(JobLost, match="did not move for 3 s and was killed"):
        two.submit(strike, signal.SIGSTOP).result(60)
    assert time.monotonic() - began > 2.5
    assert sum(map(alive, pids)) <= 1 and two.submit(add, 1, 1).result(60) == 2


def test_a_job_that_takes_longer_than_it_may_is_killed(two: Processes):
    two.submit(add, 1, 1).result(60)
    late, quick = two.submit_within(1.5, sleep, 600.0), two.submit_within(50.0, sleep, 0.1)
    with pytest.raises(JobLost, match="went on after its time"):
        late.result(60)
    assert quick.result(60) == 0.1


def moving(seconds: float) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        processes.progressed()
        time.sleep(0.1)
    return "moved"


def test_a_process_that_is_there_but_gets_nowhere_is_killed(
        two: Processes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(processes, "STALLED_SECONDS", 3.0)
    moves, stuck = two.submit(moving, 5.0), two.submit(sleep, 60.0)
    with pytest.raises(JobLost, match="did not move for 3 s"):
        stuck.result(60)
    assert moves.result(60) == "moved"


def test_all_can_be_killed_at_once():
    with Processes(1, nothing) as made:
        pid = made.submit(own_pid).result(60)
        running, waiting = made.submit(sleep, 60.0), made.submit(add, 1, 1)
        time.sleep(0.5)
        made.kill()
        with pytest.raises(JobLost):
            running.result(20)
        with pytest.raises(concurrent.futures.CancelledError):
            waiting.result(20)
    assert not alive(pid)


def test_a_process_that_has_grown_gives_way_to_another_with_its_result_and_for_the_same_place():
    each = 7  # no step, and no divisor of what it may grow by
    one_process = 1 + MOST_GROWTH // (each << 20) + 1
    with Processes(1, nothing) as made:
        jobs = [made.submit_within(None, grow, number, each, place=0) for number in range(2 * one_process)]
        found = [job.result(60) for job in jobs]
        small = [made.submit(grow, number, 0).result(60) for number in range(3)]
    assert [number for number, _ in found] == list(range(2 * one_process)), "no result is lost"
    pids = [pid for _, pid in found]
    assert pids == [pids[0]] * one_process + [pids[-1]] * one_process and pids[0] != pids[-1]
    assert len({pid for _, pid in small} - set(pids)) == 1, "one that does not grow stays"
    assert not any(map(alive, pids))
