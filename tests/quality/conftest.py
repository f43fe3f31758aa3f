"""Campaigns of these tests run their shards in the test's own process."""

from collections.abc import Iterator

import pytest

from tridiff.fuzz.campaign import shard


@pytest.fixture(scope="module", autouse=True)
def one_pool() -> Iterator[None]:
    """All shards of a file share one worker."""
    yield
    shard.close_pools()
