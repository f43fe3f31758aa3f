"""Markers: tests of the device are skipped, with the reason, where there is none."""

from __future__ import annotations

import pytest

from tridiff.fuzz.backends.available import gpu_count


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than ten seconds")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and gpu_count() == 0:
        reason = pytest.mark.skip(reason="no NVIDIA GPU that the installed torch can use")
        for item in wanting:
            item.add_marker(reason)
