"""Planted faults of the generator are found, and their counterexamples shrink to a handful of nodes and elements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.programs.mutation_report import hunt, table
from fuzz.workers.pool import Pool, PoolOptions


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    cache: Path = tmp_path_factory.mktemp("triton")
    one = Pool(PoolOptions(backend="interpreter", cache_directory=str(cache), spare=False))
    yield one
    one.close()


@pytest.mark.parametrize("fault, nodes, elements", [
    ("tie_to_larger_index", 4, 2), ("wrong_tree_mask", 2, 3), ("all_is_any", 4, 2)])
def test_minima(fault: str, nodes: int, elements: int, pool: Pool) -> None:
    found = hunt(fault, pool, backend="interpreter", seconds=300, least_nodes=20)
    assert found.killed and found.from_nodes >= 20
    assert (found.nodes, found.elements) <= (nodes, elements), table([found], title="minimum")
