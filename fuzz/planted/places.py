"""Where a source file of Triton may be changed: the nodes of its functions, with what surrounds them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef

SHOWN_ONLY = frozenset({"__repr__", "__str__", "__hash__", "format_mlir_source", "mangle", "warn", "print_autotuning"})
"""Functions whose results a person reads or a table is indexed by: no kernel shows a change."""

OTHER_VENDOR = ("amd", "hip", "cdna", "rdna", "gfx", "mfma", "wmma", "rocm")
"""Words in the names of functions for other makers' chips, whose code no backend here compiles for."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A function or a node inside of one. function: its qualified name; owner: the innermost function; parent: the
    node around it."""

    node: ast.AST
    parent: ast.AST
    function: str
    owner: Function


def places(tree: ast.Module) -> Iterator[Place]:
    """All nodes of functions that may be changed, in the order of the text.

    Left out: what only builds the text of an error (`raise`, `assert`, formatted strings), docstrings, decorators,
    annotations, functions whose results are only shown, those for other makers' chips, and those that another
    definition takes the place of (`...` is all they have).
    """
    yield from _below(tree, tree, (), None)


def _below(node: ast.AST, parent: ast.AST, names: tuple[str, ...], owner: Function | None) -> Iterator[Place]:
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr) or is_docstring(node):
        return
    if isinstance(node, Function):
        if node.name in SHOWN_ONLY or any(word in node.name.lower() for word in OTHER_VENDOR) or _is_stub(node):
            return
        names, owner = (*names, node.name), node
    if owner is not None:
        yield Place(node=node, parent=parent, function=".".join(names), owner=owner)
    if isinstance(node, Function):
        children: list[ast.AST] = [*node.args.defaults, *(one for one in node.args.kw_defaults if one), *node.body]
        # A default is a node of the function that it belongs to, and its parent are the arguments.
        for child in children:
            yield from _below(child, node if child in node.body else node.args, names, owner)
        return
    if isinstance(node, ast.ClassDef):
        names = (*names, node.name)
        if any(word in node.name.lower() for word in OTHER_VENDOR):
            return
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.AnnAssign) and child is node.annotation:
            continue
        if isinstance(node, ast.ClassDef) and child in node.decorator_list:
            continue
        yield from _below(child, node, names, owner)


def is_docstring(node: ast.AST) -> bool:
    """Whether it is a statement that is only a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_stub(node: Function) -> bool:
    return all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
               and (one.value.value is ... or is_docstring(one)) for one in node.body)
