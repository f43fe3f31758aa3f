"""Index expressions: where loads read and stores write, and values of expressions of every printer node.

Addresses are within their buffer by construction: the buffer is made as long as the address reaches. Free expressions
(`integer`, `real`, `condition`) use every node of codegen.md §1 with operands that keep it defined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.kernels.codegen.graph import Apply, Expr, Function, Num, Real, Sym
from tridiff.kernels.codegen.ranges import Facts, Interval

ZERO = Num(value=0)
_DIVISORS: tuple[str, ...] = ("2.0", "3.0", "0.1", "-7.0")
_EXPONENTS: tuple[str, ...] = ("0.5", "2.0", "-1.0", "3.0")
_REALS = ("0x1p-1", "1.0", "2.0", "-1.0", "0.1", "1.5", "0.75", "3.0", "16777217.0")


def num(value: int) -> Num:
    """A constant."""
    return Num(value=value)


def apply(function: Function, *args: Expr) -> Expr:
    """A function of expressions."""
    return Apply(function=function, args=args)


def plus(*terms: Expr) -> Expr:
    """A sum without zeros; flat."""
    kept = [term for term in terms if term != ZERO]
    if not kept:
        return ZERO
    return kept[0] if len(kept) == 1 else Apply(function="add", args=tuple(kept))


def times(expr: Expr, factor: int) -> Expr:
    """expr * factor."""
    if factor == 0:
        return ZERO
    return expr if factor == 1 else apply("mul", expr, num(factor))


def linear(axes: Sequence[tuple[str, int]], strides: Sequence[int], offset: int = 0) -> Expr:
    """offset + sum of axis * stride."""
    return plus(*(times(Sym(name=name), stride) for (name, _), stride in zip(axes, strides, strict=True)), num(offset))


def dense_strides(lengths: Sequence[int], *, gap: int = 0) -> list[int]:
    """Row-major strides, with `gap` unused elements after each line of the last axis."""
    strides, running = [0] * len(lengths), 1
    for place in reversed(range(len(lengths))):
        strides[place] = running
        running *= max(lengths[place], 1)
        if place == len(lengths) - 1:
            running += gap
    return strides


def reach(axes: Sequence[tuple[str, int]], strides: Sequence[int], offset: int = 0) -> int:
    """Elements that a linear address with non-negative strides needs."""
    return 1 + offset + sum(max(length - 1, 0) * stride for (_, length), stride in zip(axes, strides, strict=True))


def address(chance: Choices, form: str, axes: Sequence[tuple[str, int]], *, store: bool = False) -> tuple[Expr, int]:
    """(index expression, buffer length) over some axes. store: different points get different elements."""
    axes = list(axes)
    if form == "broadcast" and not store and len(axes) > 1:
        axes.pop(chance.below(len(axes)))
        form = "dense"
    if form == "permuted" and len(axes) > 1:
        axes = axes[::-1] if len(axes) == 2 or not chance.below(2) else [axes[1], axes[0], *axes[2:]]
    lengths = [length for _, length in axes]
    gap, step, offset = 0, 1, 0
    if form == "strided":
        gap, step, offset = chance.of((0, 1, 3)), chance.of((1, 2, 3)), chance.of((0, 1, 7))
    strides = [stride * step for stride in dense_strides(lengths, gap=gap)]
    expr = linear(axes, strides, offset)
    length = reach(axes, strides, offset)
    if form == "flipped" and axes:
        return plus(num(length - 1), apply("neg", expr)), length
    if form == "modular" and axes and not store:
        return _modular(chance, expr, length)
    if form == "modular" and axes and store and length > 1:
        return _transposed_digits(chance, expr, length)
    return expr, length + (chance.of((0, 0, 1)) if form == "strided" else 0)


def _modular(chance: Choices, expr: Expr, length: int) -> tuple[Expr, int]:
    divisor, modulus = chance.of((1, 2, 3, 4)), chance.of((1, 2, 4, 5, 8, 16))
    kind = chance.below(4)
    if kind == 0:
        return apply("modular_indexing", expr, num(divisor), num(modulus)), modulus
    if kind == 1:
        return apply("floordiv", expr, num(divisor)), (length - 1) // divisor + 1
    if kind == 2:
        return apply("mod", expr, num(modulus)), modulus
    return plus(times(apply("mod", expr, num(modulus)), (length - 1) // divisor + 1),
                apply("floordiv", expr, num(divisor))), modulus * ((length - 1) // divisor + 1)


def _transposed_digits(chance: Choices, expr: Expr, length: int) -> tuple[Expr, int]:
    """Rows of `base` become columns: a bijection between (p, q) and (q, p)."""
    base = chance.of((2, 3, 4, 8))
    rows = -(-length // base)
    return plus(times(apply("mod", expr, num(base)), rows), apply("floordiv", expr, num(base))), base * rows


class Expressions:
    """Free expressions over given symbols. facts: ranges of the symbols."""

    def __init__(self, chance: Choices, facts: Facts, symbols: Sequence[str]) -> None:
        self._chance, self._facts, self._symbols = chance, facts, list(symbols)

    def range(self, expr: Expr) -> Interval:
        """Proven range of an integer expression."""
        return self._facts.of(expr).interval

    def integer(self, depth: int) -> Expr:
        """An integer expression; the range stays within +-2^30."""
        if depth <= 0 or not self._symbols:
            if self._symbols and self._chance.below(4):
                return Sym(name=self._chance.of(self._symbols))
            return num(self._chance.of((0, 1, 2, 3, -1, 7, 16, 100, -5, 65537)))
        made = self._INTEGER[self._chance.below(len(self._INTEGER))](self, depth - 1)
        low, high = self.range(made)
        if low < -(2**30) or high > 2**30:
            return apply("python_mod", made, num(self._chance.of((1024, 97, 7))))
        return made

    def _pair(self, depth: int) -> tuple[Expr, Expr]:
        return self.integer(depth), self.integer(depth - 1)

    def _divisor(self) -> Expr:
        return num(self._chance.of((2, 1, 3, 4, 5, 8, -2, -3, 16, 1000)))

    def _natural(self, depth: int) -> Expr:
        """An expression that is not negative."""
        expr = self.integer(depth)
        return expr if self.range(expr)[0] >= 0 else apply("max", expr, ZERO)

    def _large(self, depth: int) -> Expr:
        """An integer that often needs more than 24 bits, or more than 53."""
        factor = self._chance.of((1, (1 << 25) + 1, (1 << 31) - 1))
        # Reduced first: data in the expression count as anything up to 2^40.
        reduced = apply("python_mod", self.integer(depth), num(1 << 30))
        return times(reduced, factor)

    def _remainder_of_large(self, depth: int) -> Expr:
        # The quotient of what was cut to 32 bits would often be right, the remainder is not.
        return apply(self._chance.of(("mod", "python_mod")), self._large(depth), num(self._chance.of((97, 1009, 7))))

    def _power(self, depth: int) -> Expr:
        base = apply("python_mod", self.integer(depth), num(self._chance.of((3, 5, 16))))
        exponent = self._chance.of((num(2), num(3), num(0), num(5), apply("python_mod", self.integer(0), num(6))))
        return apply("pow_by_natural", base, exponent)

    def _clean(self, depth: int) -> Expr:
        factor = self._chance.of((2, 3, 8))
        return apply("cleandiv", apply("mul", self.integer(depth), num(factor)), num(factor))

    def _ceildiv(self, depth: int) -> Expr:
        return apply("ceildiv", self.integer(depth), num(self._chance.of((2, 3, 8))))

    def _rounded(self, depth: int) -> Expr:
        function = self._chance.of(_TO_INTEGER)
        # The real is limited so that the conversion is defined, the integer so that its range is known.
        limited = apply("max", apply("min", self.real(depth), Real(value="1048576.0")), Real(value="-1048576.0"))
        return apply("max", apply("min", apply(function, limited), num(1 << 20)), num(-(1 << 20)))

    _INTEGER: tuple[Callable[[Expressions, int], Expr], ...] = (
        lambda self, d: apply("add", *self._pair(d)),
        lambda self, d: apply("mul", self.integer(d), num(self._chance.of((2, 3, -1, 5, 16)))),
        lambda self, d: apply("floordiv", self.integer(d), self._divisor()),
        lambda self, d: apply("mod", self.integer(d), self._divisor()),
        lambda self, d: apply("python_mod", self.integer(d), self._divisor()),
        lambda self, d: apply("modular_indexing", self._natural(d), num(self._chance.of((1, 2, 3))),
                              num(self._chance.of((2, 4, 7, 16)))),
        lambda self, d: apply("min", *self._pair(d)),
        lambda self, d: apply("max", *self._pair(d)),
        lambda self, d: apply("neg", self.integer(d)),
        lambda self, d: apply("abs", self.integer(d)),
        lambda self, d: apply("where", self.condition(d), *self._pair(d)),
        _ceildiv, _clean, _power, _rounded, _remainder_of_large,
        lambda self, d: apply("mul", apply("python_mod", self.integer(d), num(97)),
                              apply("python_mod", self.integer(d - 1), num(31))),
    )

    def condition(self, depth: int) -> Expr:
        """A condition."""
        choice = self._chance.below(9)
        if choice < 6 or depth <= 0:
            function = _COMPARISONS[choice % 6]
            if depth > 0 and self._chance.one_in(8):
                return apply(function, self.real(depth - 1), self.real(0))
            return apply(function, *self._pair(depth - 1))
        if choice == 8:
            return apply("not", self.condition(depth - 1))
        return apply("and" if choice == 6 else "or", self.condition(depth - 1), self.condition(depth - 1))

    def real(self, depth: int) -> Expr:
        """A real expression."""
        if depth <= 0:
            if self._chance.below(2):
                return Real(value=self._chance.of(_REALS))
            return apply("to_float", self.integer(0))
        return self._REAL[self._chance.below(len(self._REAL))](self, depth - 1)

    _REAL: tuple[Callable[[Expressions, int], Expr], ...] = (
        lambda self, d: apply("to_float", self.integer(d)),
        lambda self, d: apply("int_true_div", self._large(d), self._divisor()),
        lambda self, d: apply("float_true_div", self.real(d), Real(value=self._chance.of(_DIVISORS))),
        lambda self, d: apply("mul", self.real(d), self.real(0)),
        lambda self, d: apply("add", self.real(d), self.real(0)),
        lambda self, d: apply("sqrt", apply("to_float", self._natural(d))),
        lambda self, d: apply(self._chance.of(_EVERYWHERE), self.real(d)),
        lambda self, d: apply(self._chance.of(("acos", "asin")), apply(
            "float_true_div", apply("to_float", apply("python_mod", self.integer(d), num(5))), Real(value="4.0"))),
        lambda self, d: apply(self._chance.of(("cosh", "sinh")), apply(
            "to_float", apply("python_mod", self.integer(d), num(9)))),
        lambda self, d: apply("log2", apply("to_float", apply("add", self._natural(d), num(1)))),
        lambda self, d: apply("float_pow", apply("to_float", apply("add", apply(
            "python_mod", self.integer(d), num(9)), num(1))), Real(value=self._chance.of(_EXPONENTS))),
        lambda self, d: apply("round_decimal", self.real(d), num(self._chance.of((2, 0, 1, 3)))),
        lambda self, d: apply("where", self.condition(d), self.real(0), self.real(d)),
        lambda self, d: apply(self._chance.of(("min", "max")), self.real(d), self.real(0)),
        lambda self, d: apply(self._chance.of(("neg", "abs")), self.real(d)),
    )


_COMPARISONS: tuple[Function, ...] = ("lt", "ge", "eq", "ne", "le", "gt")
_TO_INTEGER: tuple[Function, ...] = ("floor_to_int", "ceil_to_int", "trunc_to_int", "round_to_int", "floor", "ceiling")
_EVERYWHERE: tuple[Function, ...] = ("sin", "cos", "tanh", "atan", "tan")
