"""Tests of the device are skipped, with the reason, where there is none; those for nights are counted at the end; the
tests of a file run on one worker of xdist."""

import compileall
import gc
import os
import sys
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.support import shared_imports
from tridiff.fuzz.backends.available import gpu_count

# The same draws in every run: what a run of the suite draws anew is for campaigns to find. Hypothesis also draws
# constants of the modules that are imported, which differ with the order in which pytest-xdist hands out the tests.
# No test times itself: a busy machine must not fail one.
settings.register_profile("tests", derandomize=True, database=None, deadline=None)
settings.load_profile("tests")
if hasattr(providers, "_get_local_constants"):
    NO_CONSTANTS = Constants()
    providers._get_local_constants = lambda: NO_CONSTANTS


FOR_NIGHTS = pytest.StashKey[int]()
"""How many of the collected tests have the marker nightly."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than ten seconds")
    config.addinivalue_line("markers", f"{shared_imports.MARKER}: pools import torch and Triton for themselves")
    shared_imports.install()
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        # Hundreds of processes of these tests would compile the same files, each for itself.
        for folder in ("fuzz", "kernels", "oracles", "tests"):
            compileall.compile_dir(config.rootpath / folder, quiet=2, workers=0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    shared_imports.shared = item.get_closest_marker(shared_imports.MARKER) is None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Before -m takes them away.
    config.stash[FOR_NIGHTS] = sum(item.get_closest_marker("nightly") is not None for item in items)
    # Their files first, so that no worker of xdist ends with one of them while the others have nothing left.
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and gpu_count() == 0:
        reason = pytest.mark.skip(reason="no NVIDIA GPU that the installed torch can use")
        for item in wanting:
            item.add_marker(reason)


def pytest_collection_finish() -> None:
    # Collecting garbage, as much here asks for, need not go through all that has been imported.
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:  # a worker of xdist, which collects for the others
        output["for nights"] = session.config.stash.get(FOR_NIGHTS, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    counted = getattr(node, "workeroutput", {}).get("for nights", 0)  # by each worker; none by one that died
    node.config.stash[FOR_NIGHTS] = max(counted, node.config.stash.get(FOR_NIGHTS, 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    count = config.stash.get(FOR_NIGHTS, 0)
    if count and config.option.markexpr == "not nightly":
        terminalreporter.line(f"not run: {count} tests with the marker nightly, which ask the same of more seeds, "
                              "types and combinations: python -m pytest -n auto -m nightly")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """`-n auto`: two workers more than there are cores. Tests of campaigns, pools and killed processes mostly wait, for
    a fifth of the cores' time where each core has one worker."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else len(os.sched_getaffinity(0)) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """As `-n` alone distributes, but by files: what the tests of one share is then made in one worker only, be it a
    child process that runs checks, a fixture of the module or draws that are kept."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling

    # Files with slow tests come first, not those with many.
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)
