"""Records that files have in a line each, or in several: written where the lines give the record back, and read when
the record that holds them is made."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

Told = TypeVar("Told", str, tuple[str, ...])
"""A line, or several of them."""


def written(record: object, line: Told, read: Callable[[Told], object]) -> Told:
    """The line, where `read` gives the record back; an empty one where it gives another one or refuses the line."""
    try:
        return line if read(line) == record else type(line)()
    except (ValueError, msgspec.ValidationError):
        return type(line)()


def read_within(record: msgspec.Struct, field: str, read: Callable[[Any], object], *, form: type = str) -> None:
    """Put what they say in the place of the lines, or groups of lines, among the items of a record's field."""
    items = getattr(record, field)
    if form in map(type, items):
        told = tuple(read(one) if isinstance(one, form) else one for one in items)
        msgspec.structs.force_setattr(record, field, told)
