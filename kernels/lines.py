"""Records that files have in a line each: written where the line gives the record back, and read when the record that
holds them is made."""

from collections.abc import Callable

import msgspec


def written(record: object, line: str, read: Callable[[str], object]) -> str:
    """The line, where `read` gives the record back; "" where it gives another one or refuses the line."""
    try:
        return line if read(line) == record else ""
    except (ValueError, msgspec.ValidationError):
        return ""


def read_within(record: msgspec.Struct, field: str, read: Callable[[str], object]) -> None:
    """Put what they say in the place of the lines among the items of a record's field."""
    items = getattr(record, field)
    if str in map(type, items):
        told = tuple(read(one) if isinstance(one, str) else one for one in items)
        msgspec.structs.force_setattr(record, field, told)
