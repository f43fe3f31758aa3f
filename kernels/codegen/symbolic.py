"""Index expressions to and from sympy, for callers whose indices are sympy expressions (contract: codegen.md §1).

Only what sympy can say exactly crosses: integers and conditions. Roundings of doubles (`to_float`, `int_true_div`,
elementary functions) have no exact counterpart there. sympy is imported on use: the generator itself has an
interval engine of its own (ranges.py), which costs microseconds where sympy takes milliseconds.
"""

from collections.abc import Callable
from typing import Any

from tridiff.kernels.codegen.graph import Apply, Expr, Function, Num, Sym

_BY_NAME: dict[str, Function] = {
    "FloorDiv": "floordiv", "CeilDiv": "ceildiv", "CleanDiv": "cleandiv", "ModularIndexing": "modular_indexing",
    "PythonMod": "python_mod", "Mod": "mod", "Where": "where", "PowByNatural": "pow_by_natural", "Min": "min",
    "Max": "max", "Add": "add", "Mul": "mul", "Abs": "abs", "And": "and", "Or": "or", "Not": "not", "Equality": "eq",
    "Unequality": "ne", "StrictLessThan": "lt", "LessThan": "le", "StrictGreaterThan": "gt", "GreaterThan": "ge",
}
"""Class name of a sympy node, of sympy itself or of Inductor, to the function it is."""


class NotExact(ValueError):
    """An expression that the other side cannot say exactly."""


def to_sympy(expr: Expr) -> Any:
    """The sympy expression over integer symbols of the same names. Raises NotExact for reals and their functions."""
    import sympy

    if isinstance(expr, Sym):
        return sympy.Symbol(expr.name, integer=True)
    if isinstance(expr, Num):
        return sympy.Integer(expr.value)
    if not isinstance(expr, Apply):
        raise NotExact(f"{expr} is a double; keep it out of exact index arithmetic")
    args = [to_sympy(one) for one in expr.args]
    a, b = args[0], args[1 % len(args)]
    meanings: dict[str, Callable[[], Any]] = {
        "add": lambda: sympy.Add(*args), "mul": lambda: sympy.Mul(*args), "neg": lambda: -a,
        "abs": lambda: sympy.Abs(a), "min": lambda: sympy.Min(*args), "max": lambda: sympy.Max(*args),
        "floordiv": lambda: sympy.floor(a / b), "ceildiv": lambda: sympy.ceiling(a / b),
        "cleandiv": lambda: a / b,
        "mod": lambda: sympy.Mod(a, b), "python_mod": lambda: sympy.Mod(a, b),
        "modular_indexing": lambda: sympy.Mod(sympy.floor(a / b), args[2]), "pow_by_natural": lambda: a**b,
        "where": lambda: sympy.Piecewise((b, a), (args[2], True)),
        "and": lambda: sympy.And(*args), "or": lambda: sympy.Or(*args), "not": lambda: sympy.Not(a),
        "eq": lambda: sympy.Eq(a, b), "ne": lambda: sympy.Ne(a, b), "lt": lambda: a < b, "le": lambda: a <= b,
        "gt": lambda: a > b, "ge": lambda: a >= b,
    }
    if expr.function not in meanings:
        raise NotExact(f"{expr.function} rounds or leaves the integers; sympy has no exact counterpart")
    return meanings[expr.function]()


def from_sympy(expression: Any) -> Expr:
    """The index expression of a sympy one: symbols by their names, integer arithmetic, floor and ceiling of
    quotients, Mod, Min, Max, Piecewise, relations and logic, and Inductor's own nodes by their class names.

    Raises NotExact for anything else, rational numbers outside of floor and ceiling among them.
    """
    import sympy

    match expression:
        case sympy.Symbol():
            return Sym(expression.name)
        case sympy.Integer():
            return Num(int(expression))
        case sympy.floor() | sympy.ceiling():
            top, bottom = sympy.fraction(sympy.together(expression.args[0]))
            divide: Function = "floordiv" if isinstance(expression, sympy.floor) else "ceildiv"
            return from_sympy(top) if bottom == 1 else Apply(divide, (from_sympy(top), from_sympy(bottom)))
        case sympy.Pow() if expression.exp.is_Integer and expression.exp >= 0:
            return Apply("pow_by_natural", (from_sympy(expression.base), Num(int(expression.exp))))
        case sympy.Piecewise():
            return _piecewise(list(expression.args))
    function = _BY_NAME.get(type(expression).__name__)
    if function is None or not expression.args:
        raise NotExact(f"{expression} ({type(expression).__name__}) has no exact index expression")
    return _nested(function, tuple(from_sympy(one) for one in expression.args))


def _piecewise(branches: list[Any]) -> Expr:
    value, condition = branches[0]
    if condition == True:  # noqa: E712  sympy's true is not Python's
        return from_sympy(value)
    if len(branches) == 1:
        raise NotExact("a Piecewise without a branch for everything else is undefined there")
    return Apply("where", (from_sympy(condition), from_sympy(value), _piecewise(branches[1:])))


def _nested(function: Function, args: tuple[Expr, ...]) -> Expr:
    """Long sums and the like in parts: a node takes at most eight arguments."""
    while len(args) > 8:
        args = (Apply(function, args[:8]), *args[8:])
    return Apply(function, args)
