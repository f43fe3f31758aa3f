"""Planted faults of the compiler: an edit of the text of a stage, behind a named pass, by a rule that finds its place.

A fault is written "STEP: PATTERN => REPLACEMENT [@N]": behind the step (a title as "make_ttir add_combine",
"front-end", or "stage llir" and "stage ptx" for stages that are text), the N-th match (from 0) of a regular
expression is replaced. A text without that match stays as it is, so that the fault shows nothing there.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tridiff.fuzz.errors import TridiffError

_WRITTEN = re.compile(r"(?P<step>[^:]+): (?P<pattern>.+) => (?P<put>.*?)(?: @(?P<number>\d+))?", re.DOTALL)


@dataclass(frozen=True)
class Plant:
    """One fault. step: behind which step. number: of the match that is replaced."""

    step: str
    pattern: str
    put: str
    number: int = 0

    @property
    def written(self) -> str:
        return f"{self.step}: {self.pattern} => {self.put} @{self.number}"

    def __call__(self, text: str) -> str:
        """The text with the fault."""
        places = list(re.finditer(self.pattern, text))
        if self.number >= len(places):
            return text
        found = places[self.number]
        return text[:found.start()] + found.expand(self.put) + text[found.end():]


def plant(written: str) -> Plant:
    """The fault that a text names. Raises TridiffError."""
    found = _WRITTEN.fullmatch(written)
    if not found:
        raise TridiffError(f"{written!r} is no planted fault", fix="write STEP: PATTERN => REPLACEMENT @N")
    try:
        re.compile(found["pattern"])
    except re.error as error:
        raise TridiffError(f"the pattern of {written!r} is none ({error})", fix="write a regular expression") from None
    return Plant(found["step"], found["pattern"], found["put"], int(found["number"] or 0))


def edits_of(written: str) -> dict[str, Any]:
    """What a `Stepper` is given for a fault; {} for none."""
    if not written:
        return {}
    fault = plant(written)
    stage = fault.step.removeprefix("stage ")
    if stage != fault.step:
        return {"edit_stage": lambda name: fault if name == stage else None}

    def edit(title: str, key: str) -> Callable[[str], str] | None:
        return fault if fault.step in (title, key) else None

    return {"edit": edit}
