"""What compilations leave on disk, and its deletion: a night's fuzzing would fill it."""

import shutil
from collections import deque
from pathlib import Path
from typing import Any

KEPT_ON_DEVICE = 64
"""Compiled kernels that a worker on a GPU leaves on disk for the others, some ten megabytes. It holds its own in
memory, but a kernel that was written by hand is wanted by every worker soon after the first."""


class Artefacts:
    """Notes the folder of every compilation of this process, in front of whoever listened before.

    kept: folders that stay; the oldest ones go first.
    """

    def __init__(self, *, kept: int) -> None:
        import triton

        self._kept = kept
        self._folders: deque[Path] = deque()
        self._before = triton.knobs.compilation.listener
        triton.knobs.compilation.listener = self._listen

    def _listen(self, *, metadata_group: dict[str, Any] | None = None, cache_hit: bool = False, **rest: Any) -> None:
        for path in (metadata_group or {}).values():
            self._folders.append(Path(str(path)).parent)
            break
        if self._before is not None:
            self._before(metadata_group=metadata_group, cache_hit=cache_hit, **rest)

    def sweep(self) -> None:
        """Delete all but the latest; between cases only, since launches read what was compiled."""
        while len(self._folders) > self._kept:
            shutil.rmtree(self._folders.popleft(), ignore_errors=True)
