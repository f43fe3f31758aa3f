"""The kernel of a joint launch: each call's own kernel becomes a function, and every program makes one of the calls.

    if tl.program_id(0) < 16:
        call0(0, c0_x0_ptr, ...)
    elif tl.program_id(0) < 19:
        call1(16, c1_x0_ptr, ...)

A call stands there as it stands alone, with a number of programs of its own, and shares nothing with the others: what
it does to their results is a defect of whoever compiled them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tridiff.kernels.language.call import Call
from tridiff.kernels.language.emit import PROGRAM, parameters

_KERNEL = "def kernel("
_HEADS = {False: ("import triton\nimport triton.language as tl\n\n", "@triton.jit"),
          True: ("from triton.experimental import gluon\nfrom triton.experimental.gluon import language as tl\n\n",
                 "@gluon.jit")}


@dataclass(frozen=True)
class Part:
    """A call of a joint launch: the name of its function's module, and how many programs make it."""

    module: str
    call: Call
    programs: int


def prefixed(number: int, name: str) -> str:
    """The name that a parameter of call `number` has in the joint kernel."""
    return f"c{number}_{name}"


def as_function(source: str) -> str:
    """The module of a call's kernel as that of a function, which is told the first of the programs that make the call.
    """
    assert source.count(_KERNEL) == 1 and source.count(PROGRAM) == 1
    return source.replace(_KERNEL, f"{_KERNEL}first, ").replace(PROGRAM, PROGRAM.replace(
        "tl.program_id(0)", "(tl.program_id(0) - first)"))


def source(parts: Sequence[Part], *, gluon: bool) -> str:
    """The module of the joint kernel, `kernel`, in which call0, call1, ... stand for the functions."""
    imports, decorator = _HEADS[gluon]
    names, body, first = [], [], 0
    for number, part in enumerate(parts):
        constants = {f"x{place}" for place, one in enumerate(part.call.operands) if one.kind == "constexpr"}
        own = {name: prefixed(number, name) for name in parameters(part.call)}
        names += [f"{one}: tl.constexpr" if name in constants else one for name, one in own.items()]
        body += [f"    {'el' if number else ''}if tl.program_id(0) < {first + part.programs}:",
                 f"        call{number}({', '.join([str(first), *own.values()])})"]
        first += part.programs
    functions = "".join(f"call{number} = None  # {part.module}\n" for number, part in enumerate(parts))
    return "\n".join([f"{imports}{functions}\n{decorator}", f"def kernel({', '.join(names)}):", *body]) + "\n"
