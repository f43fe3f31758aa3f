"""Expressions over sizes alone as Python text, for torch.compile to carry as symbols.

    n0 * 2147483647 / 7

What a program computes from its sizes reaches Inductor's printer of index expressions this way (codegen.md §1). Without
the compiler the text is plain Python arithmetic, and stands only where that gives what the graph says.
"""

import math
from collections.abc import Callable, Mapping

from tridiff.kernels.codegen.graph import Apply, Expr, Num, Real, Sym, real_number

Number = bool | int | float


def _round(function: str) -> Callable[..., str]:
    return lambda x: f"math.{function}({x})"


_WRITTEN: Mapping[str, Callable[..., str]] = {
    "add": lambda *parts: f"({' + '.join(parts)})", "mul": lambda *parts: f"({' * '.join(parts)})",
    "neg": lambda x: f"(-{x})", "floordiv": lambda a, b: f"({a} // {b})", "cleandiv": lambda a, b: f"({a} // {b})",
    "ceildiv": lambda a, b: f"(-(-{a} // {b}))", "python_mod": lambda a, b: f"({a} % {b})",
    "mod": lambda a, b: f"({a} % {b})", "modular_indexing": lambda a, b, c: f"({a} // {b} % {c})",
    "int_true_div": lambda a, b: f"({a} / {b})", "float_true_div": lambda a, b: f"({a} / {b})",
    "to_float": lambda x: f"float({x})", "pow_by_natural": lambda a, b: f"({a} ** {b})",
    "round_decimal": lambda x, digits: f"round({x}, {digits})", "trunc_to_int": _round("trunc"),
    "floor": _round("floor"), "floor_to_int": _round("floor"), "ceiling": _round("ceil"), "ceil_to_int": _round("ceil"),
    "min": lambda *parts: _fold("min", parts), "max": lambda *parts: _fold("max", parts),
}


def symbolic(expr: Expr, sizes: Mapping[str, int], value: Number) -> str | None:
    """Text of an expression that names sizes; None where there is none, or Python gives another value.

    sizes: length by name (`n0`, `rn`). value: what the graph says the expression is for them.
    """
    text = _text(expr)
    if text is None or isinstance(value, bool):
        return None
    try:
        found = eval(text, {"math": math}, dict(sizes))
    except (ArithmeticError, ValueError, TypeError):
        return None
    same = isinstance(found, int) == isinstance(value, int) and found == value
    return text if same and math.copysign(1, found) == math.copysign(1, value) else None


def _text(expr: Expr) -> str | None:
    if isinstance(expr, Sym):
        return expr.name
    if isinstance(expr, Num):
        return str(expr.value) if expr.value >= 0 else f"({expr.value})"
    if isinstance(expr, Real):
        number = real_number(expr.value)
        return repr(number) if number - number == 0 else f'float("{number}")'
    assert isinstance(expr, Apply), expr
    write = _WRITTEN.get(expr.function)
    parts = [_text(one) for one in expr.args]
    known = [one for one in parts if one is not None]
    return None if write is None or len(known) < len(parts) else write(*known)


def _fold(function: str, parts: tuple[str, ...]) -> str:
    found = parts[0]
    for one in parts[1:]:
        found = f"{function}({found}, {one})"
    return found
