"""Kinds and ranges of index expressions: what `//` and `%` may be printed as, and in which width.

Ranges are closed intervals of exact integers (Python's), found bottom-up; None stands for "not known" and is used for
reals only. The engine is kept small on purpose: sympy proves more, and takes milliseconds per expression, a
kernel's whole budget; the tests use it as the second opinion.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from tridiff.kernels.codegen.graph import Apply, Expr, Num, Real, Sym, real_number

Kind = Literal["int", "real", "bool"]
Interval = tuple[int, int]

INT32: Interval = (-(2**31), 2**31 - 1)
INT64: Interval = (-(2**63), 2**63 - 1)
INDIRECT: Interval = (-(2**40), 2**40)
"""What is assumed of a value that an expression names (notes.md)."""

ELEMENTARY = ("cos", "cosh", "acos", "sin", "sinh", "asin", "tan", "tanh", "atan", "log2", "sqrt")
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TO_INTEGER = ("trunc_to_int", "floor", "ceiling", "floor_to_int", "ceil_to_int", "round_to_int")
_DIVISIONS = ("floordiv", "ceildiv", "cleandiv", "mod", "python_mod")
_ARITY = {
    **dict.fromkeys((*_DIVISIONS, "int_true_div", "float_true_div", "round_decimal", "float_pow", "pow_by_natural",
                     *COMPARISONS), 2),
    **dict.fromkeys((*ELEMENTARY, *_TO_INTEGER, "neg", "abs", "to_float", "not"), 1),
    "modular_indexing": 3, "where": 3,
}
MAX_POWER = 63


class IllegalExpression(ValueError):
    """An expression without a meaning; the message says in one line what to change."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of an expression. range: of an integer one; None otherwise."""

    kind: Kind
    range: Interval | None = None

    @property
    def interval(self) -> Interval:
        assert self.range is not None
        return self.range


def symbols(expr: Expr) -> set[str]:
    """Names of all symbols in the expression."""
    found: set[str] = set()
    waiting: list[Expr] = [expr]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Apply):
            waiting += one.args
        elif isinstance(one, Sym):
            found.add(one.name)
    return found


def depth(expr: Expr) -> int:
    """Nesting of the expression: 0 for a leaf."""
    return 1 + max(map(depth, expr.args)) if isinstance(expr, Apply) else 0


def count(expr: Expr) -> int:
    """Number of nodes of the expression."""
    return 1 + sum(map(count, expr.args)) if isinstance(expr, Apply) else 1


def _corners(a: Interval, b: Interval) -> Interval:
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def _floor_quotient(a: Interval, b: Interval) -> Interval:
    # Both ends of each divisor sign; the quotient is monotonic in either operand between them.
    divisors = [d for d in (*b, -1, 1) if b[0] <= d <= b[1] and d != 0]
    quotients = [x // d for x in a for d in divisors]
    return min(quotients), max(quotients)


def _modulus(a: Interval, b: Interval) -> Interval:
    if b[0] > 0:
        if 0 <= a[0] and a[1] < b[0]:
            return a
        return 0, b[1] - 1 if a[0] < 0 else min(b[1] - 1, a[1])
    if b[1] < 0:
        return b[0] + 1, 0
    return min(b[0] + 1, 0), max(b[1] - 1, 0)


def _join(ranges: list[Interval]) -> Interval:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _power(base: Interval, exponent: Interval) -> Interval:
    if exponent[0] < 0 or exponent[1] > MAX_POWER:
        raise IllegalExpression(f"pow_by_natural takes an exponent from 0 to {MAX_POWER}, not {exponent}")
    if max(map(abs, base)) > 2**63:
        raise IllegalExpression("the base of pow_by_natural does not fit in i64")
    candidates = [b**e for b in (*base, 0, -1) if base[0] <= b <= base[1]
                  for e in {exponent[0], exponent[1], max(exponent[1] - 1, exponent[0])}]
    return min(candidates), max(candidates)


class Facts:
    """Facts of expressions over symbols of known range; raises IllegalExpression for meaningless ones.

    known: inclusive range of each symbol. Names `v12` that are not listed get INDIRECT. widest: bound that every
    integer subexpression must keep (i64).
    """

    def __init__(self, known: Mapping[str, Interval]) -> None:
        self._known = dict(known)
        self._found: dict[int, tuple[Expr, Fact]] = {}

    def of(self, expr: Expr) -> Fact:
        """The fact about an expression; every subexpression is checked on the way."""
        found = self._found.get(id(expr))
        if found is not None:
            return found[1]
        fact = self._compute(expr)
        if fact.range is not None and not (INT64[0] <= fact.range[0] and fact.range[1] <= INT64[1]):
            raise IllegalExpression(f"an integer of the index expression may reach {fact.range}, beyond i64")
        self._found[id(expr)] = (expr, fact)  # holding expr keeps its id from being used again
        return fact

    def narrow(self, expr: Expr) -> bool:
        """Whether every integer subexpression fits in 32 bits."""
        fact = self.of(expr)
        inside = fact.range is None or (INT32[0] < fact.range[0] and fact.range[1] <= INT32[1])
        if isinstance(expr, Apply):
            if expr.function in ("ceildiv", "cleandiv") and inside:
                a, b = (self.of(one).interval for one in expr.args)
                inside = a[1] + max(b[1], 1) <= INT32[1] and a[0] - 1 > INT32[0]
            return inside and all(self.narrow(one) for one in expr.args)
        return inside

    def _compute(self, expr: Expr) -> Fact:
        if isinstance(expr, Sym):
            known = self._known.get(expr.name)
            if known is None:
                if not (expr.name[0] == "v" and expr.name[1:].isdecimal()):
                    raise IllegalExpression(f"unknown symbol {expr.name!r}; known are {' '.join(self._known)} and v12")
                known = INDIRECT
            return Fact("int", known)
        if isinstance(expr, Num):
            return Fact("int", (expr.value, expr.value))
        if isinstance(expr, Real):
            parse_real(expr)
            return Fact("real")
        self._check_arity(expr)
        return self._apply(expr, [self.of(one) for one in expr.args])

    def _check_arity(self, expr: Apply) -> None:
        wanted = _ARITY.get(expr.function)
        if wanted is None and len(expr.args) < 2:
            raise IllegalExpression(f"{expr.function} takes two or more arguments, not {len(expr.args)}")
        if wanted is not None and len(expr.args) != wanted:
            raise IllegalExpression(f"{expr.function} takes {wanted} arguments, not {len(expr.args)}")

    def _apply(self, expr: Apply, args: list[Fact]) -> Fact:
        name, kinds = expr.function, [fact.kind for fact in args]
        numbers = "bool" not in kinds
        if name in ("and", "or", "not"):
            self._require(set(kinds) == {"bool"}, name, "conditions")
            return Fact("bool")
        if name == "where":
            self._require(kinds[0] == "bool" and numbers is False and "bool" not in kinds[1:], name,
                          "a condition and two numbers")
            return self._mixed(args[1:], _join)
        self._require(numbers, name, "numbers, not conditions")
        if name in COMPARISONS:
            return Fact("bool")
        if name in ("add", "mul", "min", "max", "neg", "abs"):
            return self._mixed(args, {"add": _sum, "mul": _product, "min": _least, "max": _greatest,
                                      "neg": lambda r: (-r[0][1], -r[0][0]), "abs": _absolute}[name])
        if name in (*_DIVISIONS, "modular_indexing", "int_true_div", "pow_by_natural", "to_float"):
            self._require(set(kinds) == {"int"}, name, "integers")
            return self._integer(name, [fact.interval for fact in args])
        if name in _TO_INTEGER:
            self._require(kinds == ["real"], name, "a real (integers need no conversion)")
            return Fact("int", INDIRECT)
        if name == "round_decimal":
            digits = expr.args[1]
            self._require(isinstance(digits, Num) and 0 <= digits.value <= 22, name, "0 to 22 digits, as a literal")
        elif name in ("float_true_div", "float_pow"):
            self._require(set(kinds) == {"real"}, name, "reals (to_float converts)")
        return Fact("real")

    def _integer(self, name: str, ranges: list[Interval]) -> Fact:
        if name == "to_float":
            return Fact("real")
        if name == "pow_by_natural":
            return Fact("int", _power(ranges[0], ranges[1]))
        for divisor in ranges[1:]:
            self._require(not divisor[0] <= 0 <= divisor[1], name, f"a divisor that is never 0, not one in {divisor}")
        if name == "int_true_div":
            return Fact("real")
        if name in ("mod", "python_mod"):
            return Fact("int", _modulus(ranges[0], ranges[1]))
        if name == "modular_indexing":
            return Fact("int", _modulus(_floor_quotient(ranges[0], ranges[1]), ranges[2]))
        if name == "ceildiv":
            low, high = _floor_quotient((-ranges[0][1], -ranges[0][0]), ranges[1])
            return Fact("int", (-high, -low))
        return Fact("int", _floor_quotient(ranges[0], ranges[1]))

    def _mixed(self, args: list[Fact], combine: Callable[[list[Interval]], Interval]) -> Fact:
        if any(fact.kind == "real" for fact in args):
            return Fact("real")
        return Fact("int", combine([fact.interval for fact in args]))

    def _require(self, holds: bool, name: str, wanted: str) -> None:
        if not holds:
            raise IllegalExpression(f"{name} takes {wanted}")


def _sum(ranges: list[Interval]) -> Interval:
    return sum(low for low, _ in ranges), sum(high for _, high in ranges)


def _product(ranges: list[Interval]) -> Interval:
    product = ranges[0]
    for one in ranges[1:]:
        product = _corners(product, one)
    return product


def _least(ranges: list[Interval]) -> Interval:
    return min(low for low, _ in ranges), min(high for _, high in ranges)


def _greatest(ranges: list[Interval]) -> Interval:
    return max(low for low, _ in ranges), max(high for _, high in ranges)


def _absolute(ranges: list[Interval]) -> Interval:
    low, high = ranges[0]
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def parse_real(expr: Real) -> float:
    """The double that a Real stands for; IllegalExpression if it is none."""
    try:
        return real_number(expr.value)
    except (ValueError, OverflowError):
        raise IllegalExpression(f"{expr.value!r} is no double: write 1.5, inf or 0x1p-3") from None
