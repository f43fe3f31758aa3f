"""Which expressions of two texts of a statement can be evaluated one beside the other, to see whether they differ.

Weak mutation testing calls that infection: where the values are the same, the function goes on as it would have with
the other text. It is asked of expressions that only look at things (`looks`), the largest ones that hold what differs;
of a statement that differs in anything else each run counts.
"""

import ast
from collections.abc import Iterator

from tridiff.fuzz.backends.beside import Compared

_FUNCTIONS = frozenset({
    "isinstance", "issubclass", "len", "getattr", "hasattr", "callable", "all", "any", "min", "max", "sum", "int",
    "float", "bool", "str", "repr", "tuple", "set", "frozenset", "sorted", "list", "dict", "type", "id", "zip",
    "enumerate", "reversed", "ord", "chr", "range"})
"""Functions of Python that change nothing, as they are called by name alone or as members of `builtins`."""

_METHODS = frozenset({
    "keys", "values", "items", "get", "startswith", "endswith", "removeprefix", "removesuffix", "partition",
    "rpartition", "strip", "lstrip", "rstrip", "lower", "upper", "bit_length", "isidentifier", "isdigit",
    "issubset", "issuperset", "isdisjoint"})
"""Methods that change nothing, whoever has them: an `index`, a `join` or a `split` may be Triton's, which makes an
operation."""

_QUESTIONS = ("is_", "_is_", "has_", "_has_", "can_", "should_", "_unwrap_if", "unwrap_if")
"""What names of Triton's own functions begin with that change nothing."""

_DOING = ("_semantic", "_generator", "_builder", "key")
"""Arguments with which a function does more than look: who builds the IR, and what is called with each element."""

_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Subscript,
          ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.IfExp, ast.ListComp,
          ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.comprehension, ast.Starred, ast.keyword, ast.expr_context,
          ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Call)

PARTS = (ast.Starred, ast.Slice, ast.FormattedValue)
"""Expressions that stand in no place but their own."""

WHOLE = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.JoinedStr)
"""Expressions of which no part stands alone: what they bind is known inside of them, and text is no expression."""


def compared(old: ast.stmt, new: ast.stmt) -> tuple[Compared, ...]:
    """Pairs of expressions in which two statements differ; none if each run of the statement may come to something
    else."""
    return tuple(_pairs(old, new, "", truth=False) or ())


def added(new: ast.stmt) -> tuple[Compared, ...]:
    """What tells whether a statement that the other text has more would do anything: a condition."""
    if isinstance(new, ast.If) and not new.orelse and looks(new.test):
        return (Compared(way="", other=ast.unparse(new.test), truth=True),)
    return ()


def _pairs(old: ast.AST, new: ast.AST, way: str, *, truth: bool) -> list[Compared] | None:
    """None where something else differs than what can be asked."""
    if ast.dump(old) == ast.dump(new):
        return []
    if isinstance(old, ast.expr) and isinstance(new, ast.expr) and looks(old) and looks(new) and not isinstance(
            old, PARTS) and isinstance(getattr(old, "ctx", ast.Load()), ast.Load):
        return [Compared(way=way, other=ast.unparse(new), truth=truth)]
    if type(old) is not type(new) or isinstance(old, WHOLE):
        return None
    found: list[Compared] = []
    truth = truth if isinstance(old, ast.BoolOp) else isinstance(old, ast.UnaryOp) and isinstance(old.op, ast.Not)
    for field, value in ast.iter_fields(old):
        for step, one, other in _steps(field, value, getattr(new, field)):
            inner = None if one is None or other is None else _pairs(
                one, other, f"{way}.{step}".lstrip("."), truth=truth or field == "test")
            if inner is None or (inner and not isinstance(one, ast.expr | ast.keyword)):
                return None
            found += inner
    return found


def _steps(field: str, value: object, other: object) -> Iterator[tuple[str, ast.AST | None, ast.AST | None]]:
    """The nodes of a field, beside each other; None where there is nothing to hold against each other and both are not
    the same."""
    if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        for number, (one, two) in enumerate(zip(value, other, strict=True)):
            yield from _steps(f"{field}.{number}", one, two)
    elif isinstance(value, ast.AST) and isinstance(other, ast.AST):
        yield field, value, other
    elif value != other:
        yield field, None, None


def looks(node: ast.AST) -> bool:
    """Whether evaluating an expression changes nothing."""
    return all(isinstance(one, _PLAIN) and (not isinstance(one, ast.Call) or _asks(one)) for one in ast.walk(node))


def _asks(call: ast.Call) -> bool:
    """Whether a call changes nothing."""
    if any(key.arg in _DOING for key in call.keywords):
        return False
    if not isinstance(call.func, ast.Attribute):
        name = getattr(call.func, "id", "")
        return name in _FUNCTIONS or name.startswith(_QUESTIONS)
    of_python = isinstance(call.func.value, ast.Name) and call.func.value.id == "builtins"
    return call.func.attr in (_FUNCTIONS if of_python else _METHODS) or call.func.attr.startswith(_QUESTIONS)
