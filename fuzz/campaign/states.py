"""The state folders that campaigns leave: which there are, and how old ones are removed."""

import contextlib
import fcntl
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from tridiff.fuzz.campaign.store import read_counts
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records.codec import printable

LOCK = "lock"
"""In a state folder; whoever runs the campaign holds a lock on it (flock), which ends with the process."""

Condition = Literal["running", "finished", "interrupted"]


@dataclass(frozen=True, kw_only=True)
class State:
    """The state folder of one campaign. started: seconds since 1970. cases: number of cases that were run. findings:
    number of new findings. size: bytes on disk."""

    id: str
    path: Path
    started: float
    condition: Condition
    cases: int
    findings: int
    size: int


def states(root: Path) -> list[State]:
    """All campaigns with a plan below `root`, oldest first. Folders that are links are none."""
    if not root.is_dir():
        return []
    found = [path for path in root.iterdir() if not path.is_symlink() and (path / "plan.json").is_file()]
    return sorted(map(_state, found), key=lambda one: (one.started, one.id))


def _state(path: Path) -> State:
    with _owned(path) as owned:
        condition: Condition = ("running" if not owned else "finished" if (path / "finished").exists() else
                                "interrupted")
    return State(id=path.name, path=path, started=(path / "plan.json").stat().st_mtime, condition=condition,
                 cases=sum(map(_cases, sorted(path.glob("shard-*.sqlite")))),
                 findings=len(list((path / "findings").glob("*.json"))), size=_size(path))


def is_running(path: Path) -> bool:
    """Whether a process runs the campaign of this state folder."""
    with _owned(path) as owned:
        return not owned and (path / "plan.json").is_file()


@contextlib.contextmanager
def _owned(path: Path, *, create: bool = False) -> Iterator[bool]:
    """Whether nobody runs the campaign of this folder; if so, nobody begins to while the block lasts.
    create: make the file to lock where there is none; else whoever begins now is not seen."""
    try:
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        descriptor = os.open(path / LOCK, flags, 0o644)
    except OSError:
        # Without a file to lock, or one that may be opened, nobody runs it.
        yield True
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


def _cases(path: Path) -> int:
    with contextlib.suppress(sqlite3.Error, msgspec.MsgspecError):
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            return read_counts(database).executed
        finally:
            database.close()
    return 0


def _size(folder: Path) -> int:
    """Bytes on disk of everything in a folder; links count as themselves."""
    total = 0
    for inside, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(inside, name)).st_blocks * 512
    return total


def chosen(found: list[State], *, names: tuple[str, ...] = (), older_than: float | None = None) -> list[State]:
    """The campaigns to remove: those in `names`; without names, those that began more than `older_than` seconds ago and
    are not running; without either, the finished ones. TridiffError for an unknown name and for a running campaign."""
    by_name = {one.id: one for one in found}
    for name in names:
        if name not in by_name:
            raise TridiffError(f"no campaign {printable(name, limit=100)}", fix="see `tridiff campaigns`")
        if by_name[name].condition == "running":
            raise TridiffError(f"campaign {name} is running", fix="stop it first, with Ctrl-C or SIGTERM")
    if names:
        return [by_name[name] for name in dict.fromkeys(names)]
    if older_than is not None:
        return [one for one in found if one.condition != "running" and time.time() - one.started > older_than]
    return [one for one in found if one.condition == "finished"]


def remove(state: State) -> bool:
    """Remove a campaign's folder; False if it has begun to run meanwhile. TridiffError where that is not allowed."""
    with _owned(state.path, create=True) as owned:
        if not owned:
            return False
        # Out of the way first: half a folder is no campaign.
        aside = state.path.with_name(f".removed-{os.getpid()}-{state.id}")
        try:
            state.path.rename(aside)
            shutil.rmtree(aside)
        except OSError as error:
            raise TridiffError(f"{state.path} cannot be removed ({error.strerror})", fix="remove it by hand") from None
    return True
