"""Text from anywhere, such that a reader sees all of it."""

from tridiff.fuzz.records.codec import printable

_LINE = 1_000_000
"""Characters of a line; writers cut where it matters to them."""


def visible(text: str) -> str:
    """`text` with control characters, marks that turn the order of letters around, and lone surrogates spelled out,
    line by line: valid in XML, and the same to the eye as to a program."""
    return "\n".join(printable(line.expandtabs(), limit=_LINE) for line in text.split("\n"))
