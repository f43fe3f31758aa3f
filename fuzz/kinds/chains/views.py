"""Chains of views: a buffer is filled, looked at through up to six views, read and written through them."""

import math
from collections.abc import Callable, Collection

from hypothesis import strategies as st

from tridiff.fuzz.kinds.chains import layouts
from tridiff.fuzz.kinds.chains.draft import EVERY, Draft
from tridiff.kernels.gluon.chain import (
    Alloc,
    Barrier,
    Chain,
    DType,
    Index,
    Permute,
    Read,
    Reinterpret,
    Reshape,
    Step,
    Store,
    Subslice,
)
from tridiff.kernels.gluon.layouts import log2
from tridiff.kernels.gluon.ownership import registers
from tridiff.kernels.gluon.values import WIDTH, View

DEPTH = 6
"""Views behind one another at most."""


PADDED = 8
"""No padding makes a buffer so many times as large."""


def filled_buffer(draft: Draft, *, dtype: DType, shape: tuple[int, ...], slots: int = 0) -> int:
    """A buffer whose every element is written: at allocation, by one store, or slot by slot."""
    roomy = PADDED * draft.bytes_of(dtype, shape) <= draft.shared_bytes_left
    layout = draft.draw(layouts.shared(shape=shape, bits=WIDTH[dtype], padded=roomy and not slots))
    if slots:
        ring = draft.step(Alloc(dtype, shape, layout, slots))
        for slot in range(slots):
            here = draft.step(Index(ring, slot, draft.draw(st.booleans())))
            draft.step(Store(here, draft.load(dtype, shape)))
        return ring
    source = draft.load(dtype, shape)
    if draft.draw(st.booleans()):
        return draft.step(Alloc(dtype, shape, layout, source=source))
    made = draft.step(Alloc(dtype, shape, layout))
    draft.step(Store(made, source))
    return made


def _subslice(draft: Draft, number: int, view: View) -> Step | None:
    options = [(axis, 1 << bit) for axis, extent in enumerate(view.shape) for bit in range(log2(extent) + 1)]
    legal = [(axis, length) for axis, length in options
             if length < view.shape[axis] and draft.fits(Subslice(number, axis, 0, length))]
    if not legal:
        return None
    axis, length = draft.draw(st.sampled_from(legal))
    start = length * draft.draw(st.integers(0, view.shape[axis] // length - 1))
    return Subslice(number, axis, start, length)


def _permute(draft: Draft, number: int, view: View) -> Step | None:
    if len(view.shape) < 2:
        return None
    return Permute(number, tuple(draft.draw(st.permutations(range(len(view.shape))))))


def _reshape(draft: Draft, number: int, view: View) -> Step | None:
    bits = log2(math.prod(view.shape))
    return Reshape(number, layouts.shares(draft.draw, bits, draft.draw(st.integers(1, 4))))


def _reinterpret(draft: Draft, number: int, view: View) -> Step | None:
    dtype = draft.one(EVERY)
    size = math.prod(view.shape) * WIDTH[view.dtype] // WIDTH[dtype]
    bits = log2(max(size, 1)) - draft.draw(st.sampled_from((0, 0, 0, 1)))
    if bits < 0 or not size:
        return None
    shape = layouts.shares(draft.draw, bits, draft.draw(st.integers(1, 3)))
    layout = draft.draw(layouts.shared(shape=shape, bits=WIDTH[dtype], padded=False))
    return Reinterpret(number, dtype, shape, layout)


_KINDS: dict[str, Callable[[Draft, int, View], Step | None]] = {
    "subslice": _subslice, "permute": _permute, "reshape": _reshape, "reinterpret": _reinterpret,
}


def deeper(draft: Draft, number: int) -> int:
    """One more view of view `number`, or the same where the drawn kind is not legal."""
    view = draft.view(number)
    if view.slots:
        slot = draft.draw(st.integers(0, view.slots - 1))
        return draft.step(Index(number, slot, draft.draw(st.booleans())))
    kind = draft.one(("subslice", "permute", "reshape", "subslice", "reinterpret"))
    step = _KINDS[kind](draft, number, view)
    if step is None or not draft.fits(step):
        return number
    made = draft.step(step)
    if draft.readable(made):
        return made
    draft.undo()
    return number


def look(draft: Draft, number: int) -> None:
    """Read what a view sees, in any layout, and put it out."""
    view = draft.view(number)
    draft.out(draft.step(Read(number, draft.layout(view.shape))))


MOST_READ = 128
"""Registers that the reads of one kernel may take together; then only the last view of a buffer is still read, and no
further buffer is made (notes.md)."""


@st.composite
def view_chains(draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> Chain:
    """Up to four buffers, each seen through a chain of views and at times a second one that leaves the first halfway;
    read through most of the views, at times stored to and read again."""
    draft = Draft(draw, elements=min(elements, 4096), only=only)
    for _ in range(draw(st.sampled_from((2, 4, 3, 1)))):
        dtype = draft.one(EVERY)
        slots = draw(st.sampled_from((0, 0, 0, 1, 2, 3)))
        shape = draft.shape(elements=min(draft.elements, 2048))
        if draft.bytes_of(dtype, shape) * max(slots, 1) > draft.shared_bytes_left:
            break
        base = filled_buffer(draft, dtype=dtype, shape=shape, slots=slots)
        seen = _path(draft, base, draw(st.sampled_from((1, 2, DEPTH, 3, DEPTH, 4, 5))))
        last = seen[-1]
        if _cost(draft) <= MOST_READ and draw(st.booleans()):
            seen += _path(draft, draw(st.sampled_from(seen)), draw(st.sampled_from((2, 1, 3))))[1:]
        for one in [one for one in dict.fromkeys(seen[1:]) if not draft.view(one).slots and one != last]:
            if draft.room and _cost(draft) <= MOST_READ and draw(st.integers(0, 3)):
                look(draft, one)
        look(draft, last)
        if draw(st.booleans()) and draft.room:
            view = draft.view(last)
            if draw(st.booleans()):
                draft.step(Barrier())
            draft.step(Store(last, draft.load(view.dtype, view.shape)))
            look(draft, draw(st.sampled_from([one for one in seen if not draft.view(one).slots])))
        if len(draft.steps) > 64 or len(draft.arrays) > 24 or _cost(draft) > MOST_READ:
            break
    return draft.chain()


def _path(draft: Draft, start: int, depth: int) -> list[int]:
    """Views behind one another from `start` on, itself included; at least one that is no ring."""
    seen = [start]
    for _ in range(depth):
        # Not every kind of view is legal everywhere: a second try before going without.
        after = deeper(draft, seen[-1])
        after = after if after != seen[-1] else deeper(draft, seen[-1])
        if after != seen[-1]:
            seen.append(after)
    if draft.view(seen[-1]).slots:
        seen.append(deeper(draft, seen[-1]))
    return seen


def _cost(draft: Draft) -> int:
    return sum(registers(step.layout, shape=draft.view(step.view).shape) for step in draft.steps
               if isinstance(step, Read))
