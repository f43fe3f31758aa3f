"""Stop in Python's debugger at the first line of a kernel in one program, with the true file, line and values."""

import pdb
import sys
from collections.abc import Callable
from typing import Any

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain.model import Program, Source
from tridiff.fuzz.explain.source import tree_of
from tridiff.fuzz.interpreter.execution import statements

_HERE = "__import__('tridiff.fuzz.interpreter.faults', fromlist=['']).current_program() == {program}"


def debugged(launch: Callable[[], None], kernel: Any, source: Source, program: Program) -> None:
    """Launch under pdb, which stops at the kernel's first statement in `program` and from there on does what it is
    told. Commands come from the standard input."""
    file = source.functions[0].file
    debugger = pdb.Pdb(nosigint=True)
    debugger.rcLines = []
    problem = debugger.set_break(file, min(statements(tree_of(kernel.fn))), temporary=True,
                                 cond=_HERE.format(program=tuple(program)))
    if problem:
        raise TridiffError(f"no breakpoint can be set there ({problem})", fix="check the kernel's file")
    debugger.reset()
    debugger.botframe = sys._getframe()  # or it would stop at once, outside of the kernel
    debugger.set_continue()
    sys.settrace(debugger.trace_dispatch)
    try:
        launch()
    except Exception:  # The interpreter wraps what leaves a kernel, also that somebody quit.
        if not debugger.quitting:
            raise
    finally:
        sys.settrace(None)
