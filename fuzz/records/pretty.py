"""JSON laid out for people who read it in a diff.

A value stands on one line while it fits. Of one that does not, a list of objects or rows has a line for each, and all
else is filled, as many values or fields to a line as fit, rows that lie deep in the file as well: what changes together
stands together, and adding one object adds one line. Brackets stand beside what they hold. Lists of plain values, which
hold most of a file, have no blanks.
"""

import json

WIDTH = 160
"""Columns that a line fills before it is broken: an expectation stands on one line."""

DEEP = 3
"""Columns of indent from which on rows are filled: those of a blame, which are written once."""

_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


def layout(value: JsonValue, *, indent: int = 0, reserve: int = 0) -> str:
    """`value` as strict JSON. indent: columns already indented. reserve: columns of the line that something
    else takes up (the key before the value, the comma behind it)."""
    inline = _inline(value)
    if not isinstance(value, dict | list) or not value:
        return inline
    if indent + reserve + len(inline) <= WIDTH:
        return inline
    plain = isinstance(value, list) and not any(isinstance(one, dict | list) for one in value)
    filled = indent >= DEEP and all(isinstance(one, list) for one in value)
    alone = isinstance(value, list) and not plain and not filled
    if isinstance(value, dict):
        opening, closing = "{}"
        words = []
        for key, one in value.items():
            label = f"{_inline(key)}: "
            words.append(label + layout(one, indent=indent + 1, reserve=len(label) + 1))
    else:
        opening, closing = "[]"
        words = [layout(one, indent=indent + 1, reserve=1) for one in value]
    pad = "\n" + " " * (indent + 1)
    lines = _filled(words, 0 if alone else WIDTH - indent - 2, gap="" if plain else " ", before=reserve)
    return opening + pad.join(lines) + closing


def _inline(value: JsonValue) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_inline(key)}: {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        between = ", " if any(isinstance(one, dict | list) for one in value) else ","
        return "[" + between.join(_inline(one) for one in value) + "]"
    return _PLAIN(value)


def _filled(words: list[str], width: int, *, gap: str, before: int) -> list[str]:
    """The words, separated by a comma and `gap`, as many to a line as fit; one that has several lines ends its line.
    before: columns that the first line has less."""
    lines: list[str] = []
    broken = True
    for number, word in enumerate(words):
        text = word + ("," if number < len(words) - 1 else "")
        room = width - before if len(lines) == 1 else width
        if broken or "\n" in word or len(lines[-1]) + len(gap + text) > room:
            lines.append(text)
        else:
            lines[-1] += gap + text
        broken = "\n" in word
    return lines
