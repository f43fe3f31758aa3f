"""A kernel run as Python: from its arrays to what it stores, one program instance after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from tridiff.fuzz.statements.meaning import shapes
from tridiff.fuzz.statements.meaning.memory import Memory, Pointer
from tridiff.fuzz.statements.meaning.names import namespace
from tridiff.fuzz.statements.meaning.rewrite import KERNEL, compiled
from tridiff.fuzz.statements.meaning.values import Illegal, Run

Decide = Callable[[], bool]


def stored(source: str, lib: ModuleType, memories: dict[str, Memory], arguments: dict[str, Any],
           programs: int) -> list[bool]:
    """Run every program instance of a kernel; what it stores is in `memories` afterwards. Whether each one did
    something that the contract leaves undefined. Raises Illegal for what the language refuses.

    memories: arrays by the names of their pointer parameters; arguments: all other parameters.
    """
    found = []
    for program in range(programs):
        run = Run(lib, program=program)
        _launch(source, run, memories, arguments)
        found.append(run.open)
    return found


def _launch(source: str, run: Run, memories: dict[str, Memory], arguments: dict[str, Any]) -> None:
    names = namespace(run)
    exec(compiled(source), names)
    pointers = {name: Pointer(run, one, run.constant(0, "i64")) for name, one in memories.items()}
    given = {name: value if name.isupper() or value is None or isinstance(value, tuple) else run.constant(value)
             for name, value in arguments.items()}
    names[KERNEL](**pointers, **given)


def decisions() -> Iterator[Decide]:
    """Ways to answer conditions of run time, which together take most branches both ways."""
    yield lambda: True
    yield lambda: False
    for pattern in ((True, False), (False, True)):
        yield itertools.cycle(pattern).__next__


def refusal(source: str, memories: dict[str, Memory], arguments: dict[str, Any]) -> str:
    """Why the language refuses a kernel, "" if it takes it: whatever way conditions go, variables keep their types."""
    return typed(source, memories, arguments)[0]


def typed(source: str, memories: dict[str, Memory], arguments: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """As `refusal`, with the types of the variables that the kernel assigns, as far as it is not refused."""
    kinds: dict[str, tuple[str, tuple[int, ...]]] = {}
    for decide in decisions():
        run = Run(shapes, decide=decide)
        run.kinds = kinds
        try:
            _launch(source, run, memories, arguments)
        except (Illegal, TypeError, ValueError, NameError, AttributeError, KeyError, IndexError, ArithmeticError,
                AssertionError, SyntaxError) as error:
            return f"{type(error).__name__}: {error}", {}
    return "", {name: dtype for name, (dtype, _) in kinds.items() if "." not in name}
