"""What an interpreted kernel can do wrong, one exception type per kind.

These surface from the launch itself: Triton buries exceptions raised inside a kernel in a chain of its own
`InterpreterError`s, and `fuzz.interpreter.launch` digs them out again. The frames of that chain remain reachable
through `__cause__`.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from tridiff.fuzz.versions import interpreter_module

_OWN_FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Location:
    """A line of kernel source: file, line number (from 1), function."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line} ({self.function})"


def kernel_location() -> Location | None:
    """The innermost line on the stack that belongs to a kernel or its helpers rather than to Triton or numpy.

    A line of Triton's own device library (`tl.sort` and so on) is passed over in favour of the line that called it.
    """
    foreign = (str(Path(interpreter_module().__file__).parents[1]), _OWN_FOLDER)
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(foreign) and "/numpy/" not in code.co_filename:
            return Location(file=code.co_filename, line=frame.f_lineno, function=code.co_name)
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None


def current_program() -> tuple[int, int, int] | None:
    """Program id (x, y, z) of the program being interpreted."""
    program = getattr(interpreter_module().interpreter_builder, "grid_idx", None)
    return None if program is None else (int(program[0]), int(program[1]), int(program[2]))


class InterpreterFault(Exception):
    """Base of all faults of an interpreted kernel.

    problem: what happened, one line.
    program: program id (x, y, z), None outside a launch.
    location: the kernel line, None when none is on the stack.
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.program = current_program()
        self.location = kernel_location()
        super().__init__(f"{self.location or 'unknown line'}, program {self.program}: {problem}")


class OutOfBounds(InterpreterFault):
    """An active lane addresses memory outside every registered buffer, or a misaligned address."""

    def __init__(self, problem: str, *, buffer: str, element: int, lane: int, operation: str) -> None:
        """buffer: the nearest registered one; element: index relative to it (negative: before its start)."""
        self.buffer = buffer
        self.element = element
        self.lane = lane
        self.operation = operation
        super().__init__(problem)


class DeviceAssertFailed(InterpreterFault):
    """A `tl.device_assert` does not hold in some lane."""


class AssumptionViolated(InterpreterFault):
    """A `tl.assume` does not hold: compiled code may do anything."""


class BlockTruthValue(InterpreterFault):
    """Python asked a block of more than one element for a single truth value."""


class NoStandIn(InterpreterFault):
    """A libdevice function was called that has no stand-in: a limit of the interpreter, no defect of the kernel."""


class NeverEndingWait(InterpreterFault):
    """A program waits for memory that only a program after it could change; sequential execution never ends."""
