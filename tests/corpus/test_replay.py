"""Every committed corpus entry, replayed on every backend that it names and this machine has: one pytest item each.

    pytest tests/corpus -n 2

A file that cannot be read fails. An entry without an expectation for the installed Triton is skipped with what
was seen, and so is one whose backend this machine lacks.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.committed import committed_corpus
from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.campaign.replay import plan, replay_one
from tridiff.fuzz.corpus import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.workers.pool import Pool, PoolOptions

ROOT = committed_corpus(Path(__file__).resolve().parents[2])

READS_OF_FREED_MEMORY = {"sigsegv-cbe2bc56d1": 5}
"""Entries that die only if the heap of the compiler's process holds the wrong thing, and how often each is tried."""


def _items() -> list[object]:
    items: list[object] = []
    corpus = Corpus(ROOT)
    try:
        files = list(corpus.files())
    except TridiffError:
        return []
    for path, found in files:
        name = str(path.relative_to(ROOT)).removesuffix(".json")
        if isinstance(found, TridiffError):
            items.append(pytest.param(found, "", "", id=name))
            continue
        backends = tuple(sorted({one.backend for one in found.expected}))
        for subject, backend in plan(found, backends=backends) or ((found.signature.subject, ""),):
            items.append(pytest.param(found, subject, backend, id=f"{name}-{subject}-{backend}"))
    return items


@pytest.fixture(scope="session")
def pools() -> Iterator[dict[str, Pool]]:
    """One pool per kind of backend, started at its first use."""
    started: dict[str, Pool] = {}
    yield started
    for pool in started.values():
        pool.close()


ITEMS = _items()


def test_the_corpus_was_found():
    """Zero items must come from a corpus that has no entry yet, not from one that was not found."""
    assert ROOT.is_dir(), f"no corpus folder at {ROOT}: run the tests from a checkout"
    files = [path for path in ROOT.rglob("*.json") if not path.name.startswith(".")]
    if not files:
        pytest.skip("the corpus has no entry yet")
    assert len(ITEMS) >= len(files), f"{len(files)} files in {ROOT}, but only {len(ITEMS)} items"


@pytest.mark.parametrize("entry, subject, backend", ITEMS)
def test_entry(entry: CorpusEntry | TridiffError, subject: str, backend: str, pools: dict[str, Pool]):
    if isinstance(entry, TridiffError):
        pytest.fail(str(entry), pytrace=False)
    if not backend:
        pytest.fail(f"{entry.id} expects nothing on any backend; record a verdict", pytrace=False)
    if backend not in available_backends():
        pytest.skip(f"this machine has no {backend}")

    def runner(name: str) -> Pool:
        return pools.setdefault(kind(name), pools.get(kind(name)) or Pool(PoolOptions(backend=name, spare=False)))

    for _ in range(READS_OF_FREED_MEMORY.get(entry.id, 1)):
        result = replay_one(entry, subject=subject, backend=backend, runner=runner)
        if result.status != "changed":
            break
    if result.status == "new_information":
        pytest.skip(f"Triton {result.triton}: {result.reason}")
    if result.status == "not_checked":
        pytest.skip(result.reason)
    assert result.ok, f"{result.status}: {result.reason}"
