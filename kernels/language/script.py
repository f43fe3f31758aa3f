"""Kernels of statements, as data: a tree of constructs of the language. Their text comes from the rows of the
fuzzer, never from a file.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from tridiff.kernels.language.call import Operand, Result

_Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,63}\Z")]
_Word = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_ .,:+*/%&|^<>=!~()\[\]-]{0,60}\Z")]


class Node(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One construct: its row, what the row is told (operators, names, literals), and the constructs inside of it."""

    row: _Name
    words: dict[_Name, bool | int | _Word] = {}
    parts: Annotated[tuple[Node, ...], Meta(max_length=12)] = ()

    def word(self, name: str, default: str = "") -> str:
        """What the row is told under a name, as text."""
        return str(self.words.get(name, default))


class Script(msgspec.Struct, frozen=True, kw_only=True, tag="script", forbid_unknown_fields=True, omit_defaults=True):
    """A kernel: operands x0, x1, ... that are loaded (or constexpr parameters), helper functions, statements, and the
    variables that are stored at the end with the types and shapes that they must have."""

    operands: Annotated[tuple[Operand, ...], Meta(max_length=6)] = ()
    functions: Annotated[tuple[Node, ...], Meta(max_length=4)] = ()
    body: Annotated[tuple[Node, ...], Meta(max_length=24)] = ()
    stored: Annotated[tuple[_Name, ...], Meta(max_length=6)] = ()
    results: Annotated[tuple[Result, ...], Meta(max_length=6)] = ()
