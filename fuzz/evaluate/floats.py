"""Floating-point arithmetic and functions. Functions of narrow types are computed in fp64 and rounded once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tridiff.fuzz.evaluate.conversions import narrowed, rounded_once
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.integers import COMPARED
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives
from tridiff.oracles.by_exact.rounding import rounded


def _arithmetic(name: str, function: Callable[[Array, Array], Any]) -> None:
    @gives(*name.split())
    def meaning(operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype.itemsize == 1:
            return narrowed(np.asarray(function(a.astype(np.float32), b.astype(np.float32))), a.dtype)
        return np.asarray(function(a, b)).astype(a.dtype, copy=False)


_arithmetic("arith.addf", np.add)
_arithmetic("arith.subf", np.subtract)
_arithmetic("arith.mulf", np.multiply)
_arithmetic("arith.divf tt.precise_divf tt.approx_divf", np.divide)
_arithmetic("arith.remf", lambda a, b: np.fmod(a.astype(np.float64), b.astype(np.float64)))


@gives("arith.negf")
def negated(operation: Operation, one: Array) -> Any:
    """Only the sign's bit changes."""
    bits = one.view(f"u{one.dtype.itemsize}")
    return np.asarray(bits ^ bits.dtype.type(1 << (8 * bits.dtype.itemsize - 1))).view(one.dtype)


@gives("math.absf")
def absolute(operation: Operation, one: Array) -> Any:
    bits = one.view(f"u{one.dtype.itemsize}")
    return np.asarray(bits & bits.dtype.type((1 << (8 * bits.dtype.itemsize - 1)) - 1)).view(one.dtype)


def larger(a: Array, b: Array) -> Array:
    """The larger number, +0 before -0; of a NaN and anything the first."""
    return np.where((a > b) | ((a == b) & ~np.signbit(a)) | np.isnan(a), a, b)


def smaller(a: Array, b: Array) -> Array:
    """The smaller number, -0 before +0; of a NaN and anything the first."""
    return np.where((a < b) | ((a == b) & np.signbit(a)) | np.isnan(a), a, b)


def extreme(a: Array, b: Array, *, largest: bool, propagate: bool) -> Array:
    """Maximum or minimum. propagate: NaN if either is, otherwise a number if either is."""
    found = (larger if largest else smaller)(a, b)
    return np.where(np.isnan(b), b, found) if propagate else np.where(np.isnan(a), b, np.where(np.isnan(b), a, found))


@gives("arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf")
def extremes(operation: Operation, a: Array, b: Array) -> Any:
    return extreme(a, b, largest="max" in operation.name, propagate="imumf" in operation.name)


@gives("tt.clampf")
def clamped(operation: Operation, x: Array, low: Array, high: Array) -> Any:
    if "all" in operation.words:
        return np.where(np.isnan(x), x, extreme(extreme(x, low, largest=True, propagate=True), high, largest=False,
                                                propagate=True))
    return extreme(extreme(x, low, largest=True, propagate=False), high, largest=False, propagate=False)


@gives("arith.cmpf")
def compared(operation: Operation, a: Array, b: Array) -> Any:
    predicate, unordered = operation.words[0], np.isnan(a) | np.isnan(b)
    if predicate in ("ord", "uno"):
        return np.asarray(unordered if predicate == "uno" else ~unordered)
    if predicate in ("true", "false"):
        return np.full(np.shape(unordered), predicate == "true")
    found = COMPARED[predicate[1:]](a, b)
    return np.asarray(found | unordered if predicate[0] == "u" else found & ~unordered)


FUNCTIONS: dict[str, Callable[[Array], Any]] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "roundeven": np.rint, "erf": scipy.special.erf,
}


@gives(*(f"math.{name}" for name in FUNCTIONS), "tt.precise_sqrt", "tt.approx_sqrt")
def function(operation: Operation, one: Array) -> Any:
    name = operation.name.removeprefix("math.").removeprefix("tt.precise_").removeprefix("tt.approx_")
    return np.asarray(FUNCTIONS[name](one.astype(np.float64))).astype(one.dtype)


def multiplied_and_added(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, rounded once."""
    if a.dtype.itemsize == 8:
        a, b, c = (np.ascontiguousarray(one) for one in np.broadcast_arrays(a, b, c))
        return rounded("fma", "rn", "fp64", a, b, c)
    product, term = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)  # exact
    near = np.asarray(product + term)
    part = near - product
    error = (product - (near - part)) + (term - part)
    # What is not exact becomes the neighbour with an odd last bit, which the second rounding cannot take for a tie.
    bits = near.view(np.int64)
    even = np.isfinite(near) & (error != 0) & (bits & 1 == 0)
    outward = (error > 0) == (near > 0)
    return rounded_once(np.where(even, np.where(outward, bits + 1, bits - 1), bits).view(np.float64), a.dtype)


@gives("math.fma")
def fused(operation: Operation, a: Array, b: Array, c: Array) -> Any:
    return multiplied_and_added(a, b, c)


@gives("math.powf", "math.copysign", "math.atan2")
def of_two(operation: Operation, a: Array, b: Array) -> Any:
    found = {"math.powf": np.power, "math.copysign": np.copysign, "math.atan2": np.arctan2}.get(operation.name)
    if found is None:
        raise NotEvaluated(f"op {operation.name}")
    return np.asarray(found(a.astype(np.float64), b.astype(np.float64))).astype(a.dtype)
