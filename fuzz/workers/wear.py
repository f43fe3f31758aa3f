"""When a process has become so worn that a new one is better."""

from pathlib import Path

from tridiff.fuzz.records import Outcome

RETIRE_AFTER = 1500
"""Kernels built, or cases that built none, before a worker is replaced. Loaded modules are never unloaded and would
fill the GPU; a case leaves some 28 KB behind in the process (reports/attack.md), one that is interpreted too."""

LOOK_EACH = 25
"""Of these, between two looks at its memory."""

MOST_GROWTH = 16 << 20
"""Bytes by which the memory that it shares with nobody may grow from the first look on: what compilers and their
bindings leave behind differs from kernel to kernel, and no number of them bounds it. Ten workers of two drivers grow in
step: this, ten times, is how far the memory of a campaign on two cores goes up and down."""

ON_DEVICE = 128 << 20
"""The same for a worker with a device, whose driver keeps much here, and whose start costs seconds."""

STEP = 12 << 20
"""Growth from one look to the next that is no wear: something was imported, or initialised for the first time."""

_ROLLUP = Path("/proc/self/smaps_rollup")


def held() -> int:
    """Bytes that this process shares with no other; 0 where the system does not say."""
    try:
        lines = _ROLLUP.read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_"))


class Growth:
    """How much larger than at the first look a process is. most: bytes."""

    def __init__(self, most: int = MOST_GROWTH) -> None:
        self._most = most
        self._first = self._last = 0

    def look(self) -> bool:
        """Whether it has grown by more than it may."""
        now = held()
        if not self._last:
            self._first = now
        elif now > self._last + STEP:
            self._first += now - self._last
        self._last = now
        return now > self._first + self._most


class Wear:
    """Counts what one worker has run, and looks at its memory now and then. most_growth: bytes."""

    def __init__(self, most_growth: int = MOST_GROWTH) -> None:
        self._growth = Growth(most_growth)
        self.worn = 0
        """Kernels built, and cases that built none."""
        self._look_at = LOOK_EACH

    def spent(self, outcome: Outcome) -> bool:
        """Whether the worker is to be replaced after one more case."""
        self.worn += max(outcome.compiled_kernels, 1)
        if self.worn >= RETIRE_AFTER:
            return True
        if self.worn < self._look_at:
            return False
        self._look_at = self.worn + LOOK_EACH
        return self._growth.look()
