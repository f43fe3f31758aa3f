"""Which lines of a kernel each program runs, which way it goes at a branch, and what its names stand for.

Python's own trace function sees every line of an interpreted kernel. Names are watched for one program only.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from tridiff.fuzz.interpreter.faults import current_program
from tridiff.fuzz.interpreter.narrow_floats import Array

Program = tuple[int, int, int]
Code = tuple[str, str]
"""File and name of a function."""

MOST_VALUES = 400
"""Assignments of the watched program that are kept: the first half and the last."""


@dataclass(frozen=True)
class Assignment:
    """A name of the watched program that got a new value. line: that ran before it was seen. dtype: Triton's name for a
    block or a scalar of Triton's, Python's for others. data: None for what is no number."""

    function: str
    name: str
    line: int
    dtype: str
    data: Array | None
    text: str = ""
    handle: Any = None


@dataclass
class Execution:
    """functions: the kernel and its callees, by file and name. watched: whether this is the program whose names count.
    programs: those that began. lines: by (file, line) the programs that ran it. arcs: by (file, function, line before,
    line) the programs that went so; the line before is 0 at the beginning, the line 0 at the end."""

    functions: frozenset[Code]
    watched: Callable[[], bool] = lambda: False
    programs: set[Program] = field(default_factory=set)
    lines: dict[tuple[str, int], set[Program]] = field(default_factory=dict)
    arcs: dict[tuple[str, str, int, int], set[Program]] = field(default_factory=dict)
    assignments: list[Assignment] = field(default_factory=list)
    left_out: int = 0

    def enter(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """The global trace function: is any new frame one of the kernel's?"""
        code = frame.f_code
        if event != "call" or (code.co_filename, code.co_name) not in self.functions:
            return None
        program = current_program()
        if program is None:
            return None
        self.programs.add(program)
        watch = _Names(self) if self.watched() else None
        before = 0

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal before
            file, name = code.co_filename, code.co_name
            if event in ("line", "return"):
                now = frame.f_lineno if event == "line" else 0
                self.arcs.setdefault((file, name, before, now), set()).add(program)
                if watch is not None:
                    watch.look(frame, before or code.co_firstlineno)
                if now:
                    self.lines.setdefault((file, now), set()).add(program)
                    before = now
            return line

        return line


class _Names:
    """The names of one frame."""

    def __init__(self, execution: Execution) -> None:
        self._execution, self._known = execution, dict[str, int]()
        self._alive: list[Any] = []

    def look(self, frame: FrameType, line: int) -> None:
        """Note what has another value than before."""
        kept = self._execution.assignments
        for name, value in frame.f_locals.items():
            if self._known.get(name) == id(value):
                continue
            self._known[name] = id(value)
            self._alive.append(value)  # so that no other object gets its identity
            one = _assignment(frame.f_code.co_name, name, line, value)
            if one is None:
                continue
            if len(kept) >= MOST_VALUES:
                del kept[MOST_VALUES // 2]
                self._execution.left_out += 1
            kept.append(one)


def _assignment(function: str, name: str, line: int, value: Any) -> Assignment | None:
    handle = getattr(value, "handle", None)
    data = getattr(handle, "data", None)
    if isinstance(data, np.ndarray):
        shape = tuple(int(one) for one in getattr(value, "shape", ()) or ())
        return Assignment(function, name, line, str(value.dtype), np.array(data).reshape(shape), handle=handle)
    value = getattr(value, "value", value)
    if isinstance(value, bool | int | float | str) or value is None:
        return Assignment(function, name, line, type(value).__name__, None, repr(value))
    return None


@contextmanager
def watching(execution: Execution) -> Iterator[Execution]:
    """Watch every launch inside the block. A debugger or a coverage tool that is at work is put aside meanwhile."""
    before = sys.gettrace()
    sys.settrace(execution.enter)
    try:
        yield execution
    finally:
        sys.settrace(before)


@dataclass(frozen=True)
class Decision:
    """A branch of the source. taken, passed: programs that entered its body at least once, and that went past it."""

    line: int
    function: str
    taken: int
    passed: int


def decisions(execution: Execution, file: str, function: str, tree: ast.AST) -> list[Decision]:
    """`if`, `while` and `for` of a function, by line. tree: with the line numbers of the file. A branch whose body
    stands on its own line is left out: nothing tells the two apart."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.If | ast.While | ast.For):
            continue
        head, first = node.lineno, node.body[0].lineno
        test = node.iter if isinstance(node, ast.For) else node.test
        heads = set(range(head, (test.end_lineno or head) + 1))
        if first in heads:
            continue
        taken: set[Program] = set()
        passed: set[Program] = set()
        for (where, name, before, now), programs in execution.arcs.items():
            if where == file and name == function and before in heads and now not in heads:
                if now == first:
                    taken |= programs
                else:
                    passed |= programs
        if execution.lines.get((file, head)):
            found.append(Decision(head, function, len(taken), len(passed)))
    return sorted(found, key=lambda one: one.line)


def statements(tree: ast.AST) -> set[int]:
    """Lines of a function on which a statement begins, docstrings and the definition itself left out."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef) and not (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            found.add(node.lineno)
    return found
