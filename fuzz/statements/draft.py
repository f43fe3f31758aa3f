"""A program while it is drawn: which variables there are, and of which types."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from tridiff.fuzz.statements.constructs import expression
from tridiff.fuzz.statements.library import LIBRARY
from tridiff.fuzz.statements.meaning import shapes
from tridiff.fuzz.statements.meaning.memory import Memory, Pointer
from tridiff.fuzz.statements.meaning.names import namespace
from tridiff.fuzz.statements.meaning.rewrite import compiled, evaluated
from tridiff.fuzz.statements.meaning.values import Illegal, Run, Value, is_number
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.script import Node

T = TypeVar("T")
REFUSED = (Illegal, TypeError, ValueError, NameError, AttributeError, KeyError, IndexError, ArithmeticError,
           AssertionError, SyntaxError)
Kind = tuple[str, tuple[int, ...]]
"""Element type and shape of a tensor."""


def node(row: str, *parts: Node, **words: bool | int | str) -> Node:
    return Node(row=row, words=words, parts=parts)


def variable(name: str) -> Node:
    return node("name", name=name)


def literal(value: bool | int | float | None) -> Node:
    text = f"{value:.10f}".rstrip("0") if isinstance(value, float) else str(value)
    return node("number", value=text + "0" if text.endswith(".") else text)


@lru_cache(maxsize=256)
def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@lru_cache(maxsize=256)
def _places(number: int) -> st.SearchStrategy[int]:
    return st.sampled_from(range(number))


class Draft:
    """Draws shrink towards the first choice. env: what each name stands for, with values that mean nothing."""

    def __init__(self, draw: st.DrawFn, limits: Limits | None = None) -> None:
        self.draw, self._limits = draw, limits
        self.run = Run(shapes, decide=lambda unrolled: True)
        self.env: dict[str, Any] = {}
        self._names = namespace(self.run)
        self._fresh = 0
        self.looping = 0
        """How many loops lie around what is drawn."""
        self.functions: dict[str, list[Kind]] = {}
        """Drawn functions, with the types of their parameters."""
        exec(compiled(LIBRARY), self._names)

    def one(self, values: Sequence[T]) -> T:
        return values[self.draw(_places(len(values)))]

    def whole(self, low: int, high: int) -> int:
        return self.draw(_integers(low, high))

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def rarely(self, times: int = 4) -> bool:
        """True in one draw of `times`."""
        return self.whole(1, times) == times

    def takes(self, since: str) -> bool:
        """Whether every release that is to compile the program takes what came with a version, "" for any."""
        return self._limits is None or self._limits.offered(since=since)

    def fresh(self, letter: str = "v") -> str:
        """A name that is not taken."""
        self._fresh += 1
        return f"{letter}{self._fresh}"

    def define(self, name: str, kind: Kind) -> None:
        """Let a name stand for a tensor."""
        one = self.run.constant(1, kind[0])
        self.env[name] = Value(self.run, shapes.broadcast(one.data, shape=kind[1]), kind[0])

    def point(self, name: str, dtype: str, elements: int) -> None:
        """Let a name stand for a pointer to a row of an array."""
        memory = Memory(np.ones(elements, bool), dtype)
        self.env[name] = Pointer(self.run, memory, self.run.constant(0, "i64"))

    def learn(self, lines: list[str]) -> None:
        """Functions that are defined beside the kernel."""
        exec(compiled("\n".join(lines)), self._names)

    def after(self, lines: list[str]) -> dict[str, Any]:
        """All names after statements; Illegal if the language refuses them."""
        found = self._names | self.env
        self.run.afresh()
        self.run.kinds = {}
        try:
            exec(compiled("\n".join(lines)), found)
        except REFUSED as error:
            raise Illegal(str(error)) from None
        return found

    def value(self, made: Node) -> Any:
        """What an expression stands for; Illegal if the language refuses it."""
        self.run.afresh()
        try:
            code = evaluated(expression(made))
            # One dictionary: what is put off until it is needed sees globals only.
            return eval(code, self._names | self.env)
        except REFUSED as error:
            raise Illegal(str(error)) from None

    def kind(self, made: Node) -> Kind | None:
        """Type and shape of an expression, those of a scalar for a number; None if it is no tensor or is refused."""
        try:
            found = self.value(made)
            found = self.run.tensor(found) if is_number(found) else found
        except Illegal:
            return None
        return (found.name, found.shape) if type(found) is Value else None

    def tensors(self, *, shape: tuple[int, ...] | None = None, dtypes: Sequence[str] = ()) -> list[str]:
        """Names of tensors, the newest last."""
        return [name for name, one in self.env.items() if type(one) is Value
                and (shape is None or one.shape == shape) and (not dtypes or one.name in dtypes)]

    def constants(self) -> list[str]:
        """Names of numbers known when a kernel is compiled."""
        return [name for name, one in self.env.items() if is_number(one)]
