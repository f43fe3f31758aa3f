"""Rewrites of a jit function's syntax tree that keep its meaning for one known launch.

Used to cut the source of a failing kernel down to what a script of 40 lines can hold: compile-time constants are
filled in, branches that this launch does not compile are dropped, small functions are put in place of their calls.
Everything works on the tree of the `def`; nothing here imports Triton.
"""

import ast
import pickle
from collections.abc import Collection, Mapping
from typing import TypeVar

from tridiff.kernels.language.lines import ASSERTED

Tree = TypeVar("Tree", bound=ast.AST)
ConstantValue = None | bool | int | float | str

_DROPPED_CALLS = ("tl.static_assert", "tl.static_print")
_UNKNOWN = object()
_NOT_NONE = object()
"""What is known of a function or an array: that it is there."""


def constant_node(value: ConstantValue) -> ast.expr:
    """The expression that denotes `value` inside a kernel; infinities and NaN as `float("inf")`."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return ast.Call(ast.Name("float", ast.Load()), [ast.Constant(repr(value))], [])
    if isinstance(value, int | float) and not isinstance(value, bool) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def parameters(function: ast.FunctionDef) -> list[str]:
    """Names of the parameters in order."""
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def assigned(nodes: Collection[ast.stmt]) -> set[str]:
    """Names bound anywhere inside."""
    return {node.id for one in nodes for node in ast.walk(one)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def copied(node: Tree) -> Tree:
    """The same tree once more, in a third of the time that `copy.deepcopy` takes."""
    made: Tree = pickle.loads(pickle.dumps(node, pickle.HIGHEST_PROTOCOL))
    return made


def loaded(node: ast.AST) -> list[str]:
    """Names read anywhere inside, with repetitions."""
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]


class Substitute(ast.NodeTransformer):
    """Put expressions in place of names that are read, and give others a new name, both at once: a new name may be
    one of those that are replaced."""

    def __init__(self, values: Mapping[str, ast.expr], names: Mapping[str, str] | None = None) -> None:
        self._values = values
        self._names = names or {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self._values:
            return copied(self._values[node.id])
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


class DropConversions(ast.NodeTransformer):
    """`tl.where(True, x, x)` becomes x: right wherever x is no literal."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(attr="where"), args=[ast.Constant(value=True), one, other]) if (
                    ast.unparse(one) == ast.unparse(other)):
                return one
        return node


class FoldArithmetic(ast.NodeTransformer):
    """`x * 1` and `x + 0` become x."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        neutral = {ast.Mult: 1, ast.Add: 0}.get(type(node.op))
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.Constant) and type(one.value) is int and one.value == neutral:
                return other
        return node


def bind(function: ast.FunctionDef, values: Mapping[str, ast.expr]) -> ast.FunctionDef:
    """The function without the parameters in `values`, which stand in the body instead."""
    result = copied(function)
    arguments = result.args
    optional = arguments.args[len(arguments.args) - len(arguments.defaults):]
    arguments.defaults = [default for one, default in zip(optional, arguments.defaults, strict=True)
                          if one.arg not in values]
    arguments.args = [one for one in arguments.args if one.arg not in values]
    # A parameter that is assigned cannot be replaced by an expression: it becomes a variable.
    kept = assigned(result.body) & set(values)
    Substitute({name: value for name, value in values.items() if name not in kept}).visit(result)
    result.body[:0] = [assign(ast.Name(name, ast.Store()), values[name]) for name in sorted(kept)]
    return result


def assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    """The statement `target = value`."""
    return ast.Assign([target], value, lineno=0)


def evaluate(node: ast.expr, present: Collection[str]) -> object:
    """The value of a constant expression, or a private marker. Names in `present` are known not to be None."""
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=ast.Not()):
            value = evaluate(node.operand, present)
            return _UNKNOWN if value in (_UNKNOWN, _NOT_NONE) else not value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.BoolOp():
            return _bool(node, present)
        case ast.Compare(ops=[operator], comparators=[right]):
            return _compare(evaluate(node.left, present), operator, evaluate(right, present))
        case ast.Name() if node.id in present:
            return _NOT_NONE
    return _UNKNOWN


def _bool(node: ast.BoolOp, present: Collection[str]) -> object:
    values = [_UNKNOWN if value is _NOT_NONE else value for value in (evaluate(one, present) for one in node.values)]
    decisive = isinstance(node.op, ast.Or)
    if any(value is not _UNKNOWN and bool(value) is decisive for value in values):
        return decisive
    return _UNKNOWN if _UNKNOWN in values else not decisive


def _compare(left: object, operator: ast.cmpop, right: object) -> object:
    if left is _UNKNOWN or right is _UNKNOWN:
        return _UNKNOWN
    match operator:
        case ast.Is():
            return left is right
        case ast.IsNot():
            return left is not right
    if _NOT_NONE in (left, right):
        return _UNKNOWN
    match operator:
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
    if isinstance(left, int) and isinstance(right, int):
        match operator:
            case ast.Lt():
                return left < right
            case ast.LtE():
                return left <= right
            case ast.Gt():
                return left > right
            case ast.GtE():
                return left >= right
    return _UNKNOWN


def about_result(node: ast.AST) -> str:
    """The kind of finding that an assertion on the type or shape of a result is; "" for anything else."""
    call = node.value if isinstance(node, ast.Expr) else node
    said = call.args[-1] if isinstance(call, ast.Call) and call.args else None
    kinds = [kind for kind, text in ASSERTED.items() if isinstance(said, ast.Constant) and said.value == text]
    return kinds[0] if kinds else ""


class DropAssertions(ast.NodeTransformer):
    """Drop what is asserted of results when compiling, but what makes findings of some kinds."""

    def __init__(self, kept: Collection[str]) -> None:
        self._kept = kept

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        kind = about_result(node)
        return None if kind and kind not in self._kept else node


class _Fold(ast.NodeTransformer):
    """Drop documentation, other compile-time assertions than those on results, and branches that constants or liveness
    rule out."""

    def __init__(self, present: Collection[str], visited: Collection[int] | None) -> None:
        self._present = present
        self._visited = visited

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        if isinstance(node.value, ast.Constant):
            return None
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call.func) in _DROPPED_CALLS and not about_result(call):
            return None
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt] | None:
        known = self._known(node.test)
        live = _UNKNOWN if known is not _UNKNOWN else self._live(node)
        self.generic_visit(node)
        for answer in (known, live):
            if answer is not _UNKNOWN:
                return node.body if answer else node.orelse
        if not node.body and not node.orelse:
            return None
        node.body = node.body or [ast.Pass()]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Tuple(elts=parts), slice=ast.Constant(value=int() as number)) if (
                    0 <= number < len(parts)):
                return parts[number]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        known = self._known(node.test)
        return node if known is _UNKNOWN else node.body if known else node.orelse

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        left = [one for one in node.values if (known := self._known(one)) is _UNKNOWN or bool(known) is not neutral]
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left) if left else ast.Constant(neutral)

    def _known(self, test: ast.expr) -> object:
        value = evaluate(test, self._present)
        return _UNKNOWN if value is _NOT_NONE else value

    def _live(self, node: ast.If) -> object:
        """Which branch was compiled, if one and only one was. Of an `if` without `else` only the absence of its
        body says something: a body that was compiled may stand under a run-time condition."""
        if self._visited is None:
            return _UNKNOWN
        body, orelse = (any(one.lineno in self._visited for one in branch) for branch in (node.body, node.orelse))
        if body == orelse or (body and not node.orelse):
            return False if not body and not node.orelse else _UNKNOWN
        return body


def fold(function: ast.FunctionDef, *, present: Collection[str], visited: Collection[int] | None) -> ast.FunctionDef:
    """The function as this launch compiles it.

    present: names that are known not to be None (functions, arrays). visited: line numbers of the statements that the
    compiler's front end went through (see `tridiff.fuzz.repro.liveness`); None when nothing is known.
    """
    result = copied(function)
    result.decorator_list = []
    result.returns = None
    folded = _Fold(present, visited).visit(result)
    assert isinstance(folded, ast.FunctionDef)
    folded.body = _collapse(folded.body) or [ast.Pass()]
    for argument in folded.args.args:
        if argument.annotation is not None and "constexpr" not in ast.unparse(argument.annotation):
            argument.annotation = None
    return folded


def _collapse(body: list[ast.stmt]) -> list[ast.stmt]:
    """Cut what follows a return; `x = value; return x` becomes `return value`."""
    for number, one in enumerate(body):
        if isinstance(one, ast.Return):
            body = body[:number + 1]
            break
    while len(body) >= 2:
        match body[-2], body[-1]:
            case ast.Assign(targets=[ast.Name(id=name)], value=value), ast.Return(value=ast.Name(id=returned)) if (
                    name == returned):
                body = [*body[:-2], ast.Return(value)]
            case _:
                break
    return body
