"""The processes that run a campaign's shards, what is handed to them one after another, and Ctrl-C."""

import concurrent.futures
import contextlib
import multiprocessing
import multiprocessing.util
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeVar

from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.campaign.shard import close_pools
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.workers.zygote import die_with_parent, ignore_ends

Job = TypeVar("Job")
Result = TypeVar("Result")


def _initialise(parent: int) -> None:
    """In every local driver process: Ctrl-C is the parent's business, and nobody outlives it."""
    die_with_parent(parent)
    ignore_ends()
    multiprocessing.util.Finalize(None, close_pools, exitpriority=10)


@contextlib.contextmanager
def drivers(options: CampaignOptions) -> Iterator[concurrent.futures.Executor]:
    """The processes that run shards: local ones, or those of a dask cluster."""
    if options.scheduler:
        try:
            from distributed import Client
        except ImportError:
            raise TridiffError("--scheduler needs dask.distributed", fix="pip install 'tridiff[cluster]'") from None
        with Client(options.scheduler) as client:
            yield client.get_executor(pure=False)
        return
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.workers, mp_context=context, initializer=_initialise,
                                                initargs=(os.getpid(),)) as pool:
        yield pool


@contextlib.contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed. As a flag: an exception may be raised, and lost, in the middle of anything. The
    second time it is the exception, for whoever does not want to wait. Outside the main thread nobody asks."""
    times = 0

    def pressed(number: int, frame: object) -> None:
        nonlocal times
        times += 1
        if times > 1:
            raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGINT, pressed)
    except ValueError:
        yield lambda: False
        return
    try:
        yield lambda: times > 0
    finally:
        signal.signal(signal.SIGINT, before)


def in_turn(waiting: deque[Job], start: Callable[[Job], concurrent.futures.Future[Result]], *, at_once: int,
            asked: Callable[[], bool], stop: Callable[[], None],
            ) -> Iterator[list[tuple[Job, concurrent.futures.Future[Result]]]]:
    """Start the waiting jobs, at most `at_once` together, and yield those that ended: at least every half second,
    none maybe. Once `asked` is true, `stop` is called, what runs may end and nothing more is started.

    A job whose processes are gone ends with their error as every other one."""
    running: dict[concurrent.futures.Future[Result], Job] = {}
    stopped = False
    while running or (waiting and not stopped):
        if asked() and not stopped:
            stopped = True
            stop()
            for future in list(running):
                if future.cancel():
                    del running[future]
        while waiting and not stopped and len(running) < at_once:
            job = waiting.popleft()
            try:
                future = start(job)
            except concurrent.futures.BrokenExecutor as error:
                future = concurrent.futures.Future()
                future.set_exception(error)
            running[future] = job
        done = concurrent.futures.wait(running, timeout=0.5, return_when=concurrent.futures.FIRST_COMPLETED).done
        yield [(running.pop(future), future) for future in done]
