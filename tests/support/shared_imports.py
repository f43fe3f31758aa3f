"""Zygotes of this process's pools, and of campaigns that it runs, are forked by one process for each of Triton's
modes, which has imported for all. So are the processes that run trials and those that write scripts.

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
from pathlib import Path
from typing import Any

from tridiff.fuzz.backends import FOR_CHIPS, kind
from tridiff.fuzz.blame.laboratory import Laboratory
from tridiff.fuzz.campaign import drivers
from tridiff.fuzz.campaign.drivers import modules
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.repro import script
from tridiff.fuzz.repro.request import Candidates, Request
from tridiff.fuzz.workers.forks import Forks
from tridiff.fuzz.workers.preloaded import Preloaded, Zygote
from tridiff.fuzz.workers.zygote import OF_INDUCTOR

MARKER = "own_zygote"

shared = True
"""Whether the present test shares."""

_start = Forks._start
_preload = drivers.preload
_trials_forked = Laboratory._forked
_ask = script._ask


def _variables() -> dict[str, str]:
    # The last one torch sets by itself, and a worker in its own way.
    return {name: value for name, value in os.environ.items()
            if not name.startswith("PYTEST_") and name != "TORCHINDUCTOR_CACHE_DIR"}


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


def _trials_forked_shared(self: Laboratory, interpreted: bool, folder: Path) -> Zygote | None:
    if self._preloaded is not None or self._build is not None or not shared or _variables() != _AT_FIRST:
        return _trials_forked(self, interpreted, folder)
    self._preloaded = _preloaded(interpreted).folder
    try:
        return _trials_forked(self, interpreted, folder)
    finally:
        self._preloaded = None


def _ask_shared(request: Request, **given: Any) -> Candidates:
    if shared and _variables() == _AT_FIRST and not given.get("preloaded"):
        given["preloaded"] = _preloaded(False).folder
    return _ask(request, **given)


def install() -> None:
    """From now on."""
    Laboratory._forked = _trials_forked_shared
    script._ask = _ask_shared
    Forks._start = _start_shared
    drivers.preload = _preload_shared
