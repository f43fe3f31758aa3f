"""Faults planted in the text of calls that read and write memory: what a compiler that is wrong might make of it."""

import re

_MOVED = re.compile(r"^plain = (\w+ \+ program \* \w+) \+ (.+)$", re.MULTILINE)
_BEHIND = re.compile(r"^cast = cast \+ (.+)$", re.MULTILINE)
_STORED = re.compile(r"^tl\.(?:atomic_)?store\(memory, value", re.MULTILINE)


def _behind_the_cast(text: str) -> str:
    """The steps from lane to lane counted in elements of the type behind the cast."""
    found = _MOVED.search(text)
    if found is None:
        return text
    return _MOVED.sub(r"plain = \1", text).replace(
        "tl.static_assert(cast.dtype", f"cast = cast + {found[2]}\ntl.static_assert(cast.dtype", 1)


def _before_the_cast(text: str) -> str:
    """The steps behind the cast counted in elements of the type in front of it."""
    found = _BEHIND.search(text)
    if found is None:
        return text
    return _BEHIND.sub("", text).replace("\ncast = ", f"\nplain = plain + {found[1]}\ncast = ", 1)


def _as_bytes(text: str) -> str:
    """A truth value's pointer counted as one to bytes."""
    return _STORED.sub("tl.store(memory.to(tl.pointer_type(tl.int8)), value * 3", text)


def _unmasked(text: str) -> str:
    """The mask of a load or store forgotten."""
    return re.sub(r", mask=mask(, other=[^()]*(\([^()]*\)[^()]*)*)?(?=\))", "", text)


def _read_once(text: str) -> str:
    """The second read of a place taken for the first."""
    return re.sub(r"^b = tl\.load\(.*\)$", "b = a", text, flags=re.MULTILINE)


FAULTS = {"steps_behind_the_cast": _behind_the_cast, "steps_before_the_cast": _before_the_cast,
          "truths_as_bytes": _as_bytes, "forgotten_mask": _unmasked,
          "read_once": _read_once}
"""Each changes the text of calls that have a place for it."""
ROWS = ("pointer.cast", "pointer.cast.store", "pointer.truth", "pointer.truth.store", "memory.reread")


def spoiled(row: str, text: str, fault: str) -> str:
    """The text of a row's call with a fault; as it is if there is no place for it, or for no fault."""
    return FAULTS[fault](text) if fault in FAULTS and row in ROWS else text
