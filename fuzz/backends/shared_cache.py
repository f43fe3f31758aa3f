"""The workers of a campaign compile into one folder, and each deletes what it compiled once its case is over.

Two that compile the same kernel at the same time write the same files, and the first to finish takes them from under
the other. The other one's kernel is not at fault: it is compiled again.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import triton

T = TypeVar("T")

ATTEMPTS = 5
"""Nothing but chance makes two workers meet, so one more attempt is nearly always enough."""


def compiled_again_if_swept(compile_now: Callable[[], T]) -> T:
    """What `compile_now` returns; called again when a file of Triton's cache is gone. Other errors pass."""
    for _ in range(ATTEMPTS - 1):
        try:
            return compile_now()
        except FileNotFoundError as error:
            if not _in_cache(error.filename):
                raise
    return compile_now()


def _in_cache(name: object) -> bool:
    return isinstance(name, str) and Path(triton.knobs.cache.dir).resolve() in Path(name).resolve().parents
