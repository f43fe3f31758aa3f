"""Edits of the installed Triton, made once for all tests of a process."""

import functools
from pathlib import Path

import triton

from tridiff.fuzz.planted.choose import edits_of
from tridiff.fuzz.planted.edit import Edit

PACKAGE = Path(triton.__file__).parent


@functools.lru_cache(maxsize=4)
def _edits(file: str) -> tuple[Edit, ...]:
    return tuple(edits_of(file, (PACKAGE / file).read_bytes()))


def edit_in(file: str, function: str, operator: str, before: str = "") -> Edit:
    """The first edit of that description; lines and numbers differ between versions. before: a part of the old text."""
    return next(one for one in _edits(file) if (one.function, one.operator) == (function, operator)
                and before in one.before)
