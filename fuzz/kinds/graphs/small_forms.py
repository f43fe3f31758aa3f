"""Chains of cheap operations, each on what the one before made.

Compilers rewrite small forms by rules: a negation of an extremum, a choice between constants, a conversion there and
back. In programs whose nodes take any values such a form comes about by chance, the rarer the larger it is; here two to
four of its parts follow each other.
"""

from collections.abc import Callable
from functools import cache

from tridiff.fuzz.kinds.graphs.arithmetic import Arithmetic
from tridiff.fuzz.kinds.graphs.draft import Entry
from tridiff.fuzz.kinds.graphs.operands import Operands
from tridiff.fuzz.kinds.graphs.operations import COMPARISONS, Choice, castable, choices
from tridiff.kernels.pointwise.record import Group
from tridiff.oracles.dtypes import FP8, dtype as dtype_info

_CHEAP: tuple[Group, ...] = ("exact arithmetic", "min/max", "logic", "sign/bits")
_LONGEST = 4


@cache
def _cheap(dtype: str) -> tuple[Choice, ...]:
    return tuple(one for one in choices(dtype) if one.group in _CHEAP)


class SmallForms:
    """The production of such chains."""

    def __init__(self, operands: Operands, arithmetic: Arithmetic) -> None:
        self.operands, self.arithmetic = operands, arithmetic
        self.draft, self.chance = operands.draft, operands.chance

    def chain(self) -> Entry:
        """Two to four operations on one value, with constants, with the value itself or with others."""
        value = self.draft.pick(self.draft.sharp(lambda entry: entry.dtype not in FP8, one_in=4))
        if value is None:
            value = self.operands.load("fp32")
        for _ in range(self.chance.between(2, _LONGEST)):
            value = self._next(value)
        return value

    def _next(self, value: Entry) -> Entry:
        often = 16 if self.draft.swarm.operations else 4
        made: list[tuple[int, Callable[[Entry], Entry]]] = [(often, self._operation), (1, self._cast)]
        if value.dtype == "i1":
            made.append((4, self._numbers))
        elif not (value.inexact and dtype_info(value.dtype).is_float):
            made += [(1, self._compare), (2, self._choice)]
        if dtype_info(value.dtype).is_integer:
            made.append((1, self._shift))
        return self.chance.weighted(made)(value)

    def _operation(self, value: Entry) -> Entry:
        every = _cheap(value.dtype)
        asked = [one for one in every if one.op in self.draft.swarm.operations]
        one = self.chance.of(asked if asked and self.chance.below(4) else every)
        args = [value, *(self._beside(value) for _ in range(one.arity - 1))]
        if self.chance.one_in(3):
            args.reverse()
        return self.draft.operation(one.op, *args)

    def _beside(self, value: Entry) -> Entry:
        """Another operand: a constant half of the time, else the same value or any."""
        which = self.chance.below(4)
        if which == 3:
            return self.operands.of_dtype(value.dtype, other_than=value)
        return value if which == 2 else self.operands.new_constant(value.dtype)

    def _compare(self, value: Entry) -> Entry:
        asked = [name for name in COMPARISONS if name in self.draft.swarm.operations]
        return self.draft.operation(self.chance.of(asked or COMPARISONS), value, self._beside(value))

    def _choice(self, value: Entry) -> Entry:
        """By a comparison of the value, which is one of what is chosen from more often than not."""
        chosen = [self._beside(value), self._beside(value) if self.chance.one_in(4) else value]
        if self.chance.below(2):
            chosen.reverse()
        return self.draft.operation("where", self._compare(value), *chosen)

    def _numbers(self, truth: Entry) -> Entry:
        """A truth value as a number, or a choice by it between constants."""
        dtype = self.operands.dtype()
        if dtype in FP8 or dtype == "i1":
            dtype = "fp32"
        if self.chance.below(2):
            return self.arithmetic.cast_to(truth, dtype)
        one, other = self.operands.new_constant(dtype), self.operands.new_constant(dtype)
        return self.draft.operation("where", truth, one, other)

    def _cast(self, value: Entry) -> Entry:
        return self.arithmetic.cast_to(value, self.chance.of(
            [name for name in castable(value.dtype) if name not in FP8]))

    def _shift(self, value: Entry) -> Entry:
        amount = self.draft.constant(str(self.chance.below(dtype_info(value.dtype).bits)), value.dtype)
        return self.draft.operation(self.chance.of(("left_shift", "right_shift")), value, amount)
