"""Python's statements where Triton's front end means something else by them.

The source of a kernel becomes Python that calls `_run` (`tridiff.fuzz.statements.meaning.names`): assigned numbers
become tensors, `and`, `or`, `not` and chains of comparisons are operations on tensors, conditions may be answered
both ways, and lists are tuples.
"""

import ast
import warnings
from functools import lru_cache
from types import CodeType
from typing import Any

KERNEL = "kernel"
AS_PYTHON = "<kernel as Python>"
"""The file that tracebacks and frames of the rewritten kernel name."""


_VARIANT = "_variant"
"""The name in a function for the types and numbers that it is called with."""
_RETURNED = "_returned"
"""The name in a function for what its returns gave so far: while what stands behind one is looked at, several."""


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Attribute(value=ast.Name(id="_run", ctx=ast.Load()), attr=name, ctx=ast.Load()),
                    args=list(args), keywords=[])


def _name(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)


def _first_returned(value: ast.expr) -> list[ast.stmt]:
    """Keep what a return gives, and give what the first one that was taken did."""
    append = ast.Attribute(value=_name(_RETURNED), attr="append", ctx=ast.Load())
    first = ast.Subscript(value=_name(_RETURNED), slice=ast.Constant(0), ctx=ast.Load())
    return [ast.Expr(ast.Call(func=append, args=[value], keywords=[])), ast.Return(first)]


def _later(body: ast.expr) -> ast.Lambda:
    """An operand that may have to be left alone."""
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=nothing, body=body)


def _is_constant(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Attribute) and annotation.attr == "constexpr"


_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Rewriter(ast.NodeTransformer):
    """See above. Names of constexpr variables keep Python numbers."""

    def __init__(self) -> None:
        self.function, self.depth, self.pending = "", 0, set[str]()
        self.conditions: list[str] | None = []
        """Names for the conditions of the branches that one stands in, None in a loop."""
        self.branched = False
        """Whether the function returned in a branch before."""

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Fields stay as they are."""
        node.body = [self.visit(one) if isinstance(one, ast.FunctionDef) else one for one in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if any(isinstance(one, ast.Attribute) and one.attr == "constexpr_function" for one in node.decorator_list):
            return node  # Python of its own
        self.function, self.depth, self.pending = node.name, 0, set()
        self.conditions, self.branched = [], False
        self._visit_all(node)
        if self.branched:
            node.body.insert(0, _assign(_RETURNED, ast.List(elts=[], ctx=ast.Load())))
            node.body += _first_returned(ast.Constant(None))
        if node.name != KERNEL:
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            given = ast.Dict(keys=[ast.Constant(one) for one in names], values=[_name(one) for one in names])
            node.body.insert(0, _assign(_VARIANT, _call("entered", ast.Constant(node.name), given)))
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return | list[ast.stmt]:
        """What stands behind a return in branches that are taken for sure is compiled like the rest."""
        self._visit_all(node)
        if node.value is not None and self.function != KERNEL:
            node.value = _call("returned", node.value, ast.Constant(self.function), _name(_VARIANT))
        self.branched |= bool(self.conditions)
        if not self.branched:
            return node
        kept, leaving = _first_returned(node.value or ast.Constant(None))
        if self.conditions:
            leaving = ast.If(test=_call("leaves", *map(_name, self.conditions)), body=[leaving], orelse=[])
        return [ast.copy_location(kept, node), ast.copy_location(leaving, node)]

    def _visit_all(self, node: ast.AST) -> None:
        self.generic_visit(node)

    def _nested(self, node: ast.AST, condition: str = "") -> ast.AST:
        """condition: the name for that of a branch, "" for a loop."""
        outside, self.depth = self.conditions, self.depth + 1
        self.conditions = [*outside, condition] if condition and outside is not None else None
        self._visit_all(node)
        self.conditions, self.depth = outside, self.depth - 1
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._nested(node)

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        condition = f"_condition_{node.lineno}_{node.col_offset}"
        self._nested(node, condition)
        found = ast.copy_location(_assign(condition, node.test), node)
        node.test = _name(condition)
        return [found, node]

    def visit_While(self, node: ast.While) -> ast.AST:
        self._nested(node)
        node.test = _call("again", node.test, ast.Constant(node.lineno))
        return node

    def _assigned(self, targets: list[ast.expr], value: ast.expr) -> ast.Assign:
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        if names and names[0].isupper():  # a constant of the module
            return ast.Assign(targets=targets, value=value)
        if names and names[0] in self.pending:
            self.pending.discard(names[0])
            return ast.Assign(targets=targets, value=value)
        where, nested = ast.Constant(self._names(targets[0])), ast.Constant(self.depth > 0)
        return ast.Assign(targets=targets, value=_call("assigned", value, where, nested))

    def _names(self, target: ast.expr) -> Any:
        """The names of a target, as a tuple where values are unpacked."""
        if isinstance(target, ast.Tuple):
            return tuple(map(self._names, target.elts))
        if not isinstance(target, ast.Name):
            return ""
        return target.id if self.function == KERNEL else f"{self.function}.{target.id}"

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        return self._assigned(node.targets, self.visit(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.Assign:
        assert isinstance(node.target, ast.Name)
        read = ast.Name(id=node.target.id, ctx=ast.Load())
        return self._assigned([node.target], ast.BinOp(left=read, op=node.op, right=self.visit(node.value)))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        assert isinstance(node.target, ast.Name)
        if node.value is None:
            if _is_constant(node.annotation):
                self.pending.add(node.target.id)
            return ast.Pass()
        value = self.visit(node.value)
        if _is_constant(node.annotation):
            return ast.Assign(targets=[node.target], value=value)
        return self._assigned([node.target], value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.NamedExpr:
        return ast.NamedExpr(target=node.target, value=_call(
            "assigned", self.visit(node.value), ast.Constant(""), ast.Constant(False)))

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:
        return ast.Expr(_call("asserted", self.visit(node.test)))

    def visit_List(self, node: ast.List) -> ast.expr:
        self._visit_all(node)
        return ast.Tuple(elts=node.elts, ctx=node.ctx)

    def visit_ListComp(self, node: ast.ListComp) -> ast.Call:
        self._visit_all(node)
        return ast.Call(func=ast.Name(id="tuple", ctx=ast.Load()), args=[node], keywords=[])

    def visit_IfExp(self, node: ast.IfExp) -> ast.Call:
        self._visit_all(node)
        return _call("either", node.test, _later(node.body), _later(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.Call:
        self._visit_all(node)
        name = "all_of" if isinstance(node.op, ast.And) else "any_of"
        return _call(name, *(_later(one) for one in node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self._visit_all(node)
        return _call("negated", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self._visit_all(node)
        if len(node.ops) == 1:
            return node
        symbols = [ast.Constant(_SYMBOLS[type(one)]) for one in node.ops]
        return _call("chain", ast.List(elts=[*symbols], ctx=ast.Load()), *(
            _later(one) for one in (node.left, *node.comparators)))


@lru_cache(maxsize=1 << 10)
def compiled(source: str) -> CodeType:
    """The code of a kernel's module, as Python."""
    tree = Rewriter().visit(ast.parse(source))
    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # proposals that are refused: `3[0]`
        return compile(ast.fix_missing_locations(tree), AS_PYTHON, "exec", dont_inherit=True)


@lru_cache(maxsize=1 << 12)
def evaluated(source: str) -> CodeType:
    """The code of an expression, as Python. Draws ask for the same ones over and over, with other variables."""
    tree = Rewriter().visit(ast.parse(source, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<expression as Python>", "eval", dont_inherit=True)
