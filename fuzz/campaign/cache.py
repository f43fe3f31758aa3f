"""Where a campaign's compilers write: into memory, where the machine has room for it there.

Triton writes about eight files per kernel and reads them back at once; a campaign deletes them soon after. On a
disk that costs more than some of the compiler's own passes. `state/cache` is a link into memory while the campaign
runs, so that every driver process finds it without being told.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from tridiff.fuzz.workers.leftovers import OwnFolder, sweep

MEMORY = Path("/dev/shm")

ROOM = 2 << 30
"""Bytes that must be free in memory; a campaign's workers hold some ten megabytes each at a time."""

_PREFIX = "tridiff-cache-"


@contextlib.contextmanager
def cache_in_memory(state: Path) -> Iterator[None]:
    """Make `state/cache` a folder in memory for the time of the block; an ordinary folder where there is no room."""
    link = state / "cache"
    folder = None
    with contextlib.suppress(OSError):
        sweep(_PREFIX, where=MEMORY)
        if shutil.disk_usage(MEMORY).free >= ROOM and os.access(MEMORY, os.W_OK):
            if link.is_symlink():
                link.unlink()
            if not link.exists():
                folder = OwnFolder(_PREFIX, where=MEMORY)
                link.symlink_to(folder.path)
    try:
        yield
    finally:
        if folder is not None:
            with contextlib.suppress(OSError):
                link.unlink()
            folder.remove()
