"""A kernel whose files another worker deleted is compiled again; every other missing file is an error."""

from pathlib import Path

import pytest
import triton

from tridiff.fuzz.backends.shared_cache import ATTEMPTS, compiled_again_if_swept


def _missing(path: Path, times: int) -> list[int]:
    """Calls made until `path` is found, at most."""
    calls: list[int] = []

    def compile_now() -> int:
        calls.append(len(calls))
        if len(calls) <= times:
            path.read_text()
        return len(calls)

    assert compiled_again_if_swept(compile_now) == len(calls)
    return calls


def test_a_kernel_swept_by_another_worker_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))
    assert len(_missing(tmp_path / "KEY" / "kernel.source", times=1)) == 2
    assert len(_missing(tmp_path / "KEY" / "kernel.source", times=0)) == 1
    with pytest.raises(FileNotFoundError):
        _missing(tmp_path / "KEY" / "kernel.source", times=ATTEMPTS)


def test_a_file_missing_elsewhere_is_an_error_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError):
        _missing(tmp_path / "other" / "kernel.source", times=1)
