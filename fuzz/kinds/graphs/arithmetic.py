"""Nodes that compute point by point, with the guards that keep them defined.

A clamp stands before a conversion to integers, a divisor is never zero, the amount of a bare shift is masked.
"""

from tridiff.fuzz.kinds.graphs.draft import Entry
from tridiff.fuzz.kinds.graphs.operands import Operands
from tridiff.fuzz.kinds.graphs.operations import (
    DIVISIONS,
    SHIFTS,
    castable,
    choices,
    integer_divisions,
    same_width,
    table,
)
from tridiff.kernels.codegen.graph import Cast, Masked
from tridiff.kernels.pointwise.table import HALVES
from tridiff.oracles.dtypes import FLOATS, FP8, dtype as dtype_info

_ASKS_FOR_BITS = ("ilogb", "llrint", "signbit", "signbit_libdevice")
"""Operations whose result hangs on the last bit of a float near some value."""
_ASKS_FOR_STEPS = (*DIVISIONS, "logical_not", "logical_and", "logical_or", "logical_xor")
"""Operations whose result hangs on whether a float is zero, or on which side of a whole number a quotient is."""

_HAS_POLES = ("reciprocal", "log", "log2", "log10", "log1p", "lgamma", "y0", "y1", "tan", "atanh", "truediv")
"""Functions that may be anything where their argument may be 0, or 1."""


class Arithmetic:
    """Pointwise operations and conversions."""

    def __init__(self, operands: Operands) -> None:
        self.operands, self.draft, self.chance = operands, operands.draft, operands.chance
        self.groups = operands.groups

    def pointwise(self) -> Entry:
        """An operation on values of one dtype."""
        first = self.operands.value()
        if not choices(first.dtype):
            first = self.cast_to(first, "fp32" if first.dtype in FP8 else "i32")
        swarm = self.draft.swarm
        one = self.chance.weighted(table(first.dtype, self.groups, compiled=swarm.assembly, asked=swarm.operations))
        often = 16 if one.op in _ASKS_FOR_BITS else 4 if one.op in _ASKS_FOR_STEPS else 1 + (one.op in _HAS_POLES)
        accept = self.draft.sharp(lambda entry: True, one_in=often)
        if not accept(first):
            first = self.operands.load(first.dtype)
        args = [first]
        for _ in range(one.arity - 1):
            args.append(self.operands.of_dtype(first.dtype, other_than=first, accept=accept))
        if one.arity > 1 and self.chance.one_in(3):
            args.reverse()
        if one.op == "ldexp":
            return self.cast()
        return self.draft.operation(one.op, *args)

    def where(self) -> Entry:
        """A choice by a condition, or a clamp."""
        first = self.operands.value()
        if first.dtype not in (*FP8, "i1") and self.chance.one_in(3):
            low, high = self.operands.of_dtype(first.dtype), self.operands.of_dtype(first.dtype)
            return self.draft.operation("clamp", first, low, high)
        condition = self.operands.condition()
        second = self.operands.of_dtype(first.dtype, other_than=first)
        if self.chance.one_in(3):
            return self.draft.add(Masked(mask=condition.position, arg=first.position,
                                        other=self.operands.constant_text(first.dtype)))
        return self.draft.operation("where", condition, first, second)

    def divide(self) -> Entry:
        """An integer division by what is never zero."""
        first = self.draft.pick(lambda entry: dtype_info(entry.dtype).is_integer)
        if first is None:
            first = self.operands.load("i32")
        dtype = first.dtype
        divisor = self.operands.of_dtype(dtype, other_than=first)
        if divisor.low is None or divisor.high is None or divisor.low <= 0 <= divisor.high:
            divisor = self._nonzero(divisor)
        return self.draft.operation(self.chance.of(integer_divisions(dtype)), first, divisor)

    def _nonzero(self, divisor: Entry) -> Entry:
        one = self.draft.constant("1", divisor.dtype)
        if self.chance.below(2) or dtype_info(divisor.dtype).kind == "uint":
            return self.draft.operation("maximum", divisor, one, private=True)
        zero = self.draft.constant("0", divisor.dtype)
        is_zero = self.draft.operation("eq", divisor, zero, private=True)
        return self.draft.operation("where", is_zero, one, divisor, private=True)

    def shift(self) -> Entry:
        """A shift; the bare operators with a masked amount."""
        first = self.draft.pick(lambda entry: dtype_info(entry.dtype).is_integer)
        if first is None:
            first = self.operands.load("i32")
        amount = self.operands.of_dtype(first.dtype, other_than=first)
        op = self.chance.of(SHIFTS)
        if op.endswith("_operator"):
            width = self.draft.constant(str(dtype_info(first.dtype).bits - 1), first.dtype)
            amount = self.draft.operation("bitwise_and", amount, width, private=True)
        return self.draft.operation(op, first, amount)

    def frexp(self) -> Entry:
        """Both results of frexp, or ldexp with an exponent of some sort."""
        first = self.draft.pick(self.draft.sharp(lambda entry: entry.dtype in FLOATS))
        if first is None:
            first = self.operands.load("fp32")
        if self.chance.one_in(3):
            return self.draft.operation("ldexp", first, self.operands.of_dtype("i32"))
        pair = self.draft.operation("frexp", first)
        mantissa = self.draft.part(pair, 0)
        if self.chance.below(2):
            self.draft.part(pair, 1, low=-1100, high=1100)
        return mantissa

    def cast(self) -> Entry:
        """A conversion."""
        first = self.operands.value()
        palette = [name for name in self.draft.swarm.dtypes if name != first.dtype]
        target = self.chance.of(palette) if palette and self.chance.below(2) else self.chance.of(castable(first.dtype))
        return self.cast_to(first, target)

    def cast_to(self, first: Entry, target: str) -> Entry:
        """A conversion to a type, with a clamp in front where the type may be too small."""
        info = dtype_info(target)
        if dtype_info(first.dtype).is_float and info.is_integer:
            first = self._clamped(first, target)
            return self.draft.add(Cast(arg=first.position, dtype=target))
        if first.dtype in FP8 and target in FP8:
            first = self.draft.add(Cast(arg=first.position, dtype="fp32"), private=True)
        low, high = first.low, first.high
        if low is None or high is None or not info.is_integer or not info.min <= low <= high <= info.max:
            low = high = None
        return self.draft.add(Cast(arg=first.position, dtype=target), low=low, high=high)

    def _clamped(self, first: Entry, target: str) -> Entry:
        """A float between limits that the integer type holds, NaN among what is replaced."""
        info = dtype_info(target)
        if first.dtype in FP8 or (first.dtype in HALVES and self.chance.one_in(3)):
            first = self.draft.add(Cast(arg=first.position, dtype="fp32"), private=True)
        if first.inexact and not self.chance.one_in(8):
            # A function is often a whole number but for its error: truncated, that is one of two.
            first = self.draft.operation("round", first, private=True)
        limit = min(int(info.max), 1 << 24)
        if first.dtype in HALVES:
            # A power of two is itself in both of them.
            limit = 1 << min(limit, 1 << 14).bit_length() - 1
        limit = self.chance.of((limit, 100)) if limit > 100 else limit
        lowest = 0 if info.kind == "uint" else -limit
        low, high = self.draft.constant(f"{lowest}.0", first.dtype), self.draft.constant(f"{limit}.0", first.dtype)
        return self.draft.operation("fmin", self.draft.operation("fmax", first, low, private=True), high, private=True)

    def bitcast(self) -> Entry:
        """The bits of a value as another type."""
        first = self.draft.pick(self.draft.sharp(lambda entry: bool(same_width(entry.dtype))))
        if first is None:
            first = self.operands.load("fp32")
        elif self.draft.swarm.wild and first.depth and dtype_info(first.dtype).is_float and self.chance.below(2):
            # A NaN that was computed has any bits; bits of other computed numbers are what compilers lose track of.
            first = self.operands.load(first.dtype)
        return self.draft.add(Cast(arg=first.position, dtype=self.chance.of(same_width(first.dtype)), bitcast=True))
