"""Printing for people. All text goes through `console`: names of files, errors, reasons and values come from outside,
so control characters are spelled out and nothing in them is taken for markup, a link or an emoji."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tridiff.fuzz.records.codec import printable

_LINE = 4000
"""Characters of one line that are shown."""


def plain(text: str) -> str:
    """`text` safe to print: control characters spelled out, line by line."""
    return "\n".join(printable(line, limit=_LINE) for line in text.split("\n"))


class _Plain(Console):
    """A console to which every string is plain text; colour is asked for by `style` and by `coloured`."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(plain(text), **{**options, "markup": False, "emoji": False, "highlight": False})


def console(*, errors: bool = False) -> Console:
    """Where to print: stdout, or stderr for `errors`. Tables are not folded into 80 columns in a file or a log."""
    made = _Plain(stderr=errors, highlight=False, markup=False, emoji=False)
    return made if made.is_terminal else _Plain(stderr=errors, highlight=False, markup=False, emoji=False, width=140)


def listing(**options: Any) -> Table:
    """A table with a bold head and no lines between its cells."""
    return Table(box=None, header_style="bold", pad_edge=False, **options)


def coloured(*parts: str | tuple[str, str]) -> Text:
    """One line of parts, each a text or a (text, style) pair."""
    return Text.assemble(*(plain(one) if isinstance(one, str) else (plain(one[0]), one[1]) for one in parts))
