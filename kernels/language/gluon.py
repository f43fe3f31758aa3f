"""The kernel of a call in Gluon: the same text, every block in a layout of its own, with `tl` as Gluon's language."""

from __future__ import annotations

import re

from tridiff.kernels.gluon.dialect import installed
from tridiff.kernels.language.call import Call, Operand, Result
from tridiff.kernels.language.emit import ANOTHER_SHAPE, ANOTHER_TYPE, HEAD, parameters
from tridiff.kernels.pointwise.record import TRITON_NAMES

_HEAD = """import triton
import triton.language as plain
from triton.experimental import gluon
from triton.experimental.gluon import language as tl

"""
_LINE = re.compile(r"tl\.arange\(0, (\d+)\)")
LAYOUTS = 6
"""How many ways there are to lay out blocks."""


def layout(rank: int, warps: int, number: int) -> str:
    """A layout of blocks of `rank` axes for some warps. number: which way, below `LAYOUTS`."""
    threads, held, order = [1] * rank, [1] * rank, list(range(rank))
    first = number % 2 * (rank - 1)
    threads[first] = 8 if rank > 1 and number >= 2 else 32
    if rank > 1 and number >= 2:
        threads[first - 1] = 4
    held[-1] = 2 if number >= 4 else 1
    across = [1] * rank
    across[rank - 1 - first] = warps
    if number % 3 == 0:
        order.reverse()
    return f"tl.BlockedLayout({held}, {threads}, {across}, {order})"


def _index(shape: tuple[int, ...]) -> str:
    """Offsets of a contiguous block in the layout of its rank."""
    terms, step = [], 1
    for axis in reversed(range(len(shape))):
        said = f"L{len(shape)}"
        for other in reversed(range(len(shape))):
            if other != axis:
                said = f"tl.SliceLayout({other}, {said})"
        one = f"tl.arange(0, {shape[axis]}, layout={said})"
        if len(shape) > 1:
            one += "[" + ", ".join(":" if other == axis else "None" for other in range(len(shape))) + "]"
        terms.append(f"{one} * {step}")
        step *= shape[axis]
    return " + ".join(reversed(terms)) or "0"


def _load(number: int, operand: Operand) -> str:
    place = f"x{number}_ptr + program * x{number}_pitch"
    if operand.kind == "block":
        place += f" + {_index(operand.shape)}"
    return f"x{number} = tl.load({place})" + (".to(tl.int1)" if operand.dtype == "i1" else "")


def source(call: Call, text: str, results: tuple[Result, ...], *, warps: int, loads: bool = True,
           definitions: str = "") -> str:
    """The module of a call's kernel; as `tridiff.kernels.language.emit.source`, for a number of warps. A block that the
    text makes by itself has one axis."""
    constants = [f"x{number}: tl.constexpr" for number, one in enumerate(call.operands) if one.kind == "constexpr"]
    plain = [name for name in parameters(call) if name.endswith(("_ptr", "_pitch"))]
    lines = [f"def kernel({', '.join([*plain, *constants])}):", "    program = tl.program_id(0).to(tl.int64)"]
    for number, operand in enumerate(call.operands):
        if operand.given and loads:
            lines.append("    " + _load(number, operand))
    names = ", ".join(f"r{number}" for number in range(len(results)))
    text = _LINE.sub(r"tl.arange(0, \1, layout=L1)", text)
    text = text.replace("tl.debug_barrier()", installed().barrier.replace("gl.", "tl."))
    if text.startswith(("r0", "for ", "if ")) or "\n" in text:
        lines += ["    " + line for line in text.splitlines()]
    else:
        lines.append(f"    {names} = {text}")
    for number, result in enumerate(results):
        one = f"r{number}"
        lines += [f'    tl.static_assert({one}.dtype == {TRITON_NAMES[result.dtype]}, "{ANOTHER_TYPE}")',
                  f'    tl.static_assert(len({one}.shape) == {len(result.shape)}, "{ANOTHER_SHAPE}")']
        lines += [f'    tl.static_assert({one}.shape[{axis}] == {extent}, "{ANOTHER_SHAPE}")'
                  for axis, extent in enumerate(result.shape)]
        place = f"out{number}_ptr + program * out{number}_pitch"
        if result.shape:
            place += f" + {_index(result.shape)}"
            one = f"tl.convert_layout({one}, L{len(result.shape)})"
        lines.append(f"    tl.store({place}, {one})")
    ranks = range(1, 1 + max(len(one.shape) for one in (*call.operands, *results)))
    layouts = [f"L{rank}: tl.constexpr = tl.constexpr({layout(rank, warps, call.number('layout'))})" for rank in ranks]
    functions = HEAD[HEAD.index("@triton.jit"):] + definitions
    return (_HEAD + "\n".join(layouts) + "\n\n" + functions.replace("@triton.jit", "@gluon.jit") + "@gluon.jit\n"
            + "\n".join(lines) + "\n")
