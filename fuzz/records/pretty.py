"""JSON laid out for people who read it in a diff.

A value stands on one line while it fits, a list of objects has a line for each, and long lists of plain
values are filled: what changes together stands together, and adding one object adds one line.
"""

import json

WIDTH = 140
"""Columns that a line fills before it is broken: an expectation stands on one line."""

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


def layout(value: JsonValue, *, indent: int = 0, reserve: int = 0) -> str:
    """`value` as strict JSON. indent: columns already indented. reserve: columns of the line that something
    else takes up (the key before the value, the comma behind it)."""
    inline = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list) or not value:
        return inline
    if not _lists_objects(value) and indent + reserve + len(inline) <= WIDTH:
        return inline
    pad, end = " " * (indent + 2), " " * indent
    if isinstance(value, dict):
        lines = []
        for key, one in value.items():
            label = f"{json.dumps(key, ensure_ascii=False)}: "
            lines.append(label + layout(one, indent=indent + 2, reserve=len(label) + 1))
        return "{\n" + ",\n".join(pad + line for line in lines) + f"\n{end}}}"
    if any(isinstance(one, dict | list) for one in value):
        lines = [layout(one, indent=indent + 2, reserve=1) for one in value]
        return "[\n" + ",\n".join(pad + line for line in lines) + f"\n{end}]"
    return "[\n" + "\n".join(pad + line for line in _filled(value, WIDTH - indent - 2)) + f"\n{end}]"


def _lists_objects(value: JsonValue) -> bool:
    """Whether a list of objects lies anywhere inside."""
    if isinstance(value, list):
        return any(isinstance(one, dict) or _lists_objects(one) for one in value)
    return isinstance(value, dict) and any(_lists_objects(one) for one in value.values())


def _filled(values: list[JsonValue], width: int) -> list[str]:
    """Plain values, comma-separated, as many per line as fit."""
    lines: list[str] = []
    for number, value in enumerate(values):
        word = json.dumps(value, ensure_ascii=False, allow_nan=False) + ("," if number < len(values) - 1 else "")
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
