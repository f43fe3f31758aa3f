"""Integer arithmetic: two's complement, as `arith` defines it. Blocks of i1 are Boolean arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.constants import filler
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives


def unsigned(one: Any) -> Array:
    """The same bits as an unsigned integer."""
    one = np.asarray(one)
    return one if one.dtype == np.bool_ else one.view(f"u{one.dtype.itemsize}")


def signed(one: Any) -> Array:
    """Booleans as the i1 that they are: true is -1."""
    one = np.asarray(one)
    return -(one.astype(np.int8)) if one.dtype == np.bool_ else one


def _poisoned(found: Array, where: Array) -> Array:
    """Undefined lanes hold what stands for undefined values."""
    return np.where(where, filler(found.dtype), found).astype(found.dtype) if np.any(where) else found


def _wrapping(on_integers: Callable[[Array, Array], Any], on_booleans: Callable[[Array, Array], Any]) -> Any:
    def meaning(operation: Operation, a: Array, b: Array) -> Any:
        return np.asarray((on_booleans if a.dtype == np.bool_ else on_integers)(a, b)).astype(a.dtype, copy=False)

    return meaning


gives("arith.addi")(_wrapping(np.add, np.logical_xor))
gives("arith.subi")(_wrapping(np.subtract, np.logical_xor))
gives("arith.muli")(_wrapping(np.multiply, np.logical_and))
gives("arith.andi")(_wrapping(np.bitwise_and, np.logical_and))
gives("arith.ori")(_wrapping(np.bitwise_or, np.logical_or))
gives("arith.xori")(_wrapping(np.bitwise_xor, np.logical_xor))


def _quotient(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Quotient toward zero, remainder, and where they are undefined."""
    zero = b == 0
    divisor = np.where(zero, np.ones_like(b), b)
    down = np.asarray(a // divisor)
    rest = np.asarray(a - down * divisor)
    fix = (rest != 0) & ((a < 0) != (divisor < 0))
    quotient = (down + fix.astype(a.dtype)).astype(a.dtype)
    return quotient, np.asarray(a - quotient * divisor).astype(a.dtype), zero


@gives("arith.divsi", "arith.remsi", "arith.divui", "arith.remui")
def divided(operation: Operation, a: Array, b: Array) -> Any:
    if a.dtype == np.bool_:
        return _poisoned(a if "div" in operation.name else np.zeros_like(a), ~b)
    kind = a.dtype
    if operation.name.endswith("ui"):
        a, b = unsigned(a), unsigned(b)
    quotient, rest, zero = _quotient(a, b)
    return _poisoned((quotient if "div" in operation.name else rest).view(kind), zero)


@gives("arith.ceildivsi", "arith.floordivsi", "arith.ceildivui")
def divided_up_or_down(operation: Operation, a: Array, b: Array) -> Any:
    kind = a.dtype
    if operation.name.endswith("ui"):
        a, b = unsigned(a), unsigned(b)
    quotient, rest, zero = _quotient(a, b)
    same = (a < 0) == (b < 0)
    off = (rest != 0) & (same if "ceil" in operation.name else ~same)
    step = np.where(off, 1 if "ceil" in operation.name else -1, 0).astype(quotient.dtype)
    return _poisoned(np.asarray(quotient + step).view(kind), zero)


@gives("arith.shli", "arith.shrsi", "arith.shrui")
def shifted(operation: Operation, a: Array, b: Array) -> Any:
    if a.dtype == np.bool_:
        return _poisoned(a, b)
    far = unsigned(b) >= 8 * a.dtype.itemsize
    by = np.where(far, np.zeros_like(b), b)
    if operation.name == "arith.shli":
        found = np.left_shift(a, by)
    elif operation.name == "arith.shrsi":
        found = np.right_shift(a, by)
    else:
        found = np.right_shift(unsigned(a), unsigned(by)).view(a.dtype)
    return _poisoned(np.asarray(found), far)


@gives("arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui")
def extreme(operation: Operation, a: Array, b: Array) -> Any:
    as_ordered = signed if operation.name.endswith("si") else unsigned
    first = as_ordered(a) >= as_ordered(b) if "max" in operation.name else as_ordered(a) <= as_ordered(b)
    return np.where(first, a, b)


COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


@gives("arith.cmpi")
def compared(operation: Operation, a: Array, b: Array) -> Any:
    predicate = operation.words[0]
    as_ordered = unsigned if predicate.startswith("u") else signed
    return np.asarray(COMPARED[predicate[-2:]](as_ordered(a), as_ordered(b)))


@gives("math.absi")
def absolute(operation: Operation, one: Array) -> Any:
    return np.asarray(np.abs(one))


def high_word(a: Array, b: Array) -> Array:
    """The upper half of the product of unsigned integers of 32 or 64 bits."""
    bits = 8 * a.dtype.itemsize
    if bits < 64:
        return np.asarray((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(bits)).astype(a.dtype)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    al, ah, bl, bh = a & low, a >> half, b & low, b >> half
    middle = (al * bl >> half) + (ah * bl & low) + (al * bh & low)
    return np.asarray(ah * bh + (ah * bl >> half) + (al * bh >> half) + (middle >> half))


@gives("tt.mulhiui")
def multiplied_high(operation: Operation, a: Array, b: Array) -> Any:
    return high_word(unsigned(a), unsigned(b)).view(a.dtype)


@gives("arith.mului_extended")
def multiplied_wide(operation: Operation, a: Array, b: Array) -> Any:
    return np.asarray(a * b), high_word(unsigned(a), unsigned(b)).view(a.dtype)


@gives("arith.select")
def selected(operation: Operation, condition: Array, a: Array, b: Array) -> Any:
    words = np.dtype(f"u{a.dtype.itemsize}")
    return np.where(condition, a.view(words), b.view(words)).view(a.dtype)
