"""What a slip could have made of an expression: small wrong alternatives that change nothing else."""

import ast
import copy
from collections.abc import Iterator

_BESIDE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_OTHER: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift}
_FUNCTIONS = {"min": "max", "max": "min", "all": "any", "any": "all", "sorted": "list", "reversed": "list"}
_CONVERSIONS = ("int", "bool", "float", "str", "tuple", "list", "set")
_TEXTS = ("strip", "lstrip", "rstrip", "lower", "upper", "removeprefix", "removesuffix")

LONGEST = 8
"""Elements of a tuple, a list or a set of which each may be left out."""


def alternatives(node: ast.expr, *, truth: bool) -> list[ast.expr]:
    """The alternatives of an expression, none twice. truth: whether it is only asked whether it is true."""
    known, found = {ast.dump(node)}, []
    for one in (*((ast.Constant(True), ast.Constant(False)) if truth else ()), *_alternatives(node)):
        if (text := ast.dump(one)) not in known:
            known.add(text)
            found.append(copy.deepcopy(one))
    return found


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _comparisons(left, operator, right)
        case ast.BoolOp(op=operator, values=values):
            for some in _without_one(values):
                yield ast.BoolOp(operator, some) if len(some) > 1 else some[0]
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.IfExp(body=one, orelse=other):
            yield from (one, other)
        case ast.BinOp(left=left, op=operator, right=right):
            if type(operator) in _OTHER:
                yield ast.BinOp(left, _OTHER[type(operator)](), right)
            else:  # rounded up
                yield _negative(ast.BinOp(_negative(left), operator, right))
        case ast.UnaryOp(op=ast.USub(), operand=one):
            yield one
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            yield from (ast.Constant(number + 1), ast.Constant(number - 1))
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]):
            yield from _calls(name, given)
        case ast.Call(func=ast.Attribute(value=one, attr=name), args=given, keywords=[]):
            if name in _TEXTS:
                yield one
            elif name == "get" and len(given) == 2:
                yield given[1]
        case ast.Subscript(value=one, slice=ast.Constant(value=int(place))):
            yield ast.Subscript(one, ast.Constant(place - 1), ast.Load())
        case ast.Subscript(value=one, slice=ast.Slice(lower=first, upper=last, step=step)):
            for parts in ((None, last, step), (first, None, step), (first, last, None)):
                yield ast.Subscript(one, ast.Slice(*parts), ast.Load())
        case ast.Tuple(elts=every) | ast.List(elts=every) | ast.Set(elts=every) if 1 < len(every) < LONGEST:
            yield from _displays(node)


def _comparisons(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Iterator[ast.expr]:
    if type(operator) in _BESIDE:
        yield ast.Compare(left, [_BESIDE[type(operator)]()], [right])
    elif isinstance(operator, ast.In | ast.NotIn):
        for some in _displays(right):
            yield ast.Compare(left, [operator], [some])
    elif isinstance(right, ast.Constant) and right.value is None:
        # What is empty or zero is there all the same.
        there = _called("bool", left)
        yield there if isinstance(operator, ast.IsNot) else ast.UnaryOp(ast.Not(), there)


def _calls(name: str, given: list[ast.expr]) -> Iterator[ast.expr]:
    if name in _FUNCTIONS:
        yield _called(_FUNCTIONS[name], *given)
    elif name == "isinstance" and len(given) == 2:
        for some in _displays(given[1]):
            yield _called(name, given[0], some)
    elif name == "getattr" and len(given) == 3:
        yield given[2]
    elif name in _CONVERSIONS and len(given) == 1 and not isinstance(given[0], ast.GeneratorExp | ast.Starred):
        yield given[0]


def _displays(node: ast.expr) -> Iterator[ast.expr]:
    """A tuple, a list or a set without one of several elements."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 1:
        for some in _without_one(node.elts):
            yield ast.Set(some) if isinstance(node, ast.Set) else type(node)(some, ast.Load())


def _without_one(every: list[ast.expr]) -> Iterator[list[ast.expr]]:
    return (every[:place] + every[place + 1:] for place in range(len(every)))


def _called(name: str, *given: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [*given], [])


def _negative(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), node)
