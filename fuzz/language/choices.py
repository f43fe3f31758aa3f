"""Draws that rows of the language share: shapes, element types, numbers, operands."""

from collections.abc import Callable, Sequence
from typing import Literal, NoReturn, TypeVar

from hypothesis import reject, strategies as st

from tridiff.fuzz.language.promotion import of_argument, of_number
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Operand, OperandKind
from tridiff.oracles.dtypes import FLOATS, FP8, INTEGERS, dtype

T = TypeVar("T")

BOOL = ("i1",)
FULL = ("fp32", "fp64")
NUMBERS = INTEGERS + FLOATS
EVERY = (*BOOL, *NUMBERS, *FP8)
__all__ = ["BOOL", "EVERY", "FLOATS", "FP8", "FULL", "INTEGERS", "NUMBERS", "Choices"]

_WHOLE = (0, 1, 2, 3, 7, 31, 64, 127, 128, 255, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1,
          2**63, 2**64 - 1)
_PASSED = (2, 0, -1, 7, 64, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, -(2**31), -(2**31) - 1,
           -(2**63))
"""Whole numbers that are passed at launch: the ends of what each type holds. 1 would be a constant."""
_REAL = ("0.0", "-0.0", "1.0", "-1.0", "0.5", "-1.5", "2.0", "3.0", "0.1", "0.3", "-2.7", "100.0",
         'float("inf")', 'float("-inf")', 'float("nan")', "1.0e-10", "65504.0")


TRIES = 8
"""Draws of a part of a call that must fit the rest of it, before the whole case is given up."""

SMALL, SMALLER = 6, 4
"""Of eight blocks five are so many times smaller, at most, where draws are for cells that lack cases: these count
calls, and to compile or to interpret one takes longer the more elements it has. One has eight times as many."""

MUCH_SMALLER = 16
"""The same for calls that take many steps for each element."""


class Choices:
    """One draw of a call. All choices shrink towards the first."""

    wanted: str = ""
    """An element type that operands have half of the time where they may have it, "" for none."""

    def __init__(self, draw: st.DrawFn, limits: Limits, *, wanted: str = "") -> None:
        self.draw, self.limits, self.wanted = draw, limits, wanted

    def one(self, values: Sequence[T]) -> T:
        return self.draw(st.sampled_from(values))

    def whole(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def order(self, number: int) -> list[int]:
        """The numbers below `number` in some order."""
        return self.draw(st.permutations(range(number)))

    def often(self, value: T, *others: T) -> T:
        """The value half of the time."""
        return value if self.flag() else self.one((value, *others))

    def shape(self, *, low: int = 1, high: int = 3, most: int = 256, least: int = 1,
              many_steps: bool = False) -> tuple[int, ...]:
        """Powers of two, of a drawn rank. most: elements together; least: smallest extent. many_steps: whether the call
        takes many steps for each element."""
        rank = self.whole(low, high)
        size = self.whole(0, 7)
        if 0 < size < SMALL and self.limits.aims and (self.limits.mode or self.limits.backend == "interpreter"):
            most //= MUCH_SMALLER if many_steps else SMALLER
        left = min(most if size else 8 * most, self.limits.elements)
        found: list[int] = []
        for place in range(rank):
            room = left // least ** (rank - place - 1)
            sizes = [1 << k for k in range(14) if least <= 1 << k <= room] or [least]
            found.append(self.one(sizes[: 5 + 4 * (place == rank - 1)]) if self.whole(0, 3) else self.one(sizes))
            left //= found[-1]
        order = self.order(rank) if rank > 1 else [0] * rank
        return tuple(found[one] for one in order)

    def partner(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts with one: axes of length 1, or fewer axes."""
        kept = tuple(extent if self.whole(0, 3) else 1 for extent in shape)
        return kept if self.whole(0, 3) else kept[self.whole(0, len(kept)):]

    def dtype(self, among: Sequence[str]) -> str:
        drawn = self.one(among)
        # Where draws are aimed at all, both sorts draw alike, so that shrinking gets from one to the other.
        steered = bool(self.limits.aims) and self.flag()
        return self.wanted if steered and self.wanted in among else drawn

    def until(self, draw: Callable[[], T], fits: Callable[[T], bool], *, tries: int = TRIES) -> T:
        """The first of some draws that fits; where none does, the case is given up."""
        for _ in range(tries):
            if fits(found := draw()):
                return found
        self.give_up()

    def give_up(self) -> NoReturn:
        """This draw comes to nothing."""
        reject()

    def block(self, dtype: str, shape: tuple[int, ...]) -> Operand:
        """A block; of no axes, a scalar."""
        return Operand(kind="block" if shape else "scalar", dtype=dtype, shape=shape)

    def number(self, *, like: str, kind: OperandKind = "number") -> Operand:
        """A Python number that Triton accepts beside a tensor of type `like`."""
        info = dtype(like)
        if info.is_float and self.flag():
            text = self.one(_REAL)
        elif info.kind == "bool":
            text = self.one(("True", "False"))
        elif kind == "argument":
            text = str(self.one(_PASSED))
        else:
            top = int(info.max) if not info.is_float else 128
            values = [n for n in _WHOLE if n <= top]
            if info.kind != "uint":
                values += [-n for n in values[1:]]
            if info.kind == "int":
                values.append(int(info.min))
            text = str(self.one(values))
        made = Operand(kind=kind, dtype="i32", number=text)
        return Operand(kind=kind, dtype=(of_argument if kind == "argument" else of_number)(made.value), number=text)

    def partners(self, *, first: Sequence[str], second: Sequence[str] = ()) -> tuple[Operand, Operand]:
        """Two operands of a binary operation: blocks, scalars, numbers, in both orders."""
        name = self.dtype(first)
        other = self.dtype(second or first) if self.flag() else (name if not second or name in second else second[0])
        shape = self.shape(low=0 if self.whole(0, 7) == 7 else 1)
        a = self.block(name, shape)
        form: OperandKind | Literal["partner"] = self.one(
            ("block", "block", "partner", "scalar", "number", "constexpr", "argument"))
        if form == "block" or form == "partner" or form == "scalar":
            b = self.block(other, {"block": shape, "partner": self.partner(shape), "scalar": ()}[form])
        else:
            b = self.number(like=name, kind=form)
        return (b, a) if self.whole(0, 2) == 2 else (a, b)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of operands together."""
    rank = max(len(one) for one in shapes)
    lifted = [(1,) * (rank - len(one)) + one for one in shapes]
    return tuple(max(extents) for extents in zip(*lifted, strict=True))


def axis_spelled(choices: Choices, rank: int) -> int:
    """An axis in either spelling."""
    axis = choices.whole(0, rank - 1)
    return axis - rank if choices.flag() else axis
