"""What the compiler or a kernel said on the error output: exceptions only say that a pass or a launch failed."""

import os
import re

MAX_BYTES = 1 << 20
"""How much of what was said is looked at; it may contain the whole module."""

_ASSERTION = re.compile(r"Assertion `.*' failed")
ON_DEVICE = re.compile(r"thread: \[\d+,\d+,\d+\] Assertion `(.*)` failed")
"""What the driver says of an assertion that failed in a kernel."""
_ERROR = re.compile(r"\b(?:error|LLVM ERROR): (.*)")


class Diagnostics:
    """Listens from its making on. Only works where the error output is a file, as it is in a worker."""

    def __init__(self) -> None:
        self._start = self._size()

    def _size(self) -> int:
        try:
            return os.fstat(2).st_size
        except OSError:
            return 0

    def first(self) -> str:
        """The first failed assertion, else the first error; "" if there was none."""
        text = self._text()
        for pattern in (_ASSERTION, _ERROR):
            found = pattern.search(text)
            if found:
                return found[found.re.groups].strip()
        return ""

    def asserted(self) -> str:
        """The text of the first assertion that failed in a kernel; "" if none is known."""
        found = ON_DEVICE.search(self._text())
        return found[1].strip() if found else ""

    def _text(self) -> str:
        if self._size() <= self._start:
            return ""
        try:
            with open("/proc/self/fd/2", "rb") as log:
                log.seek(self._start)
                return log.read(MAX_BYTES).decode(errors="replace")
        except OSError:
            return ""
