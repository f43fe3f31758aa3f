"""The processes that run a campaign's shards, what is handed to them one after another, and how a campaign is told to
end."""

import concurrent.futures
import contextlib
import functools
import multiprocessing.util
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from tridiff.fuzz.backends import kind
from tridiff.fuzz.builds.alike import watch_of
from tridiff.fuzz.campaign.plan import wanted
from tridiff.fuzz.campaign.processes import JobLost, Processes
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.campaign.shard import close_pools, use_preloaded
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import encode
from tridiff.fuzz.target.subjects import by_torch_compile, of_inductor
from tridiff.fuzz.workers.leftovers import sweep
from tridiff.fuzz.workers.pool import PREFIX
from tridiff.fuzz.workers.preloaded import PREFIX as PRELOADED, Preloaded
from tridiff.fuzz.workers.zygote import OF_INDUCTOR, OF_TORCH_COMPILE, die_with_parent, ignore_ends

Job = TypeVar("Job")
Next = TypeVar("Next", covariant=True)
Result = TypeVar("Result")

PATIENCE = 4.0
"""Seconds that shards have to end by themselves when the campaign is told to end: schedulers and containers kill what
is still there after ten."""


def _initialise(parent: int, preloaded: str) -> None:
    """In every local driver process: when to end is the parent's business, and nobody outlives it."""
    die_with_parent(parent)
    ignore_ends()
    use_preloaded(preloaded)
    multiprocessing.util.Finalize(None, close_pools, exitpriority=10)


def preload(options: CampaignOptions) -> Preloaded:
    """Start the processes that import for all workers of a campaign; whoever starts early waits less."""
    sweep(PRELOADED)
    watched = watch_of(options.alike, options.builds[0]) if options.builds is not None else None
    return Preloaded(options.builds or ("",), options.backends, watched=encode(watched).decode() if watched else "",
                     more=functools.partial(modules, options))


def modules(options: CampaignOptions, kinds: frozenset[str]) -> tuple[str, ...]:
    """What a process imports that is for backends of these kinds: what Inductor's subjects need, if any are wanted.

    Nothing where workers use a GPU: Inductor's modules look for devices when they are imported, and CUDA cannot be
    used in a fork of a process that has done so.
    """
    if "cuda" in kinds:
        return ()
    asked = [(target, subject) for target, subject, backend in wanted(options) if kind(backend) in kinds]
    found = OF_INDUCTOR if any(of_inductor(subject) for _, subject in asked) else ()
    return found + (OF_TORCH_COMPILE if any(by_torch_compile(target, subject) for target, subject in asked) else ())


@contextlib.contextmanager
def drivers(options: CampaignOptions, preloaded: contextlib.AbstractContextManager[Preloaded] | None = None,
            ) -> Iterator[concurrent.futures.Executor]:
    """The processes that run shards: local ones, or those of a dask cluster. preloaded: those of their workers, if they
    have been started; the context ends with the drivers."""
    if options.scheduler:
        try:
            from distributed import Client
        except ImportError:
            raise TridiffError("--scheduler needs dask.distributed", fix="pip install 'tridiff[cluster]'") from None
        with Client(options.scheduler) as client:
            yield client.get_executor(pure=False)
        return
    with (preloaded or preload(options) as shared,
          Processes(options.workers, _initialise, os.getpid(), str(shared.folder)) as processes):
        try:
            yield processes
        except BaseException:
            processes.kill()
            raise
    sweep(PREFIX)


def hand(executor: concurrent.futures.Executor, seconds: float | None, function: Callable[..., Result],
         *arguments: object, place: int | None = None) -> "concurrent.futures.Future[Result]":
    """Submit a job; a local process that is not done with it after so many seconds is killed. place: which of them is
    to run it; None: any."""
    if isinstance(executor, Processes):
        return executor.submit_within(seconds, function, *arguments, place=place)
    return executor.submit(function, *arguments)


@contextlib.contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Whether somebody told the campaign to end: Ctrl-C (SIGINT), SIGTERM or SIGHUP. As a flag: an exception may be
    raised, and lost, in the middle of anything. The second Ctrl-C is the exception, for whoever does not want to wait.
    Outside the main thread nobody asks."""
    asked = 0

    def told(number: int, frame: object) -> None:
        nonlocal asked
        asked += 1
        if number == signal.SIGINT and asked > 1:
            raise KeyboardInterrupt

    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before[number] = signal.signal(number, told)
    except ValueError:
        yield lambda: False
        return
    try:
        yield lambda: asked > 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Waiting(Protocol[Next]):
    """Jobs that wait, as a deque holds them."""

    def __len__(self) -> int: ...

    def popleft(self) -> Next: ...


def in_turn(waiting: Waiting[Job], start: Callable[[Job], concurrent.futures.Future[Result]], *, at_once: int,
            asked: Callable[[], bool], stop: Callable[[], None], force: Callable[[], None] = lambda: None,
            take: Callable[[int], Job] | None = None,
            ) -> Iterator[list[tuple[Job, concurrent.futures.Future[Result]]]]:
    """Start the waiting jobs, at most `at_once` together, and yield those that ended: at least every half second,
    none maybe; whoever takes them may put jobs back into `waiting`. Once `asked` is true, `stop` is called, what runs
    may end within PATIENCE seconds, after which `force` is called, and nothing more is started. take: what takes the
    next job out of `waiting`, given which of the `at_once` places is free for it; the leftmost one otherwise.

    A job whose process is gone ends with an error as every other one."""
    running: dict[concurrent.futures.Future[Result], tuple[Job, int]] = {}
    places = list(range(at_once))
    stopped: float | None = None
    forced = False
    while running or (waiting and stopped is None):
        if asked() and stopped is None:
            stopped = time.monotonic()
            stop()
            for future in list(running):
                if future.cancel():
                    places.append(running.pop(future)[1])
        if stopped is not None and not forced and time.monotonic() > stopped + PATIENCE:
            forced = True
            force()
        while waiting and stopped is None and len(running) < at_once:
            place = places.pop(0)
            job = waiting.popleft() if take is None else take(place)
            running[start(job)] = job, place
        done = concurrent.futures.wait(running, timeout=0.5 if stopped is None else 0.1,
                                       return_when=concurrent.futures.FIRST_COMPLETED).done
        ended = [(*running.pop(future), future) for future in done]
        places += [place for _, place, _ in ended]
        yield [(job, future) for job, _, future in ended]


def force_of(executor: concurrent.futures.Executor) -> Callable[[], None]:
    """What ends the jobs of local processes that do not end by themselves."""
    return executor.kill if isinstance(executor, Processes) else lambda: None


def lost(future: "concurrent.futures.Future[Result]") -> bool:
    """Whether a job that ended was cut off, and not brought to an end of its own."""
    return isinstance(future.exception(), JobLost)
