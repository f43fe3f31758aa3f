"""One change of a source file of Triton, as replacements of parts of its text."""

import ast
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """Bytes `start` to `end` (exclusive) of the UTF-8 text become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One change. file: below the folder of the package ("language/semantic.py"); line: of its first part, from 1;
    operator: what was done; function: the qualified name of where; before, after: that part of the text, in one line;
    number: tells edits of one operator on one line apart, from 1; harmless: it must change nothing."""

    file: str
    line: int
    operator: str
    function: str
    before: str
    after: str
    replacements: tuple[Replacement, ...]
    number: int = 1
    harmless: bool = False

    @property
    def name(self) -> str:
        """`file:line:operator`, and `:number` from the second one on."""
        return ":".join((self.file, str(self.line), self.operator)) + (f":{self.number}" if self.number > 1 else "")

    @property
    def module(self) -> str:
        """The module that changes, as it is imported."""
        return "triton." + self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def applied(self, source: bytes) -> bytes:
        """The changed text."""
        return _applied(source, self.replacements)


class Source:
    """The text of one file with its syntax tree, and the places of nodes in it."""

    def __init__(self, file: str, data: bytes) -> None:
        self.file, self.data = file, data
        self.tree = ast.parse(data)
        self._starts = [0]
        for line in data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """Bytes before a line (from 1) and column (of bytes, from 0)."""
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node's text begins and ends."""
        return (self.at(node.lineno, node.col_offset),  # type: ignore[attr-defined]
                self.at(node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def replace(self, node: ast.AST, text: str) -> Replacement:
        start, end = self.span(node)
        return Replacement(start=start, end=end, text=text)

    def changes_meaning(self, replacements: tuple[Replacement, ...], within: ast.AST) -> bool:
        """Whether the function `within` is still Python with the replacements, and another function."""
        start, end = self.at(within.lineno, 0), self.span(within)[1]  # type: ignore[attr-defined]
        text = self.data[start:end]
        changed = _applied(text, tuple(Replacement(start=one.start - start, end=one.end - start, text=one.text)
                                       for one in replacements))
        try:
            tree = ast.parse(b"if 1:\n" + changed if text[:1].isspace() else changed)
        except (SyntaxError, ValueError):
            return False
        return not _same(_meaning(_function(tree)), _meaning(within))


def _applied(text: bytes, replacements: tuple[Replacement, ...]) -> bytes:
    for one in sorted(replacements, key=lambda part: part.start, reverse=True):
        text = text[:one.start] + one.text.encode() + text[one.end:]
    return text


def _function(tree: ast.Module) -> ast.AST:
    first = tree.body[0]
    return first.body[0] if isinstance(first, ast.If) else first


def _meaning(function: ast.AST) -> list[ast.AST]:
    """Arguments and statements; decorators are not in the text that is parsed again."""
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    return [function.args, *function.body]


def _same(one: object, other: object) -> bool:
    """Whether two nodes, or what nodes have, are the same wherever they stand."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        return all(_same(getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
    if isinstance(one, list):
        assert isinstance(other, list)
        return len(one) == len(other) and all(map(_same, one, other))
    # Told apart by their text are also -0.0 and 0.0.
    return repr(one) == repr(other)
