"""Edits that no run on a machine of this class could show: asked only about what was tried and missed."""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.planted.edit import Edit, Source
from tridiff.fuzz.planted.places import places
from tridiff.fuzz.planted.reach import reason
from tridiff.fuzz.planted.record import Tried

_TURNED = ("negated_condition", "other_comparison", "dropped_sign")
"""Operators that have a condition give the opposite answer."""

_ADDS_LISTS = 0x030C0000
"""The first Python that adds lists which the nodes of a syntax tree lack."""


def told(edit: Edit, line: Tried, package: Path) -> Tried:
    """The record of an edit; of a fault that was missed or not reached and that cannot show, with the reason. package:
    the folder of the original `triton/__init__.py`."""
    if line.harmless or line.outcome not in ("missed", "not reached"):
        return line
    why = hidden(edit, (package / edit.file).read_bytes(), reached=line.outcome == "missed")
    return replace(line, outcome="cannot show", how=f"{why} ({line.how})" if line.how else why) if why else line


def hidden(edit: Edit, data: bytes, *, reached: bool = True) -> str:
    """Why an edit cannot show, "" if it can: it changes a statement that is out of reach, a way of a condition that
    cannot be taken, a condition that decides nothing because one of its ways cannot, or what is there all the same.
    data: the text of the file; reached: whether cases ran the line. Of a condition that none asked, it is not known
    what it would decide."""
    source = Source(edit.file, data)
    if _left_out(edit, source):
        return "Python adds what is left out"
    for key, nodes in keys(edit.file, source.tree):
        if any(_holds(one, source, edit) for one in nodes) and (why := reason(key)):
            # A condition that is turned round goes the way that nothing else takes.
            asked = reached or not _holds(nodes[0], source, edit) or reason(_other_way(key))
            turned = (edit.operator in _TURNED and not _implied(edit, source, nodes[0], key.endswith(": false"))) or (
                edit.operator == "ignored_branch" and key.endswith(": false"))
            if asked and (not turned or not _holds(nodes[0], source, edit)):
                return why
    return ""


def _implied(edit: Edit, source: Source, test: ast.AST, always: bool) -> bool:
    """Whether a test that always gives one answer gives it with another comparison as well: `<=` is true wherever `<`
    is, and `<` is false wherever `<=` is. test: a comparison, or the opposite of one; always: the answer."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, always = test.operand, not always
    return edit.operator == "other_comparison" and _spans(edit, source, test) and isinstance(
        test, ast.Compare) and isinstance(test.ops[0], ast.Lt | ast.Gt if always else ast.LtE | ast.GtE)


def _left_out(edit: Edit, source: Source) -> bool:
    """Whether it leaves out what Python adds: since 3.12 a list that a syntax tree's node has not been given is an
    empty one."""
    if edit.operator != "dropped_keyword" or sys.hexversion < _ADDS_LISTS:
        return False
    kept = {node.arg for node in ast.walk(ast.parse(edit.replacements[0].text)) if isinstance(node, ast.keyword)}
    return any(isinstance(keyword.value, ast.List) and not keyword.value.elts
               for node in ast.walk(source.tree) if isinstance(node, ast.Call) and _spans(edit, source, node)
               and ast.unparse(node.func).startswith("ast.") for keyword in node.keywords if keyword.arg not in kept)


def _spans(edit: Edit, source: Source, node: ast.AST) -> bool:
    """Whether the edit replaces a node and nothing else."""
    return [source.span(node)] == [(one.start, one.end) for one in edit.replacements]


def _other_way(key: str) -> str:
    """The other way of a condition; of anything else the same."""
    for way, other in (("true", "false"), ("false", "true")):
        if key.endswith(f": {way}"):
            return key.removesuffix(way) + other
    return key


def keys(file: str, tree: ast.Module) -> Iterator[tuple[str, Sequence[ast.AST]]]:
    """What `fuzz.planted.reach` may name, each with the nodes that it speaks of."""
    for place in places(tree):
        node, where = place.node, f"{file} {place.function}"
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            for way, body in (("true", node.body), ("false", node.orelse)):
                yield f"{where}: {ast.unparse(node.test)}: {way}", [node.test, *_parts(body)]
        elif isinstance(node, ast.For):
            yield f"{where}: for {ast.unparse(node.target)} in {ast.unparse(node.iter)}", [node.iter]
        elif isinstance(place.parent, ast.arguments):
            yield f"{where}: default {ast.unparse(node)}", [node]
        elif isinstance(node, ast.stmt) and not any(isinstance(one, ast.stmt) for one in ast.iter_child_nodes(node)):
            yield f"{where}: {ast.unparse(node)}", [node]


def _parts(body: ast.AST | Sequence[ast.AST]) -> Sequence[ast.AST]:
    return [body] if isinstance(body, ast.AST) else body


def _holds(node: ast.AST, source: Source, edit: Edit) -> bool:
    """Whether all that the edit changes lies in a node."""
    start, end = source.span(node)
    return all(start <= one.start and one.end <= end for one in edit.replacements)
