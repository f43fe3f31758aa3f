"""A kernel run as Python: from its arrays to what it stores, one program instance after the other."""

import sys
from collections import Counter
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from tridiff.fuzz.statements.meaning import shapes
from tridiff.fuzz.statements.meaning.memory import Memory, Pointer
from tridiff.fuzz.statements.meaning.names import namespace
from tridiff.fuzz.statements.meaning.rewrite import AS_PYTHON, KERNEL, compiled
from tridiff.fuzz.statements.meaning.values import Decide, Illegal, Run

MOST_RUNS = 64
"""Ways through one kernel that are gone to find out types; kernels have rarely more than ten conditions."""
MOST_TIMES = 3
"""Times that a run comes by a line, in one trip of every unrolled loop, which are told apart."""


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


class Decisions:
    """Answers to conditions of run time that together take every branch both ways: each run repeats the beginning of an
    earlier one up to a place where only one answer was given, and gives the other there.

    A place is an instruction of the kernel, or of a function with the calls on the way there, the numbers that unrolled
    loops have there, of which each makes statements of its own, and the first few times that a run comes by.
    """

    def __init__(self) -> None:
        self._open: list[tuple[bool, ...]] = [()]
        self._seen: set[tuple[tuple[tuple[int, ...], tuple[int, ...], int], bool]] = set()

    def __iter__(self) -> Iterator[Decide]:
        for _ in range(MOST_RUNS):
            if not self._open:
                return
            yield self._answering(self._open.pop())

    def _answering(self, beginning: tuple[bool, ...]) -> Decide:
        said: list[bool] = []
        times: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()

        def decide(unrolled: tuple[int, ...]) -> bool:
            here = _here(), unrolled
            place = *here, min(times[here], MOST_TIMES)
            times[here] += 1
            answer = beginning[len(said)] if len(said) < len(beginning) else True
            if (place, not answer) not in self._seen and len(said) >= len(beginning):
                self._open.append((*said, not answer))
                self._seen.add((place, not answer))
            self._seen.add((place, answer))
            said.append(answer)
            return answer

        return decide


def _here() -> tuple[int, ...]:
    """The line that is being run and the instruction in it, behind it those of the calls that lead there."""
    found: list[int] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == AS_PYTHON:
            found += frame.f_lineno, frame.f_lasti
        frame = frame.f_back
    return tuple(found)


def refusal(source: str, memories: dict[str, Memory], arguments: dict[str, Any]) -> str:
    """Why the language refuses a kernel, "" if it takes it: whatever way conditions go, variables keep their types."""
    return typed(source, memories, arguments)[0]


def typed(source: str, memories: dict[str, Memory],
          arguments: dict[str, Any]) -> tuple[str, dict[str, str], frozenset[str]]:
    """As `refusal`, with the types of the variables that the kernel assigns, and the operators that it has between
    floats, as far as it is not refused."""
    kinds: dict[str, tuple[str, tuple[int, ...]]] = {}
    of_floats: set[str] = set()
    for decide in Decisions():
        run = Run(shapes, decide=decide)
        run.kinds, run.of_floats = kinds, of_floats
        try:
            _launch(source, run, memories, arguments)
        except (Illegal, TypeError, ValueError, NameError, AttributeError, KeyError, IndexError, ArithmeticError,
                AssertionError, SyntaxError) as error:
            return f"{type(error).__name__}: {error}", {}, frozenset()
    return "", {name: dtype for name, (dtype, _) in kinds.items() if "." not in name}, frozenset(of_floats)
