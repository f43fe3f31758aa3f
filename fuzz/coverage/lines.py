"""Which lines of Triton's Python layer a case runs."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

READER = "call_JitFunction"
"""Method of Triton's code generator that reads another kernel function instead of running it; its argument `fn` is
that function."""

LEFT = 0
"""In place of a next line: the function was left."""

RAISED = -1
"""In place of a line whose next one an exception chose."""

_GENERATOR = "compiler/code_generator.py"
_VISIT = "visit"
"""Method of the code generator that every part of a function goes through, as `node`."""

_OFTEN = 200
"""Calls of one function in a case behind which it shows no further lines, where steps are not wanted."""

Trace = Callable[[FrameType, str, Any], Any]


def read_by(frame: FrameType) -> tuple[str, int, str] | None:
    """File, line and function that the code generator reads in a frame of its own; None for other frames."""
    if frame.f_code.co_name != _VISIT or not frame.f_code.co_filename.endswith(_GENERATOR):
        return None
    node, generator = frame.f_locals.get("node"), frame.f_locals.get("self")
    file, line = getattr(generator, "file_name", None), getattr(node, "lineno", None)
    if not file or line is None:
        return None
    function = getattr(getattr(generator, "jit_fn", None), "__name__", "?")
    return str(file), int(line) + int(getattr(generator, "begin_line", 0)), str(function)


_IMPORTING = """
import importlib, json, sys
from pathlib import Path
from tridiff.fuzz.coverage.lines import Lines
import torch
with Lines(Path(sys.argv[1]), steps=False) as lines:
    for name in sys.argv[2:]:
        importlib.import_module(name)
print(json.dumps({file: sorted(some) for file, some in lines.found.items()}))
"""


def imported(package: Path, modules: Sequence[str]) -> dict[str, set[int]]:
    """Lines below a folder that run when modules are imported, by file, in a process of its own."""
    run = subprocess.run([sys.executable, "-c", _IMPORTING, str(package), *modules], capture_output=True, text=True,
                         check=True)
    return {file: set(some) for file, some in json.loads(run.stdout.splitlines()[-1]).items()}


class Lines:
    """Lines of the files below a folder that run while it is active, in this thread: a context manager.

    `found` has them by file, below the folder. A function that the compiler reads counts with all of its lines: which
    of its branches were compiled is not seen. visited: it counts with those that the code generator comes to."""

    def __init__(self, package: Path, *, steps: bool = True, visited: bool = False) -> None:
        """steps: whether those from line to line are wanted: without them, what is called often is soon left alone."""
        self._root, self._stepping, self._visited = f"{package}/", steps, visited
        self._calls: Counter[CodeType] = Counter()
        self._names: dict[str, str] = {}
        self.found: dict[str, set[int]] = {}
        self.steps: dict[str, set[tuple[int, int]]] = {}
        """From which line to which next one of the same call, by file; LEFT where the call ended."""

    def __enter__(self) -> "Lines":
        self.found, self.steps = {}, {}
        self._calls.clear()
        sys.settrace(self._called)
        return self

    def __exit__(self, *about: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        code = frame.f_code
        name = self._name(code.co_filename)
        if not name:
            return None
        seen = self.found.setdefault(name, set())
        seen.add(frame.f_lineno)
        if self._visited:
            read = read_by(frame)
            if read is not None and self._name(read[0]):
                self.found.setdefault(self._name(read[0]), set()).add(read[1])
        elif code.co_name == READER:
            function = getattr(frame.f_locals.get("fn"), "fn", None)
            if function is not None and hasattr(function, "__code__"):
                self._read(function.__code__)

        if not self._stepping:
            self._calls[code] += 1
            return None if self._calls[code] > _OFTEN else self._line(seen)
        steps = self.steps.setdefault(name, set())
        before = frame.f_lineno

        def line(frame: FrameType, event: str, argument: Any) -> Trace:
            nonlocal before
            seen.add(frame.f_lineno)
            if event == "line":
                steps.add((before, frame.f_lineno))
                before = frame.f_lineno
            elif event == "exception":
                # Whatever comes next, no condition on this line decided it.
                before = RAISED
            elif event == "return":
                steps.add((before, LEFT))
            return line

        return line

    @staticmethod
    def _line(seen: set[int]) -> Trace:
        def line(frame: FrameType, event: str, argument: Any) -> Trace:
            seen.add(frame.f_lineno)
            return line

        return line

    def _read(self, code: CodeType) -> None:
        name = self._name(code.co_filename)
        if name:
            self.found.setdefault(name, set()).update(number for _, _, number in code.co_lines() if number)
            for one in code.co_consts:
                if isinstance(one, CodeType):
                    self._read(one)

    def _name(self, file: str) -> str:
        """The file below the folder; "" for any other."""
        if file not in self._names:
            self._names[file] = file.removeprefix(self._root) if file.startswith(self._root) else ""
        return self._names[file]
