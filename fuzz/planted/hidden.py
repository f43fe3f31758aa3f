"""Edits that no run on a machine of this class could show: asked only about what was tried and missed."""

import ast
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.planted.edit import Edit, Source
from tridiff.fuzz.planted.places import Place, places
from tridiff.fuzz.planted.reach import reason
from tridiff.fuzz.planted.record import Tried


def told(edit: Edit, line: Tried, package: Path) -> Tried:
    """The record of an edit; of a fault that was missed or not reached and that cannot show, with the reason. package:
    the folder of the original `triton/__init__.py`."""
    if line.harmless or line.outcome not in ("missed", "not reached"):
        return line
    why = hidden(edit, (package / edit.file).read_bytes())
    return replace(line, outcome="cannot show", how=f"{why} ({line.how})" if line.how else why) if why else line


def hidden(edit: Edit, data: bytes) -> str:
    """Why an edit cannot show, "" if it can: it changes a statement that is out of reach, a way of a condition that
    cannot be taken, or a condition that decides nothing because one of its ways cannot. data: the text of the file."""
    source = Source(edit.file, data)
    for place in places(source.tree):
        if isinstance(place.node, ast.stmt | ast.IfExp):
            why = _why(place, source, edit)
            if why:
                return why
    return ""


def _why(place: Place, source: Source, edit: Edit) -> str:
    node, where = place.node, f"{edit.file} {place.function}"
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        ways = (("true", _parts(node.body)), ("false", _parts(node.orelse)))
        return next((why for way, parts in ways if any(_holds(one, source, edit) for one in (node.test, *parts))
                     and (why := reason(f"{where}: {ast.unparse(node.test)}: {way}"))), "")
    simple = not any(isinstance(one, ast.stmt) for one in ast.iter_child_nodes(node))
    return reason(f"{where}: {ast.unparse(node)}") if simple and _holds(node, source, edit) else ""


def _parts(body: ast.AST | Sequence[ast.AST]) -> Sequence[ast.AST]:
    return [body] if isinstance(body, ast.AST) else body


def _holds(node: ast.AST, source: Source, edit: Edit) -> bool:
    """Whether all that the edit changes lies in a node."""
    start, end = source.span(node)
    return all(start <= one.start and one.end <= end for one in edit.replacements)
