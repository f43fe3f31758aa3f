"""Markers: tests of the device are skipped, with the reason, where there is none; what shares a child process shares a
worker."""

from __future__ import annotations

import pytest

from tests.support.in_subprocess import checks_of
from tridiff.fuzz.backends.available import gpu_count


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than ten seconds")
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "loadgroup"  # as `-n auto` alone would distribute, but for groups
    if hasattr(config, "workerinput"):
        config.option.loadgroup = True  # a worker of xdist reads the command line, where it does not stand


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and gpu_count() == 0:
        reason = pytest.mark.skip(reason="no NVIDIA GPU that the installed torch can use")
        for item in wanting:
            item.add_marker(reason)
    for item in items:
        checks = checks_of(item)
        if checks is not None:
            # Every worker that has one check of a file runs the whole file.
            item.add_marker(pytest.mark.xdist_group(str(checks.path)))
