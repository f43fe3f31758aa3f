"""Which classes of a union a module tells apart, and which it makes: read from its syntax, not by running it."""

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def _names(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr


def told_apart(path: str) -> set[str]:
    """Names in patterns, `isinstance`, comparisons of types and keys of tables."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.MatchClass):
            found |= {*_names(node.cls)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            found |= {*_names(node.args[1])}
        elif isinstance(node, ast.Dict):
            found |= {name for key in node.keys if key is not None for name in _names(key)}
        elif isinstance(node, ast.Compare):
            found |= {name for side in (node.left, *node.comparators) for name in _names(side)}
    return found


def made(path: str) -> set[str]:
    """Names that are called."""
    calls = [node for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8")))
             if isinstance(node, ast.Call)]
    return {name for call in calls for name in _names(call.func)}
