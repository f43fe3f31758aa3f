"""Index expressions as Triton text (contract: codegen.md §1).

Text re-parses to the tree it came from: operands of `//` and `%` are always bracketed unless they are atoms, sums
and products keep their order of evaluation. Signed `//` and `%` are printed only where both sides are provably
non-negative; elsewhere the helpers floor.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tridiff.kernels.codegen.constants import full
from tridiff.kernels.codegen.graph import Apply, Expr, Num, Real, Sym
from tridiff.kernels.codegen.ranges import COMPARISONS, ELEMENTARY, Facts, parse_real

ATOM, PRODUCT, SUM, BITS, COMPARISON = range(5)
_WHOLE = {"floor": "floor", "floor_to_int": "floor", "ceiling": "ceil", "ceil_to_int": "ceil",
          "round_to_int": "nearbyint"}
_HELPERS = {"//": "div_floor_integer", "%": "remainder_integer"}
EXACT_DOUBLE = 2**53


@dataclass(frozen=True, slots=True)
class Text:
    """Printed text and how loosely it binds."""

    text: str
    binding: int = ATOM

    def within(self, binding: int) -> str:
        """The text, in brackets if it binds more loosely than `binding`."""
        return self.text if self.binding <= binding else f"({self.text})"


@dataclass
class Printer:
    """Prints expressions for one kernel.

    names: text of each symbol, an integer block or scalar. scalars: those that may be bare Python integers (sizes).
    shape: of a typed constant, "[1, 1]". wide: symbols are int64 already. used: collects the names to import.
    """

    facts: Facts
    names: Mapping[str, str]
    shape: str
    scalars: frozenset[str] = frozenset()
    wide: bool = False
    used: set[str] = field(default_factory=set)
    _narrow: bool = True

    def text(self, expr: Expr) -> Text:
        """Text of an expression; integers are int32 if every part fits and the kernel counts so, else int64."""
        self._narrow = self.facts.narrow(expr) and not self.wide
        return self._print(expr)

    def is_wide(self, expr: Expr) -> bool:
        """Whether integers of this expression are computed in int64."""
        return self.wide or not self.facts.narrow(expr)

    def _call(self, name: str, *args: str) -> Text:
        self.used.add(name.partition(".")[0])
        return Text(f"{name}({', '.join(args)})")

    @property
    def _integer(self) -> str:
        return "tl.int32" if self._narrow else "tl.int64"

    def _print(self, expr: Expr) -> Text:
        if isinstance(expr, Sym):
            return self._symbol(expr.name)
        if isinstance(expr, Num):
            return Text(str(expr.value)) if expr.value >= 0 else Text(str(expr.value), SUM)
        if isinstance(expr, Real):
            return Text(self._double(parse_real(expr)))
        kinds = {self.facts.of(one).kind for one in expr.args}
        if expr.function in ("add", "mul", "min", "max", "neg", "abs") and "real" in kinds:
            return self._real_arithmetic(expr)
        handler = getattr(self, f"_print_{expr.function}", None)
        if handler is not None:
            return handler(expr)
        if expr.function in COMPARISONS:
            return self._comparison(expr)
        if expr.function in ELEMENTARY:
            return self._call(f"libdevice.{expr.function}", self._as_double(expr.args[0]))
        whole = self._call(f"libdevice.{_WHOLE[expr.function]}", self._print(expr.args[0]).text)
        return Text(f"{whole.text}.to({self._integer})")

    def _double(self, value: float) -> str:
        return full(value, "fp64", self.shape)

    def _symbol(self, name: str) -> Text:
        text = self.names[name]
        if name in self.scalars:
            return Text(text if self._narrow else f"tl.cast({text}, tl.int64)")
        if name[0] == "v" and name[1:].isdecimal():
            return Text(f"{text}.to({self._integer})")
        return Text(text if self._narrow or self.wide else f"{text}.to(tl.int64)")

    def _as_double(self, expr: Expr) -> str:
        """An argument of a real function: integers are converted exactly or to nearest even."""
        if isinstance(expr, Num):
            return self._double(float(expr.value))
        if self.facts.of(expr).kind == "real":
            return self._print(expr).text
        return f"tl.cast({self._typed(expr)}, tl.float64)"

    def _bare(self, expr: Expr) -> bool:
        """Whether an integer is printed as a Python number or a scalar argument, which may be a constant of the launch.
        Every larger expression is a block: scalars by themselves would follow other rules, in the interpreter too."""
        return isinstance(expr, Num) or (isinstance(expr, Sym) and expr.name in self.scalars)

    def _typed(self, expr: Expr) -> str:
        """An integer argument as a block even if it is a literal or a size."""
        if isinstance(expr, Num):
            return full(expr.value, "i32" if self._narrow else "i64", self.shape)
        if self._bare(expr):
            return f"tl.full({self.shape}, {self._print(expr).text}, {self._integer})"
        return self._print(expr).text

    def _first(self, args: tuple[Expr, ...]) -> Text:
        """The first operand of an operator: as a block if no other operand is one."""
        return Text(self._typed(args[0])) if all(map(self._bare, args)) else self._print(args[0])

    # -- arithmetic

    def _print_add(self, expr: Apply) -> Text:
        parts = [self._first(expr.args).within(SUM)]
        for one in expr.args[1:]:
            if isinstance(one, Num) and one.value < 0:
                parts.append(f"- {-one.value}")
            elif isinstance(one, Apply) and one.function == "neg" and self.facts.of(one).kind == "int":
                parts.append(f"- {self._print(one.args[0]).within(PRODUCT)}")
            else:
                parts.append(f"+ {self._print(one).within(PRODUCT)}")
        return Text(" ".join(parts), SUM)

    def _print_mul(self, expr: Apply) -> Text:
        first, *others = expr.args
        is_product = isinstance(first, Apply) and first.function == "mul"
        parts = [self._first(expr.args).within(PRODUCT if is_product else ATOM)]
        return Text(" * ".join([*parts, *(self._print(one).within(ATOM) for one in others)]), PRODUCT)

    def _print_neg(self, expr: Apply) -> Text:
        return Text(f"-{self._first(expr.args).within(ATOM)}", SUM)

    def _real_arithmetic(self, expr: Apply) -> Text:
        parts = [self._as_double(one) for one in expr.args]
        if expr.function in ("add", "mul"):
            sign = " + " if expr.function == "add" else " * "
            return Text(sign.join(self._bracketed(part) for part in parts), SUM if expr.function == "add" else PRODUCT)
        if expr.function in ("neg", "abs"):
            return self._call("pointwise.negate" if expr.function == "neg" else "pointwise.absolute", parts[0])
        return self._fold(f"{expr.function}imum", parts)

    def _bracketed(self, text: str) -> str:
        return text if is_atom(text) else f"({text})"

    def _fold(self, name: str, parts: list[str]) -> Text:
        result = Text(parts[0])
        for part in parts[1:]:
            result = self._call(name, result.text, part)
        return result

    def _print_min(self, expr: Apply) -> Text:
        return self._fold(f"{expr.function}imum", [self._typed(one) for one in expr.args])

    _print_max = _print_min

    def _print_abs(self, expr: Apply) -> Text:
        return self._call("pointwise.absolute_integer", self._typed(expr.args[0]))

    # -- divisions

    def _divided(self, operator: str, a: Expr, b: Expr) -> Text:
        if self._both_natural(a, b):
            return Text(f"{self._operand(a)} {operator} {self._print(b).within(ATOM)}", PRODUCT)
        return self._call(_HELPERS[operator], self._typed(a), self._typed(b))

    def _operand(self, a: Expr) -> str:
        return self._typed(a) if self._bare(a) else self._print(a).within(ATOM)

    def _both_natural(self, a: Expr, b: Expr) -> bool:
        return self.facts.of(a).interval[0] >= 0 and self.facts.of(b).interval[0] > 0

    def _print_floordiv(self, expr: Apply) -> Text:
        return self._divided("//", expr.args[0], expr.args[1])

    _print_cleandiv = _print_floordiv

    def _print_ceildiv(self, expr: Apply) -> Text:
        a, b = expr.args
        if self._both_natural(a, b):
            sum_ = f"{self._first((a, b)).within(SUM)} + {self._print(b).within(PRODUCT)} - 1"
            return Text(f"({sum_}) // {self._print(b).within(ATOM)}", PRODUCT)
        negated = Text(f"-{self._operand(a)}")
        return Text(f"-{self._call(_HELPERS['//'], negated.text, self._typed(b)).text}", SUM)

    def _print_mod(self, expr: Apply) -> Text:
        return self._divided("%", expr.args[0], expr.args[1])

    _print_python_mod = _print_mod

    def _print_modular_indexing(self, expr: Apply) -> Text:
        x, d, m = expr.args
        return self._divided("%", Apply("floordiv", (x, d)), m)

    def _print_int_true_div(self, expr: Apply) -> Text:
        ranges = [self.facts.of(one).interval for one in expr.args]
        if all(-EXACT_DOUBLE <= low and high <= EXACT_DOUBLE for low, high in ranges):
            a, b = (self._as_double(one) for one in expr.args)
            return Text(f"{self._bracketed(a)} / {self._bracketed(b)}", PRODUCT)
        a, b = (f"tl.cast({self._typed(one)}, tl.int64)" for one in expr.args)
        return self._call("true_divide", a, b)

    def _print_float_true_div(self, expr: Apply) -> Text:
        a, b = (self._bracketed(self._as_double(one)) for one in expr.args)
        return Text(f"{a} / {b}", PRODUCT)

    # -- conversions, powers, conditions

    def _print_to_float(self, expr: Apply) -> Text:
        return Text(self._as_double(expr.args[0]))

    def _print_trunc_to_int(self, expr: Apply) -> Text:
        return Text(f"{self._bracketed(self._print(expr.args[0]).text)}.to({self._integer})")

    def _print_round_decimal(self, expr: Apply) -> Text:
        digits = expr.args[1]
        assert isinstance(digits, Num)
        return self._call("round_decimal", self._as_double(expr.args[0]), f"{10**digits.value}.0")

    def _print_float_pow(self, expr: Apply) -> Text:
        return self._call("libdevice.pow", *(self._as_double(one) for one in expr.args))

    def _print_pow_by_natural(self, expr: Apply) -> Text:
        base, exponent = expr.args
        if isinstance(exponent, Num) and isinstance(base, Sym) and 1 <= exponent.value <= 4:
            return Text(" * ".join([self._typed(base)] * exponent.value), PRODUCT)
        return self._call("natural_power", self._typed(base), self._typed(exponent))

    def _print_where(self, expr: Apply) -> Text:
        condition, p, q = expr.args
        real = self.facts.of(expr).kind == "real"
        p_text, q_text = (self._as_double(one) if real else self._typed(one) for one in (p, q))
        return Text(f"tl.where({self._print(condition).text}, {p_text}, {q_text})")

    def _comparison(self, expr: Apply) -> Text:
        a, b = expr.args
        if self.facts.of(a).kind == "real" or self.facts.of(b).kind == "real":
            a_text, b_text = (self._bracketed(self._as_double(one)) for one in (a, b))
        else:
            a_text = self._first((a, b)).within(SUM)
            b_text = self._print(b).within(SUM)
        return Text(f"{a_text} {COMPARISONS[expr.function]} {b_text}", COMPARISON)

    def _print_and(self, expr: Apply) -> Text:
        sign = " & " if expr.function == "and" else " | "
        return Text(sign.join(self._print(one).within(ATOM) for one in expr.args), BITS)

    _print_or = _print_and

    def _print_not(self, expr: Apply) -> Text:
        return Text(f"{self._print(expr.args[0]).within(ATOM)} ^ True", BITS)


def is_atom(text: str) -> bool:
    """Whether text needs no brackets as an operand: a name, a number, a call or one bracket."""
    level = 0
    for character in text:
        level += (character in "([") - (character in ")]")
        if level == 0 and character in " -+*/%&|^<>=":
            return False
    return True
