"""Pictures of errors, where matplotlib is installed; one clear line where it is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from fuzz.errors import TridiffError
from fuzz.sweep.pictures import draw
from tests.unit.sweep.records import record, result


def test_one_sheet_per_type_of_what_has_errors(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pip install 'tridiff[plots]'")
    many = [result(f"op{n}", ulps=0.6 + n / 10) for n in range(8)]
    written = draw(record(*many, result("exp", dtype="bf16", ulps=1.5), replace(result("floor"), profile=())), tmp_path)
    assert [path.name for path in written] == ["error-fp16.png", "error-bf16.png"]
    for path in written:
        assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size < 60_000


def test_without_matplotlib_the_message_says_what_to_install(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(TridiffError, match=r"pip install 'tridiff\[plots\]'"):
        draw(record(result("exp", ulps=0.6)), tmp_path)
