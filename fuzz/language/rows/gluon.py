"""The rows of the language in Gluon, where blocks have layouts that the kernel names: the functions that both share."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from msgspec.structs import replace as changed

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import NOT_INTERPRETED, Row
from tridiff.fuzz.language.rows import (
    atomics,
    conversions,
    creation,
    hardware,
    hints,
    layouts,
    mapped,
    memory,
    movement,
    operators,
    ordering,
    pointwise,
    reductions,
    scans,
)
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.gluon import LAYOUTS, blocked

_NAME = re.compile(r"\btl\.(\w+)")
_ONE_AXIS = (*(row.name for row in (*atomics.ROWS, *memory.ROWS)), "tl.max_contiguous", "tl.max_constancy")
"""Rows whose text makes blocks by itself."""
_OTHERS = ("tl.reshape", "tl.permute", "tl.join", "tl.ravel",
           "tl.gather", "tl.histogram", "tl.load", "tl.store", "tl.broadcast", "tl.program_id", *_ONE_AXIS)
_WITHOUT = ("tl.make_block_ptr", "tl.argmax", "tl.argmin", "tl.sort", "tl.topk", "tensor.sort", "tl.softmax", "tl.view")


MOST_HELD = 1024
"""Elements of all operands together that one thread may hold where a block has one warp. An affine scan of 2,048 in
each of four warps keeps LLVM's passes over values busy for minutes (3.6.0), one of 1,024 for seconds."""


def held(call: Call) -> int:
    """Elements of a call's operands that one thread holds; lanes along an axis too short for them repeat elements."""
    number = call.number("layout")
    found = 0
    for one in call.operands:
        if one.shape:
            layout = blocked(len(one.shape), 1, number)
            found += math.prod(size * math.ceil(extent / (size * threads)) for extent, size, threads in
                               zip(one.shape, layout.size_per_thread, layout.threads_per_warp, strict=True))
    return found


@cache
def _offered() -> frozenset[str]:
    """Names of Gluon's language in the installed Triton."""
    from triton.experimental.gluon import language

    return frozenset(dir(language))


def _in_gluon(row: Row) -> Row:
    name = f"gl.{row.name.removeprefix('tl.')}"

    def fits(call: Call) -> bool:
        # Operands of unlike ranks would need layouts that fit each other.
        ranks = {len(one.shape) for one in call.operands if one.given and one.shape}
        return len(ranks) <= 1 and max(ranks, default=1) <= (1 if row.name in _ONE_AXIS else 4) and (
            "tl.math." not in row.text(call))

    def laid_out(choices: Choices) -> Call:
        found = choices.until(lambda: row.draw(choices), fits)
        return changed(found, row=name, options=found.options | {"layout": choices.whole(0, LAYOUTS - 1)})

    def draw(choices: Choices) -> Call:
        return choices.until(lambda: laid_out(choices), lambda call: held(call) <= MOST_HELD)

    def text(call: Call) -> str:
        found = row.text(plain(call)).replace("tl.PropagateNan", "plain.PropagateNan")
        return found[:-1] + ", layout=L1)" if row.name == "tl.histogram" else found

    def plain(call: Call) -> Call:
        return changed(call, row=row.name)

    def refused(call: Call, backend: str) -> str:
        if backend == "interpreter":
            return NOT_INTERPRETED
        missing = sorted(set(_NAME.findall(row.text(plain(call)))) - _offered() - {"debug_barrier", "PropagateNan"})
        return f"Gluon has no {' '.join(missing)}" if missing else row.refused(plain(call), backend)

    covers = tuple(one.replace("tl.", "gl.") for one in row.covers if one.startswith("tl."))
    # Gluon had the function before Triton's own language named it.
    since = "" if row.name == "tl.to_tensor" else row.since
    return replace(row, name=name, covers=covers, draw=draw, text=text, refused=refused, gluon=True,
                   since=since)


def _rows() -> Iterator[Row]:
    for module in (pointwise, operators, reductions, scans, conversions, movement, ordering, mapped, hints, memory,
                   creation):
        for row in module.ROWS:
            function = row.name.startswith(("tl.", "operator.", "tensor."))
            shared = module not in (movement, ordering, memory, creation) or row.name in _OTHERS
            if function and shared and row.name not in _WITHOUT:
                yield _in_gluon(row)


ROWS = (*_rows(), *layouts.ROWS, *hardware.ROWS)
