"""Dropping loops that make no iteration in the one launch a script shows."""

import ast

from tridiff.fuzz.repro.simplify import assigned, loaded

_RANGES = ("range", "tl.range", "tl.static_range")


def drop_empty_loops(function: ast.FunctionDef) -> None:
    """Remove loops of the function's body whose range is empty, and literals assigned to names that nobody reads then.

    Only literals and names that hold one when the loop is reached are looked at. Works in place.
    """
    known: dict[str, int] = {}
    body: list[ast.stmt] = []
    for statement in function.body:
        if isinstance(statement, ast.For) and _empty(statement, known):
            continue
        body.append(statement)
        for name in assigned([statement]):
            known.pop(name, None)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (number := _literal(value, {})) is not None:
                known[name] = number
    function.body = body
    _drop_unread_literals(function)


def _literal(node: ast.expr, known: dict[str, int]) -> int | None:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            positive = _literal(operand, known)
            return None if positive is None else -positive
        case ast.Name(id=name):
            return known.get(name)
    return None


def _empty(loop: ast.For, known: dict[str, int]) -> bool:
    match loop.iter:
        case ast.Call(func=function, args=[ast.expr(), *_] as arguments) if ast.unparse(function) in _RANGES:
            limits = [_literal(one, known) for one in arguments]
            if None in limits or len(limits) > 3 or limits[2:] == [0]:
                return False
            return not range(*[limit for limit in limits if limit is not None])
    return False


def _drop_unread_literals(function: ast.FunctionDef) -> None:
    read = {name for statement in function.body for name in loaded(statement)}
    function.body = [statement for statement in function.body if not (
        isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and len(statement.targets) == 1
        and statement.targets[0].id not in read and _literal(statement.value, {}) is not None)] or [ast.Pass()]
