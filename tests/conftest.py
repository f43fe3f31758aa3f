"""Tests of the device are skipped, with the reason, where there is none; the tests of a file run on one worker of
xdist."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.support import shared_imports
from tridiff.fuzz.backends.available import gpu_count

# The same draws in every run: what a run of the suite draws anew is for campaigns to find. Hypothesis also draws
# constants of the modules that are imported, which differ with the order in which pytest-xdist hands out the tests.
settings.register_profile("tests", derandomize=True, database=None)
settings.load_profile("tests")
if hasattr(providers, "_get_local_constants"):
    NO_CONSTANTS = Constants()
    providers._get_local_constants = lambda: NO_CONSTANTS


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than ten seconds")
    config.addinivalue_line("markers", f"{shared_imports.MARKER}: pools import torch and Triton for themselves")
    shared_imports.install()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    shared_imports.shared = item.get_closest_marker(shared_imports.MARKER) is None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Their files first, so that no worker of xdist ends with one of them while the others have nothing left.
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and gpu_count() == 0:
        reason = pytest.mark.skip(reason="no NVIDIA GPU that the installed torch can use")
        for item in wanting:
            item.add_marker(reason)


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
