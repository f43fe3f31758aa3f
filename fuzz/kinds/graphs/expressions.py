"""Index expressions evaluated at many points at once, exactly (contract: codegen.md §1, kernels/codegen/notes.md).

Integers are exact: int64 where no intermediate result can leave it, Python's integers otherwise. Reals are doubles with
an error bound, because elementary functions may differ by an ulp; what depends on such a one near a step is open.
Nothing here is shared with the generator.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from tridiff.kernels.codegen.graph import Expr, Num, Real, Sym, real_number
from tridiff.oracles.by_numpy import bounded_functions, bounded_ops
from tridiff.oracles.by_numpy.bounded import TINY, Real as Reals, Value, Whole, exact_real, settle
from tridiff.oracles.dtypes import Array

_SAFE = 2.0**62
_ELEMENTARY = ("cos", "cosh", "acos", "sin", "sinh", "asin", "tan", "tanh", "atan", "log2")
_STEPS: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor, "floor_to_int": np.floor, "ceiling": np.ceil, "ceil_to_int": np.ceil, "trunc_to_int": np.trunc,
    "round_to_int": np.rint}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def integers(values: Array, is_open: Array | None = None) -> Whole:
    """int64 (or Python) integers as an expression's value."""
    wide = np.asarray(values)
    if wide.dtype != object:
        wide = wide.astype(np.int64) if wide.dtype != np.uint64 else _unsigned(wide)
    return Whole("i64", wide, np.zeros(wide.shape, bool) if is_open is None else is_open)


def _unsigned(values: Array) -> Array:
    return values.astype(object) if (values >> np.uint64(63)).any() else values.astype(np.int64)


def evaluate(expr: Expr, symbols: Mapping[str, Value]) -> Value:
    """The value of an expression: `Whole` i64 for integers, `Whole` i1 for conditions, `Real` fp64 for reals.

    symbols: axes, sizes and `v12` as `Whole`s whose arrays broadcast.
    """
    with np.errstate(all="ignore"):
        return _evaluate(expr, symbols)


def _evaluate(expr: Expr, symbols: Mapping[str, Value]) -> Value:
    if isinstance(expr, Sym):
        return symbols[expr.name]
    if isinstance(expr, Num):
        return integers(np.asarray(expr.value))
    if isinstance(expr, Real):
        return exact_real("fp64", np.asarray(real_number(expr.value)))
    args = [_evaluate(one, symbols) for one in expr.args]
    name = expr.function
    if name in ("add", "mul", "min", "max", "and", "or"):
        found = args[0]
        for one in args[1:]:
            found = _pair(name, found, one)
        return found
    if name == "where":
        return _where(args)
    if name in _COMPARISONS:
        return _compare(name, args[0], args[1])
    if name == "not":
        one = _whole(args[0])
        return Whole("i1", ~one.value.astype(bool), one.open)
    if isinstance(args[0], Reals) or name in (*_ELEMENTARY, "sqrt", "float_true_div", "float_pow", "round_decimal"):
        return _real(name, args)
    return _integer(name, [_whole(one) for one in args])


def _whole(x: Value) -> Whole:
    assert isinstance(x, Whole)
    return x


def _wide(*values: Array) -> list[Array]:
    """The arrays as Python integers."""
    return [value.astype(object) for value in values]


def _fits(*sizes: Array) -> bool:
    return all(bool((np.abs(size) < _SAFE).all()) for size in sizes)


def _sizes(value: Array) -> Array:
    return np.abs(value.astype(np.float64))


def as_real(x: Value) -> Reals:
    """An integer converted to double, nearest even."""
    if isinstance(x, Reals):
        return x
    found = exact_real("fp64", x.value.astype(np.float64))
    return found.open_where(x.open)


def _pair(name: str, a: Value, b: Value) -> Value:
    if isinstance(a, Reals) or isinstance(b, Reals):
        return bounded_ops.apply(f"{name}imum" if name in ("min", "max") else name, (as_real(a), as_real(b)))
    x, y, unsure = a.value, b.value, a.open | b.open
    if name in ("and", "or"):
        value = np.logical_and(x, y) if name == "and" else np.logical_or(x, y)
        # One certain operand may decide.
        decided = (~a.open & (x == (name == "or"))) | (~b.open & (y == (name == "or")))
        return Whole("i1", value.astype(bool), unsure & ~decided)
    if (name == "mul" and not _fits(_sizes(x) * _sizes(y))) or (name == "add" and not _fits(_sizes(x) + _sizes(y))):
        x, y = _wide(x, y)
    operation: Callable[[Array, Array], Array] = {
        "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[name]
    return integers(_narrowed(operation(x, y)), unsure)


def _narrowed(found: Any) -> Array:
    """Python integers (numpy unpacks single ones) as int64 where they fit."""
    value = np.asarray(found, dtype=object if isinstance(found, int) else None)
    if value.dtype == object and value.size and all(-(2**62) < int(one) < 2**62 for one in value.reshape(-1)):
        return value.astype(np.int64)
    return value


def _where(args: list[Value]) -> Value:
    condition, a, b = args
    assert isinstance(condition, Whole)
    if isinstance(a, Reals) or isinstance(b, Reals):
        return bounded_ops.apply("where", (condition, as_real(a), as_real(b)))
    return bounded_ops.apply("where", (condition, a, b)) if a.value.dtype != object and b.value.dtype != object else (
        integers(np.where(condition.value, *_wide(a.value, b.value)), condition.open | a.open | b.open))


def _compare(name: str, a: Value, b: Value) -> Value:
    if isinstance(a, Reals) or isinstance(b, Reals):
        return bounded_ops.apply(name, (as_real(a), as_real(b)))
    compare = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
               "ge": np.greater_equal}[name]
    return Whole("i1", np.asarray(compare(a.value, b.value)).astype(bool), a.open | b.open)


def _integer(name: str, args: list[Whole]) -> Value:
    a = args[0]
    x, unsure = a.value, reduce(np.logical_or, (one.open for one in args))
    if name == "neg":
        return integers(-x, unsure)
    if name == "abs":
        return integers(np.abs(x), unsure)
    if name == "to_float":
        return as_real(a)
    y = args[1].value
    if name == "pow_by_natural":
        powers = np.frompyfunc(pow, 2, 1)(*_wide(*np.broadcast_arrays(x, y)))
        return integers(_narrowed(np.asarray(powers, dtype=object)), unsure)
    unsure = unsure | (y == 0)
    divisor = np.where(y == 0, 1, y)
    if name == "int_true_div":
        if _fits(_sizes(x) * 2.0**9, _sizes(divisor) * 2.0**9):
            value = x.astype(np.float64) / divisor.astype(np.float64)
        else:
            quotients = np.frompyfunc(lambda p, q: int(p) / int(q), 2, 1)(*_wide(*np.broadcast_arrays(x, divisor)))
            value = np.asarray(quotients, dtype=np.float64)
        found = exact_real("fp64", value)
        return found.open_where(unsure)
    if name in ("floordiv", "cleandiv"):
        return integers(np.floor_divide(x, divisor), unsure)
    if name == "ceildiv":
        return integers(-np.floor_divide(-x, divisor), unsure)
    if name in ("mod", "python_mod"):
        return integers(np.remainder(x, divisor), unsure)
    assert name == "modular_indexing"
    z = args[2].value
    unsure = unsure | (z == 0)
    return integers(np.remainder(np.floor_divide(x, divisor), np.where(z == 0, 1, z)), unsure)


def _real(name: str, args: list[Value]) -> Value:
    x = as_real(args[0])
    if name in _STEPS:
        return bounded_ops.to_integer(x, "i64", function=_STEPS[name])
    if name in _ELEMENTARY:
        return bounded_functions.smooth(name, x)
    if name == "sqrt":
        spread = 0.0 if x.exact.all() else bounded_functions.smooth("sqrt", x).error
        return settle("fp64", np.sqrt(x.value), spread, rounds=True)
    if name in ("neg", "abs"):
        return bounded_ops.apply(name, (x,))
    if name == "round_decimal":
        return _round_decimal(x, args[1])
    if name == "float_pow":
        return bounded_ops.apply("pow", (x, as_real(args[1])))
    assert name == "float_true_div"
    return bounded_ops.apply("truediv", (x, as_real(args[1])))


def _round_decimal(x: Reals, digits: Value) -> Reals:
    places = int(_whole(digits).value)
    rounding = np.frompyfunc(lambda v: round(float(v), places) if v - v == 0 else v, 1, 1)
    value, low, high = (np.asarray(rounding(one), dtype=np.float64) for one in (x.value, x.low, x.high))
    # Rounding never falls: what lies between the ends is rounded to what lies between theirs.
    between = np.maximum(value - low, high - value)
    same = (low == high) & (np.signbit(low) == np.signbit(high))
    blurred = np.where(same, 0.0, np.maximum(between * (1.0 + 2.0**-50), TINY))
    return Reals("fp64", value, np.where(x.exact, 0.0, np.where(np.isfinite(between), blurred, np.inf)))


