"""Hypothesis strategies of boxes and exchanges and of the cases around them; rows are programs."""

import math
from collections.abc import Callable
from typing import Any

from hypothesis import assume, strategies as st

from tridiff.fuzz.kinds.fields import values
from tridiff.fuzz.kinds.transfers.cases import problem, with_transfer
from tridiff.fuzz.records import Case
from tridiff.fuzz.strategies import contents
from tridiff.fuzz.target import Limits
from tridiff.kernels.pipelines.boxes import Boxes
from tridiff.kernels.pipelines.cluster_exchange import Exchange
from tridiff.kernels.pipelines.plan import DTYPE_BITS, TMA_UNIT

Draw = Callable[[Any], Any]
_MOVED = values(Boxes, "dtype")
_MOST = 1 << 17
"""Elements of one array, so that judging stays quick."""


def _boxes(draw: Draw) -> Boxes:
    dtype = draw(st.sampled_from(_MOVED))
    unit = TMA_UNIT * 8 // DTYPE_BITS[dtype]
    rank = draw(st.sampled_from((3, 1, 2, 4, 5)))
    left = (1024 if rank < 4 else 256) * unit
    box = [draw(st.sampled_from([n for n in (64, 16, 32, 128, 256, 8, 4, 2) if n >= unit * (8 if rank == 1 else 1)]))]
    for _ in range(rank - 1):
        left //= box[0]
        box.insert(0, draw(st.sampled_from([n for n in (4, 1, 2, 8, 16, 32, 64, 256) if n <= left])))
    to = draw(st.booleans())
    units = [*(1 for _ in box[1:]), unit]
    shape: list[int] = []
    room = 1 << 15
    for n, u in zip(reversed(box), reversed(units), strict=True):
        shape.insert(0, draw(st.sampled_from([s for s in (n, 2 * n, n + 1, n - 1, 1, 3 * n) if 0 < s <= room])))
        shape[0] += -shape[0] % u if to else 0
        room //= shape[0] + -shape[0] % u

    def start(*, inside: bool) -> tuple[int, ...]:
        found = [draw(st.sampled_from((0, 1, n // 2, most - 1, *(() if inside else (-1, -n, most)))))
                 for n, most in zip(box, shape, strict=True)]
        return tuple(one // u * u for one, u in zip(found, units, strict=True))

    lines = math.prod(box[:-1])
    swizzles = [s for s in (0, 32, 64, 128) if not s or (lines >= 8 and s <= box[-1] * 16 // unit)]
    return Boxes(box=tuple(box), tiles=draw(st.integers(1, 4)), shape=tuple(shape), ring=draw(st.integers(1, 3)),
                 nan=dtype[0] in "fb" and draw(st.booleans()), to=start(inside=True) if to else (),
                 swizzle=draw(st.sampled_from(swizzles)), at=start(inside=False), axis=draw(st.integers(0, rank - 1)),
                 warps=draw(st.sampled_from((4, 1, 2, 8))), dtype=dtype)


def _exchange(draw: Draw) -> Exchange:
    bits = draw(st.sampled_from((1, 1, 2, 3)))
    value, memory, read = (draw(st.text(letters, min_size=bits, max_size=bits)) for letters in ("rcd", "rc", "rcd"))
    ring = draw(st.integers(1, 4))
    ahead = draw(st.integers(0, ring - 1))
    return Exchange(
        value=value, memory=draw(st.sampled_from((memory, memory, value))), read=draw(st.sampled_from(("", read))),
        tiles=draw(st.integers(1, 8)), ring=ring, ahead=ahead, every=draw(st.integers(1, ring - ahead)),
        rows=draw(st.sampled_from((32, 16, 64, 128))), columns=draw(st.sampled_from((64, 32, 128))),
        maximum=draw(st.sampled_from((1, 0, 2, 4, 8))), across=draw(st.booleans()),
        vector=draw(st.sampled_from((16, 8, 4))), warps=draw(st.sampled_from((4, 1, 2, 8))),
        dtype=draw(st.sampled_from(_MOVED)))


@st.composite
def transfer_cases(draw: st.DrawFn, *, target: str, exchange: bool, limits: Limits) -> Case:
    """A case of the target."""
    transfer = (_exchange if exchange else _boxes)(draw)
    assume(not problem(transfer))
    longest = max(transfer.arrays.values())
    most = min(4 * limits.elements, _MOST) // longest
    programs = draw(st.sampled_from([p for p in (1, 2, 7, 33, 132) if p == 1 or p <= min(most, limits.rows)]))
    case = Case(target=target, sizes={"rows": programs}, arrays=(), repeats=draw(st.integers(0, 2)))
    return with_transfer(case, transfer, {
        name: draw(contents(dtype=transfer.dtype)) for name in transfer.arrays if name != "out"})
