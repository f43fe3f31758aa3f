"""Addresses of local sockets, however long the path of their folder is."""

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def short(path: str) -> Iterator[str]:
    """The name of a socket at `path` in at most 108 bytes, which is what the kernel takes for one (unix(7)).

    The folder is named by a descriptor of this process, so that the name is good inside the block only."""
    folder, name = os.path.split(path)
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)
