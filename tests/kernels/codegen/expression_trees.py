"""Random index expressions, and what they are in exact arithmetic."""

import math
import random
from collections.abc import Mapping
from typing import Any

from tridiff.kernels.codegen.graph import Apply, Expr, Num, Real, Sym
from tridiff.kernels.codegen.ranges import Facts, IllegalExpression

INTEGER = ("add", "mul", "neg", "abs", "min", "max", "floordiv", "ceildiv", "mod", "python_mod", "modular_indexing",
           "pow_by_natural", "where", "floor", "ceiling", "trunc_to_int", "round_to_int", "floor_to_int", "ceil_to_int")
REAL = ("to_float", "int_true_div", "float_true_div", "add", "mul", "neg", "abs", "min", "max", "where", "sqrt",
        "round_decimal")
CONDITION = ("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not")
NUMBERS = (0, 1, 2, 3, 4, 7, 16, 31, -1, -2, -3, -5, 100, 2**31, 2**40, -(2**33), 2**53 + 1, -(2**53) - 1, 2**62)
REALS = ("0.5", "-2.5", "1e-3", "2.675", "1048576.5", "-0.0", "3.0", "0x1.8p-20")


class Trees:
    """Draws expressions over symbols whose ranges `facts` knows."""

    def __init__(self, seed: int, facts: Facts, symbols: tuple[str, ...]) -> None:
        self._random = random.Random(seed)
        self._facts = facts
        self._symbols = symbols

    def tree(self, kind: str, depth: int) -> Expr:
        """A legal expression of a kind ("int", "real", "bool"), nested at most `depth` deep."""
        while True:
            expr = self._draw(kind, depth)
            try:
                self._facts.of(expr)
            except IllegalExpression:
                continue
            return expr

    def _draw(self, kind: str, depth: int) -> Expr:
        choose = self._random.choice
        if depth <= 0 or (kind != "bool" and self._random.random() < 0.12):
            if kind == "bool":
                return Apply("lt", (Sym(choose(self._symbols)), Num(choose(NUMBERS[:9]))))
            if kind == "real":
                whole = Apply("to_float", (self._draw("int", 0),))
                return Real(choose(REALS)) if self._random.random() < 0.6 else whole
            return Sym(choose(self._symbols)) if self._random.random() < 0.6 else Num(choose(NUMBERS))
        name = choose({"int": INTEGER, "real": REAL, "bool": CONDITION}[kind])
        below = depth - 1

        def of(*kinds: str) -> Expr:
            return Apply(name, tuple(self._part(one, below) for one in kinds))

        if name == "where":
            return of("bool", kind, kind)
        if name in ("and", "or"):
            return of(*["bool"] * choose((2, 3)))
        if name == "not":
            return of("bool")
        if name in CONDITION:
            mixed = choose(("int", "int", "real"))
            return Apply(name, (self._part(mixed, below), self._part(choose(("int", mixed)), below)))
        if name in ("add", "mul", "min", "max"):
            return of(*[kind] * choose((2, 2, 3)))
        if name == "round_decimal":
            return Apply(name, (self._part("real", below), Num(choose((0, 1, 2, 5)))))
        if name == "pow_by_natural":
            return Apply(name, (self._part("int", below), Num(choose((0, 1, 2, 3, 4, 5, 9)))))
        if name == "modular_indexing":
            return of("int", "int", "int")
        if name in ("floordiv", "ceildiv", "mod", "python_mod", "int_true_div"):
            return of("int", "int")
        if name == "float_true_div":
            return of("real", "real")
        if name in ("neg", "abs"):
            return of(kind)
        if name == "sqrt":
            return Apply(name, (Apply("abs", (self._part("real", below),)),))
        return of("int" if name == "to_float" else "real")

    def _part(self, kind: str, depth: int) -> Expr:
        """A legal subtree; after a few attempts a leaf."""
        for _ in range(8):
            expr = self._draw(kind, depth)
            try:
                self._facts.of(expr)
            except IllegalExpression:
                depth -= 1
                continue
            return expr
        return self._draw(kind, 0)


def _whole(x: float, rounded: Any) -> int:
    return int(rounded(x)) if math.isfinite(x) else 0


def evaluate(expr: Expr, values: Mapping[str, int]) -> Any:
    """Exact value: a Python int, float (reals are doubles) or bool. None where the contract leaves it open."""
    if isinstance(expr, Sym):
        return values[expr.name]
    if isinstance(expr, Num):
        return expr.value
    if isinstance(expr, Real):
        return float.fromhex(expr.value) if "0x" in expr.value else float(expr.value)
    args = [evaluate(one, values) for one in expr.args]
    if any(arg is None for arg in args):
        return None
    return _apply(expr.function, args)


def _apply(name: str, args: list[Any]) -> Any:
    a, b = args[0], args[1 % len(args)]
    if any(isinstance(arg, float) for arg in args) and name in ("add", "mul", "min", "max"):
        args = [float(arg) for arg in args]
    if name in ("add", "mul"):
        result = args[0]
        for arg in args[1:]:
            result = result + arg if name == "add" else result * arg
        return result
    if name in ("min", "max"):
        return None if any(arg != arg for arg in args) else (min if name == "min" else max)(args)
    if name == "float_true_div":
        return None if b == 0 else a / b
    if name in ("floor", "floor_to_int", "ceiling", "ceil_to_int", "trunc_to_int", "round_to_int"):
        if not math.isfinite(a) or abs(a) >= 2.0**40:
            return None
        return {"floor": math.floor, "floor_to_int": math.floor, "ceiling": math.ceil, "ceil_to_int": math.ceil,
                "trunc_to_int": math.trunc, "round_to_int": round}[name](a)
    if name == "sqrt":
        return math.sqrt(a) if a >= 0 else None
    if name == "where":
        return args[1] if args[0] else args[2]
    table: dict[str, Any] = {
        "neg": lambda: -a, "abs": lambda: abs(a), "floordiv": lambda: a // b, "cleandiv": lambda: a // b,
        "ceildiv": lambda: -(-a // b), "mod": lambda: a % b, "python_mod": lambda: a % b,
        "modular_indexing": lambda: (a // b) % args[2], "pow_by_natural": lambda: a**b, "to_float": lambda: float(a),
        "int_true_div": lambda: a / b, "round_decimal": lambda: round(a, b) if math.isfinite(a) else a,
        "eq": lambda: a == b, "ne": lambda: a != b, "lt": lambda: a < b, "le": lambda: a <= b, "gt": lambda: a > b,
        "ge": lambda: a >= b, "and": lambda: all(args), "or": lambda: any(args), "not": lambda: not a}
    if name in ("eq", "ne", "lt", "le", "gt", "ge") and isinstance(a, float) != isinstance(b, float):
        a, b = float(a), float(b)
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name]
    return table[name]()
