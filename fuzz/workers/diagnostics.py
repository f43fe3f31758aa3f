"""What the compiler said on the error output before it raised: exceptions only say that a pass failed."""

import os
import re

MAX_BYTES = 1 << 20
"""How much of what was said is looked at; it may contain the whole module."""

_ASSERTION = re.compile(r"Assertion `.*' failed")
_ERROR = re.compile(r"\berror: (.*)")


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

    def _text(self) -> str:
        if self._size() <= self._start:
            return ""
        try:
            with open("/proc/self/fd/2", "rb") as log:
                log.seek(self._start)
                return log.read(MAX_BYTES).decode(errors="replace")
        except OSError:
            return ""
