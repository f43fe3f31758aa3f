"""Kernels of statements, as data: a tree of constructs of the language. Their text comes from the rows of the
fuzzer, never from a file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from tridiff.kernels import lines
from tridiff.kernels.language.call import Operand, Result, WrittenOperand
from tridiff.kernels.record import Record

_Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,63}\Z")]
_Word = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_ .,:+*/%&|^<>=!~()\[\]-]{0,60}\Z")]


class Node(Record, kw_only=True, omit_defaults=True):
    """One construct: its row, what the row is told (operators, names, literals), and the constructs inside of it."""

    row: _Name
    words: dict[_Name, bool | int | _Word] = {}
    parts: Annotated[tuple[_Written, ...], Meta(max_length=12)] = ()

    def __post_init__(self) -> None:
        lines.read_within(self, "parts", Node.of_line)

    def in_files(self) -> dict[str, object]:
        return {"parts": _in_lines(self.parts)}

    @property
    def line(self) -> str:
        """The construct as `assign(name=v1, item(place:2, name(name=x0)))`, text behind `=`, a number or a truth behind
        `:`; "" where that is long, or `of_line` does not read it back."""
        text = self._spelled()
        return lines.written(self, text, Node.of_line) if len(text) <= LONGEST_LINE else ""

    def _spelled(self) -> str:
        words = [f"{name}={one}" if isinstance(one, str) else f"{name}:{msgspec.json.encode(one).decode()}"
                 for name, one in self.words.items()]
        inside = [*words, *(one._spelled() for one in self.parts)]
        return f"{self.row}({', '.join(inside)})" if inside else self.row

    @staticmethod
    def of_line(line: str) -> Node:
        """The construct that a line says; ValidationError if it says none."""
        found, end = _read(line, 0)
        if end < len(line):
            raise msgspec.ValidationError(f"{line[:80]!r} is no construct")
        return msgspec.convert(found, Node)

    def word(self, name: str, default: str = "") -> str:
        """What the row is told under a name, as text."""
        return str(self.words.get(name, default))


LONGEST_LINE = 140
"""Characters of a line that says a construct."""
_ROW = re.compile(r"[\w.]+")
_TOLD = re.compile(r"([\w.]+)(?:=([^(),]*)|:(true|false|-?[0-9]{1,19}))(?=, |\))")

if TYPE_CHECKING:
    _Written = Node
else:  # Files have short ones in a line.
    _Written = Node | str


def _read(line: str, at: int) -> tuple[dict[str, object], int]:
    """The fields of the construct that begins at a place of a line, and where it ends."""
    row = _ROW.match(line, at)
    if row is None:
        raise msgspec.ValidationError(f"{line[:80]!r} is no construct")
    words: dict[str, object] = {}
    parts: list[object] = []
    at, open_ = row.end(), "("
    while line.startswith(open_, at):
        at += len(open_)
        open_ = ", "
        told = _TOLD.match(line, at)
        if told and told[1] not in words:
            words[told[1]] = told[2] if told[3] is None else msgspec.json.decode(told[3])
            at = told.end()
        else:
            part, at = _read(line, at)
            parts.append(part)
    if open_ == ", ":
        if not line.startswith(")", at):
            raise msgspec.ValidationError(f"{line[:80]!r} is no construct")
        at += 1
    return {"row": row[0], "words": words, "parts": parts}, at


def _in_lines(nodes: tuple[Node, ...]) -> tuple[object, ...]:
    return tuple(one.line or one for one in nodes)


class Script(Record, kw_only=True, tag="script", omit_defaults=True):
    """A kernel: operands x0, x1, ... that are loaded (or constexpr parameters), helper functions, statements, and the
    variables that are stored at the end with the types and shapes that they must have."""

    operands: Annotated[tuple[WrittenOperand, ...], Meta(max_length=6)] = ()
    functions: Annotated[tuple[_Written, ...], Meta(max_length=4)] = ()
    body: Annotated[tuple[_Written, ...], Meta(max_length=24)] = ()
    stored: Annotated[tuple[_Name, ...], Meta(max_length=6)] = ()
    results: Annotated[tuple[Result, ...], Meta(max_length=6)] = ()

    def __post_init__(self) -> None:
        lines.read_within(self, "operands", Operand.of_line)
        lines.read_within(self, "functions", Node.of_line)
        lines.read_within(self, "body", Node.of_line)

    def in_files(self) -> dict[str, object]:
        return {"operands": tuple(one.line or one for one in self.operands),
                "functions": _in_lines(self.functions), "body": _in_lines(self.body)}
