"""When this command began: what a person waits for begins with the process, not with the first line of its program."""

import contextlib
import os
import time

LATEST = 3600.0
"""Seconds; a process that looks older than that when its command begins is none of one command."""

_began: float | None = None


def command_began() -> None:
    """Said once, by the entry point, before anything is imported that takes long."""
    global _began
    _began = time.monotonic() - _age()


def moment() -> float:
    """The moment (monotonic) at which the command began; now, where the command is not the whole process."""
    return time.monotonic() if _began is None else _began


def _age() -> float:
    """Seconds since this process was started, by Linux' account; 0 where nobody says."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/stat") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
        if ticks and 0 <= age <= LATEST:
            return age
    return 0.0
