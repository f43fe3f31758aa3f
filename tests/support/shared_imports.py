"""Zygotes of this process's pools, and of campaigns that it runs, are forked by one process for each of Triton's
modes, which has imported for all.

A pool of its own then costs a test milliseconds and not seconds of a core.

Not for tests with the marker `own_zygote`, which kill zygotes or look at how they are started, nor where a test has
changed environment variables, which a zygote of its own would see.
"""

import atexit
import concurrent.futures
import contextlib
import functools
import os
import threading
from dataclasses import replace

from tridiff.fuzz.backends import FOR_CHIPS, kind
from tridiff.fuzz.campaign import drivers
from tridiff.fuzz.campaign.drivers import modules
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.workers.forks import Forks
from tridiff.fuzz.workers.preloaded import Preloaded
from tridiff.fuzz.workers.zygote import OF_INDUCTOR

MARKER = "own_zygote"

shared = True
"""Whether the present test shares."""

_start = Forks._start
_preload = drivers.preload


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


# Beside other tests, more threads of torch's than one wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
_AT_FIRST = _variables()


_starting = concurrent.futures.ThreadPoolExecutor(1)
"""A thread that stays to the end: Linux ends such a process with the thread that started it, and pools are also made in
threads that soon are over."""


_asking = threading.Lock()


def _preloaded(interpreted: bool) -> Preloaded:
    with _asking:
        return _started(interpreted)


@functools.cache
def _started(interpreted: bool) -> Preloaded:
    made = _starting.submit(Preloaded, ("",), ("interpreter" if interpreted else "compile:sm_90",)).result()
    atexit.register(made.__exit__)
    return made


def _start_shared(self: Forks) -> object:
    options = self._options
    if shared and not options.preloaded and not options.build and _variables() == _AT_FIRST:
        folder = _preloaded(kind(options.backend) == "interpreter").folder
        self._options = replace(options, preloaded=str(folder))
    return _start(self)


def _preload_shared(options: CampaignOptions) -> contextlib.AbstractContextManager[Preloaded]:
    kinds = frozenset(map(kind, options.backends))
    # Few of these campaigns come to a subject of Inductor's, whose modules their worker then imports.
    if (shared and kinds and (kinds == {"interpreter"} or kinds <= {*FOR_CHIPS}) and options.builds is None
            and _variables() == _AT_FIRST and set(modules(options, kinds)) <= {*OF_INDUCTOR}):
        return contextlib.nullcontext(_preloaded(kinds == {"interpreter"}))
    return _preload(options)


def install() -> None:
    """From now on."""
    Forks._start = _start_shared  # type: ignore[assignment, method-assign]
    drivers.preload = _preload_shared  # type: ignore[assignment]
