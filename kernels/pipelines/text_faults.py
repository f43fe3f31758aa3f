"""Broken kernels where a kernel is written as text at once: one pattern is replaced everywhere."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tridiff.kernels.pipelines.faults import NotApplicable

Writer = Callable[..., str]
COUNTED = {
    "missing_wait": (r"mbarrier\.wait\(.*", "pass"),
    "wrong_phase": (r"\) & 1", ") & 1 ^ 1"),
    "expect_half_the_bytes": (r"(expect\(.*), (\d+)\)", r"\1, \2 // 2)"),
    "expect_twice_the_bytes": (r"(expect\(.*), (\d+)\)", r"\1, \2 * 2)"),
}
"""Faults of whatever is counted in bytes on an mbarrier."""


def planted(writer: Writer, **more: tuple[str, str]) -> Mapping[str, Writer]:
    """Broken variants of a writer: COUNTED, and `more` as (pattern, replacement). NotApplicable without a place."""

    def broken(pattern: str, other: str) -> Writer:
        def write(*given: Any) -> str:
            text, times = re.subn(pattern, other, writer(*given))
            if not times:
                raise NotApplicable("the kernel has no place for this fault")
            return text

        return write

    return {name: broken(*change) for name, change in {**COUNTED, **more}.items()}
