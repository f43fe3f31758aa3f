"""Compilers write into memory while a campaign runs, and nothing stays there afterwards."""

from pathlib import Path

import pytest

from tridiff.fuzz.campaign import cache


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setattr(cache, "MEMORY", folder)
    monkeypatch.setattr(cache, "ROOM", 0)
    return folder


def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


def test_the_cache_lies_in_memory_and_is_gone_afterwards(tmp_path: Path, memory: Path):
    folder = state(tmp_path)
    with cache.cache_in_memory(folder):
        (folder / "cache" / "kernel").write_text("x")
        assert [path.name for path in memory.glob("*/kernel")] == ["kernel"]
    assert list(memory.iterdir()) == [] and not (folder / "cache").is_symlink()


def test_an_interrupted_campaign_starts_over_in_memory(tmp_path: Path, memory: Path):
    folder = state(tmp_path)
    dead = memory / "tridiff-cache-999999999-abc"
    dead.mkdir()
    (folder / "cache").symlink_to(dead)
    with cache.cache_in_memory(folder):
        assert not dead.exists()
        assert (folder / "cache").is_dir()


def test_without_room_the_disk_serves(tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cache, "ROOM", 1 << 60)
    folder = state(tmp_path)
    with cache.cache_in_memory(folder):
        (folder / "cache").mkdir()
    assert (folder / "cache").is_dir() and list(memory.iterdir()) == []


def test_a_cache_already_on_disk_stays_there(tmp_path: Path, memory: Path):
    folder = state(tmp_path)
    (folder / "cache").mkdir()
    (folder / "cache" / "kept").touch()
    with cache.cache_in_memory(folder):
        pass
    assert (folder / "cache" / "kept").exists()
