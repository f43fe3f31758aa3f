"""The kernel of a call in Gluon: the same text, every block in a layout of its own, with `tl` as Gluon's language."""

from __future__ import annotations

import re

from tridiff.kernels.gluon.dialect import installed
from tridiff.kernels.gluon.layouts import Blocked
from tridiff.kernels.language.call import Call, Result
from tridiff.kernels.language.emit import assigned, functions, head, named
from tridiff.kernels.language.lines import loaded, stored

_HEAD = """import triton
import triton.language as plain
from triton.experimental import gluon
from triton.experimental.gluon import language as tl

"""
_LINE = re.compile(r"tl\.arange\(0, (\d+)\)")
LAYOUTS = 6
"""How many ways there are to lay out blocks."""


def blocked(rank: int, warps: int, number: int) -> Blocked:
    """The layout of blocks of `rank` axes for some warps. number: which way, below `LAYOUTS`."""
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
    return Blocked(tuple(held), tuple(threads), tuple(across), tuple(order))


def layout(rank: int, warps: int, number: int) -> str:
    """`blocked`, as the source says it."""
    one = blocked(rank, warps, number)
    parts = (one.size_per_thread, one.threads_per_warp, one.warps_per_cta, one.order)
    return f"tl.BlockedLayout({', '.join(str(list(part)) for part in parts)})"


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


def _laid_out(name: str, result: Result) -> str:
    return f"tl.convert_layout({name}, L{len(result.shape)})" if result.shape else name


def source(call: Call, text: str, results: tuple[Result, ...], *, warps: int, loads: bool = True,
           stores: bool = True, definitions: str = "") -> str:
    """The module of a call's kernel; as `tridiff.kernels.language.emit.source`, for a number of warps. A block that the
    text makes by itself has one axis."""
    text = _LINE.sub(r"tl.arange(0, \1, layout=L1)", text)
    text = text.replace("tl.debug_barrier()", installed().barrier.replace("gl.", "tl."))
    body = [*(loaded(call.operands, _index) if loads else ()), *assigned(text, len(results)),
            *(stored(named(results), _index, _laid_out) if stores else ())]
    shapes = [*(one.shape for one in call.operands), *(one.shape for one in results)]
    ranks = range(1, 1 + max(map(len, shapes)))
    layouts = [f"L{rank}: tl.constexpr = tl.constexpr({layout(rank, warps, call.number('layout'))})" for rank in ranks]
    called = functions(text) + definitions
    return (_HEAD + "\n".join(layouts) + "\n\n" + called.replace("@triton.jit", "@gluon.jit") + "@gluon.jit\n"
            + "\n".join([*head(call), *("    " + line for line in body)]) + "\n")
