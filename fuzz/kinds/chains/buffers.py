"""Chains on shared memory: buffers that live beside and after one another, rings in loops, gathers and scatters."""

import math
from collections.abc import Collection

from hypothesis import strategies as st
from msgspec import UNSET

from tridiff.fuzz.kinds.chains import layouts
from tridiff.fuzz.kinds.chains.draft import EVERY, Draft
from tridiff.fuzz.kinds.chains.registers import indices
from tridiff.fuzz.kinds.chains.views import deeper, filled_buffer, look
from tridiff.kernels.gluon.chain import (
    Alloc,
    Atomic,
    AtomicOperator,
    Barrier,
    Chain,
    Dealloc,
    Gather,
    Read,
    Ring,
    Scatter,
    Store,
)
from tridiff.kernels.gluon.layouts import Blocked, Distributed
from tridiff.kernels.gluon.values import ATOMIC_DTYPES, EXACT, WIDTH


def _some_barrier(draft: Draft) -> None:
    if draft.draw(st.booleans()):
        draft.step(Barrier())


def _ring(draft: Draft) -> None:
    draw = draft.draw
    dtype = draft.one(EVERY)
    shape = draft.shape(elements=min(draft.elements, 512))
    slots = draw(st.integers(1, 4))
    tiles = draw(st.sampled_from((1, 2, 3, 4, 5, 8, 9)))
    ahead = min(draw(st.integers(0, slots - 1)), tiles)
    source = draft.array(dtype, (tiles, *shape))
    target = draft.array(dtype, (tiles, *shape), output=True)
    layout = draw(layouts.shared(shape=shape, bits=WIDTH[dtype], padded=False))
    draft.step(Ring(source, target, shape, layout, draft.layout(shape), draft.layout(shape), slots, ahead, tiles))


@st.composite
def buffer_chains(draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> Chain:
    """Two to four buffers, written, read in other layouts, overwritten, freed; their bytes are used again."""
    draft = Draft(draw, elements=min(elements, 1024), only=only)
    live: list[int] = []
    for _ in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(("new", "read", "write", "new", "free", "ring")))
        if kind == "ring" and draft.room:
            _ring(draft)
        elif kind == "new" or not live:
            if not draft.room or len(live) > 3:
                continue
            dtype = draft.one(EVERY)
            shape = draft.shape(elements=min(draft.elements, 512))
            live.append(filled_buffer(draft, dtype=dtype, shape=shape))
        elif kind == "free":
            buffer = live.pop(draw(st.integers(0, len(live) - 1)))
            look(draft, buffer)
            draft.step(Dealloc(buffer))
        elif kind == "write" and draft.room:
            view = draft.view(live[draw(st.integers(0, len(live) - 1))])
            _some_barrier(draft)
            draft.step(Store(view.buffer, draft.load(view.dtype, view.shape)))
        elif draft.room:
            look(draft, live[draw(st.integers(0, len(live) - 1))])
        if len(draft.arrays) > 11:
            break
    for buffer in live:
        if draft.room:
            look(draft, buffer)
        if draw(st.booleans()):
            draft.step(Dealloc(buffer))
    if not any(array.output for array in draft.arrays):
        look(draft, filled_buffer(draft, dtype="i32", shape=(32,)))
    return draft.chain()


@st.composite
def gather_chains(draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> Chain:
    """Gathers from and scatters to a buffer or a view of it, along any axis, with repeated indices
    where these are defined."""
    draft = Draft(draw, elements=min(elements, 1024), only=only)
    dtype = draft.one(EVERY)
    seen = filled_buffer(draft, dtype=dtype, shape=draft.shape(elements=min(1024, draft.elements), smallest=2))
    for _ in range(draw(st.integers(0, 2))):
        seen = deeper(draft, seen)
    for _ in range(draw(st.integers(1, 3))):
        view = draft.view(seen)
        axis = draft.axis(view.shape)
        extent = view.shape[axis]
        if draw(st.booleans()):
            along = draw(st.sampled_from((extent, max(extent // 2, 1), min(extent * 2, 64))))
            shape = (*view.shape[:axis], along, *view.shape[axis + 1:])
            shape = shape if math.prod(shape) <= draft.elements else view.shape
            draft.out(draft.step(Gather(seen, indices(draft, shape, axis, extent), axis)))
        else:
            _scatter(draft, seen, axis)
            _some_barrier(draft)
        if not draft.room:
            break
    if draft.room:
        look(draft, seen)
    return draft.chain()


def _common_layout(draft: Draft, shape: tuple[int, ...], *, any_shape: bool = False) -> Distributed:
    """A layout that fits values and indices alike, whatever their widths. any_shape: and any shape of this rank."""
    found = draft.layout(shape)
    if any_shape and not isinstance(found, Blocked):
        return draft.draw(layouts.blocked(rank=len(shape), warps=draft.warps))
    return found


def _scatter(draft: Draft, seen: int, axis: int) -> None:
    """Values to distinct places; at times one operand is broadcast beside the axis."""
    draw, view = draft.draw, draft.view(seen)
    extent = view.shape[axis]
    along = draw(st.sampled_from((extent, max(extent // 2, 1))))
    shape = (*view.shape[:axis], along, *view.shape[axis + 1:])
    broadcast = draw(st.sampled_from(("neither", "index", "values")))
    narrow = tuple(n if k == axis else 1 for k, n in enumerate(shape))
    layout = _common_layout(draft, shape, any_shape=broadcast != "neither")
    index = indices(draft, narrow if broadcast == "index" else shape, axis, extent, distinct=True, layout=layout)
    values = draft.load(view.dtype, narrow if broadcast == "values" else shape, layout=layout)
    draft.step(Scatter(seen, values, index, axis))


@st.composite
def atomic_chains(draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> Chain:
    """Atomic updates of a buffer through indices that collide, with and without masks; what they return is kept."""
    draft = Draft(draw, elements=min(elements, 1024), only=only)
    op: AtomicOperator = draft.one(("add", "max", "min", "and", "or", "xor", "xchg"))
    dtype = draft.one(ATOMIC_DTYPES[op])
    # Two rounds of additions must not leave what the type holds exactly.
    most = min(256, draft.elements // 2, EXACT.get(dtype, 1 << 30) // 4)
    shape = draft.shape(elements=most, smallest=2, most=2)
    between = UNSET if dtype not in EXACT else (0, 1) if op == "add" else (-4, 4)
    layout = draw(layouts.shared(shape=shape, bits=WIDTH[dtype]))
    first = draft.load(dtype, shape, between=between)
    buffer = draft.step(Alloc(dtype, shape, layout, source=first))
    for _ in range(draw(st.integers(1, 2))):
        axis = draft.axis(shape)
        where = _common_layout(draft, shape)
        index = indices(draft, shape, axis, shape[axis], distinct=op == "xchg", layout=where)
        value = draft.load(dtype, shape, layout=where, between=between)
        mask = draft.limit(shape) if draw(st.booleans()) else UNSET
        draft.step(Barrier())
        old = draft.step(Atomic(buffer, value, index, axis, op, mask))
        draft.step(Barrier())
        if draw(st.booleans()):
            old = draft.converted(old)
        draft.out(old)
    draft.out(draft.step(Read(buffer, draft.layout(shape))))
    return draft.chain()
