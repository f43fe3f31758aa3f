"""Records as folders: which ones there are below `reports`, and of what."""

import contextlib
from pathlib import Path
from typing import Literal

CAMPAIGN, GATE = "summary.json", "gate.json"
"""The file that makes a folder a record of this kind."""

Kind = Literal["campaign", "gate"]


def kind_of(folder: Path) -> Kind | None:
    """What left the record in a folder; None if it is none."""
    if (folder / GATE).is_file():
        return "gate"
    return "campaign" if (folder / CAMPAIGN).is_file() else None


def newest(reports: Path, *, of: tuple[Kind, ...] = ("campaign", "gate")) -> Path | None:
    """The record of some kinds below `reports` that was written last; None where there is none. Links are not
    followed."""
    folders: list[Path] = []
    with contextlib.suppress(OSError):
        folders = [path for path in reports.iterdir() if path.is_dir() and not path.is_symlink()]
    found = [(max(path.stat().st_mtime_ns for one in (CAMPAIGN, GATE) if (path := folder / one).is_file()), folder)
             for folder in folders if kind_of(folder) in of]
    return max(found)[1] if found else None
