"""Temporary folders that outlive nobody: each is locked by the process that made it, and whoever comes next removes
those whose maker is gone, however it ended."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path


class OwnFolder:
    """A new folder `PREFIX<process number>-...` under `where` (the system's temporary folder if None), locked for as
    long as this process lives and does not `remove` it. Raises OSError when it cannot be made."""

    def __init__(self, prefix: str, *, where: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=where))
        self._lock: int | None = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with contextlib.suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Delete the folder with all that is in it; what cannot be deleted stays for the next sweep."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep(prefix: str, *, where: Path | None = None) -> int:
    """Remove this user's folders `PREFIX...` whose maker is gone; returns how many."""
    removed = 0
    for folder in Path(where or tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if status.st_uid != os.getuid() or _alive(folder.name.removeprefix(prefix).partition("-")[0]):
                continue
            # Two containers may share the folder, but not their process numbers: the lock is what counts.
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
            finally:
                os.close(lock)
    return removed


def _alive(pid: str) -> bool:
    return pid.isdigit() and Path(f"/proc/{pid}").exists()
