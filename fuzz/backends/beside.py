"""Whether an expression of another text of a function comes to something else than the one in its place.

Both are evaluated where the function runs, one after the other, and what the first came to is what the function goes on
with: the case ran the change to some effect only if both differ, for else the function goes on as it would have with
the other text. `builds.compared` says which expressions can be asked this way: those that only look.
"""

import enum
from collections.abc import Callable
from typing import Any

from tridiff.kernels.record import Record

DEEPEST = 12
"""Things inside of things up to which two are compared by what they hold."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, frozenset, set)


class Compared(Record, kw_only=True):
    """One expression of a statement and what stands in its place in the other text. way: fields and numbers that lead
    from the statement to it ("test.values.1"); "" where the other text has a condition more in front of the statement.
    truth: whether only the truth of both matters."""

    way: str
    other: str
    truth: bool = False


def differ(one: Any, other: Any, *, depth: int = 0) -> bool:
    """Whether two values are told apart; where that cannot be seen from what they hold, they are."""
    if one is other:
        return False
    if type(one) is not type(other) or depth > DEEPEST or isinstance(one, enum.Enum | type):
        return True
    if isinstance(one, _PLAIN):
        return repr(one) != repr(other) if isinstance(one, float | complex) else bool(one != other)
    if isinstance(one, tuple | list):
        return len(one) != len(other) or any(differ(*both, depth=depth + 1) for both in zip(one, other, strict=True))
    if isinstance(one, dict):
        return list(one) != list(other) or any(differ(one[key], other[key], depth=depth + 1) for key in one)
    # Types of Triton are made anew each time; what has parts that cannot be read is one thing and no other.
    held = getattr(one, "__dict__", None)
    return not held or type(one).__module__.partition(".")[0] != "triton" or differ(
        held, other.__dict__, depth=depth + 1)


def asked(note: Callable[[int, bool], Any]) -> Callable[..., Any]:
    """What is called in place of an expression: with a function that evaluates it, one that evaluates the other, the
    number of the change, which is noted with whether they differ, and whether only their truth matters."""
    def ask(mine: Callable[[], Any], theirs: Callable[[], Any], number: int, truth: bool) -> Any:
        try:
            value = mine()
        except BaseException:
            note(number, True)
            raise
        try:
            other = theirs()
            apart = bool(value) is not bool(other) if truth else differ(value, other)
        except Exception:  # names that only the other build has, operands that it does not take
            apart = True
        note(number, apart)
        return value
    return ask
