"""Simplification of integer index expressions, by ranges and by folding; reals are left as they stand.

Only what makes generated kernels shorter without a search: constants are folded, neutral operands dropped, and
divisions and remainders disappear where the range of the dividend decides them.
"""

from tridiff.kernels.codegen.graph import Apply, Expr, Function, Num, Sym
from tridiff.kernels.codegen.ranges import Facts


def simplify(expr: Expr, facts: Facts, sizes: dict[str, int] | None = None) -> Expr:
    """An expression of the same value at every point. sizes: parameters to replace by their numbers,
    axes of one element by 0; None where sizes are not known."""
    if isinstance(expr, Sym):
        if sizes is None or expr.name[0] == "v":
            return expr
        low, high = facts.of(expr).interval
        return Num(low) if low == high else expr
    if not isinstance(expr, Apply):
        return expr
    args = tuple(simplify(one, facts, sizes) for one in expr.args)
    rebuilt = expr if args == expr.args else Apply(expr.function, args)
    if any(facts.of(one).kind != "int" for one in args) or facts.of(rebuilt).kind != "int":
        return rebuilt
    simpler = _integer(rebuilt.function, args, facts)
    if simpler is None:
        low, high = facts.of(rebuilt).interval
        simpler = Num(low) if low == high else rebuilt
    return simpler


def _integer(name: str, args: tuple[Expr, ...], facts: Facts) -> Expr | None:
    """A simpler form of an integer function of integers, or None."""
    if name == "add":
        return _sum(args)
    if name == "mul":
        return _product(args)
    if name in ("floordiv", "cleandiv", "ceildiv", "mod", "python_mod"):
        return _division(name, args[0], args[1], facts)
    if name == "modular_indexing":
        quotient = _division("floordiv", args[0], args[1], facts)
        if quotient is not None:
            return _division("mod", quotient, args[2], facts) or Apply("mod", (quotient, args[2]))
    if name == "abs" and facts.of(args[0]).interval[0] >= 0:
        return args[0]
    if name == "neg" and isinstance(args[0], Apply) and args[0].function == "neg":
        return args[0].args[0]
    return None


def _division(name: str, x: Expr, d: Expr, facts: Facts) -> Expr | None:
    low, high = facts.of(x).interval
    smallest = facts.of(d).interval[0]
    remainder = name in ("mod", "python_mod")
    if isinstance(d, Num) and d.value == 1:
        return Num(0) if remainder else x
    if low >= 0 and high < smallest and name != "ceildiv":
        return x if remainder else Num(0)
    if not remainder and isinstance(d, Num) and isinstance(x, Apply) and x.function == "mul":
        factor = x.args[-1]
        if isinstance(factor, Num) and factor.value % d.value == 0:
            return _product((*x.args[:-1], Num(factor.value // d.value)))
    return None


def _flat(name: str, args: tuple[Expr, ...]) -> tuple[list[Expr], list[int]]:
    """Operands of nested applications of an associative function: the others, and the numbers."""
    others: list[Expr] = []
    numbers: list[int] = []
    for one in args:
        if isinstance(one, Num):
            numbers.append(one.value)
        elif isinstance(one, Apply) and one.function == name:
            inner, constants = _flat(name, one.args)
            others += inner
            numbers += constants
        else:
            others.append(one)
    return others, numbers


def _rebuilt(name: Function, parts: list[Expr], numbers: tuple[int, ...]) -> Expr | None:
    """`name` of the parts and a number; None if it would not fit a node of the graph."""
    everything = (*parts, *map(Num, numbers))
    if any(not -(2**63) <= n < 2**63 for n in numbers) or len(everything) > 8:
        return None
    return everything[0] if len(everything) == 1 else Apply(name, everything)


def _sum(args: tuple[Expr, ...]) -> Expr | None:
    others, numbers = _flat("add", args)
    total = sum(numbers)
    return _rebuilt("add", others, (total,) if total or not others else ())


def _product(args: tuple[Expr, ...]) -> Expr | None:
    others, numbers = _flat("mul", args)
    product = 1
    for number in numbers:
        product *= number
    if product == 0:
        return Num(0)
    return _rebuilt("mul", others, (product,) if product != 1 or not others else ())
