"""Simpler chains to try when a failing one shrinks: fewer steps, plainer layouts, smaller shapes, fewer warps.

Arrays keep their names throughout, because the name of the failing output is part of a finding's signature.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace

from tridiff.fuzz.kinds.chains.cases import with_chain
from tridiff.fuzz.records import Case
from tridiff.kernels.gluon.chain import (
    VIEWS_OF_VIEWS,
    Alloc,
    Atomic,
    Barrier,
    Chain,
    Dealloc,
    Gather,
    Index,
    Load,
    Out,
    Ramp,
    Read,
    Ring,
    Scatter,
    Step,
    Store,
    Subslice,
    operands,
    renumbered,
    with_step,
)
from tridiff.kernels.gluon.check import add, typed
from tridiff.kernels.gluon.layouts import Blocked, Distributed, Shared, Swizzled, rank, row_major, untransposed
from tridiff.kernels.gluon.rules_buffers import bytes_of
from tridiff.kernels.gluon.values import Illegal, State, Tensor, Type, View

_EFFECTS = (Store, Scatter, Atomic)


def size(case: Case) -> tuple[int, ...]:
    """Steps, elements of all arrays, slots of rings, layouts that are not plain, warps: what there is to read."""
    chain = case.program
    assert isinstance(chain, Chain)
    elements = sum(math.prod(array.shape) for array in chain.arrays)
    odd = sum(_complexity(layout) for step in chain.steps for layout in _layouts(step).values())
    slots = sum(step.slots for step in chain.steps if isinstance(step, Alloc | Ring))
    return len(chain.steps), elements, slots, odd, chain.warps


def steps(case: Case) -> Iterable[Case]:
    """Legal simpler cases, each by one step, those that take away most first."""
    chain = case.program
    assert isinstance(chain, Chain)
    for proposed in _proposals(chain):
        if proposed != chain:
            made = with_chain(case, proposed)
            if made is not None:
                yield made


def _proposals(chain: Chain) -> Iterator[Chain]:
    yield from _fewer_outputs(chain)
    yield from _fewer_steps(chain)
    yield from _filled_at_once(chain)
    yield from anew(chain)
    yield from _fewer_slots(chain)
    yield from _plainer(chain)
    yield from _smaller(chain)
    yield from _fewer_warps(chain)


def _layouts(step: Step) -> dict[str, Distributed | Shared]:
    """By field."""
    found = ((name, getattr(step, name, UNSET)) for name in ("layout", "written", "read", "pointers"))
    return {name: one for name, one in found if one is not UNSET}


def plain_blocked(layout_rank: int, warps: int) -> Blocked:
    """Lanes and warps along the last axis, one element each."""
    ones = (1,) * (layout_rank - 1)
    return Blocked((1,) * layout_rank, (*ones, 32), (*ones, warps), tuple(reversed(range(layout_rank))))


def _complexity(layout: Distributed | Shared) -> int:
    """0 for the plain layouts, else by how much there is to read."""
    match layout:
        case Blocked():
            return 0 if set(layout.size_per_thread) == {1} and layout.threads_per_warp[-1] == 32 else 1
        case Swizzled():
            return 0 if layout == row_major(rank(layout)) else 1
        case _:
            return 2


def kept(chain: Chain, wanted: set[int]) -> Chain:
    """The chain with only the wanted steps and the arrays that these use. Wanted steps must not refer to others."""
    numbers = {old: new for new, old in enumerate(sorted(wanted))}
    steps = [renumbered(chain.steps[old], numbers) for old in numbers]
    used = sorted({number for step in steps for number in _arrays(step)})
    places = {old: new for new, old in enumerate(used)}
    moved = [replace(step, **{name: places[getattr(step, name)] for name in _array_fields(step)}) for step in steps]
    return Chain(chain.warps, tuple(chain.arrays[old] for old in used), tuple(moved))


def _array_fields(step: Step) -> tuple[str, ...]:
    if isinstance(step, Ring):
        return ("source", "target")
    return ("array",) if isinstance(step, Load | Out) else ()


def _arrays(step: Step) -> tuple[int, ...]:
    return tuple(getattr(step, name) for name in _array_fields(step))


def live(chain: Chain, roots: Iterable[int], *, anew: int | None = None) -> set[int]:
    """Steps that the roots need: their operands, and whatever writes bytes that a needed step reads. anew: a view that
    is taken for a buffer of its own."""
    types = typed(chain)
    of_it = set() if anew is None else {anew}
    for number, step in enumerate(chain.steps):
        if not of_it.isdisjoint(operands(step)):
            of_it.add(number)
    needed = set(roots)
    while True:
        more = {operand for number in needed - {anew} for operand in operands(chain.steps[number])}
        looking = [step for number in needed if isinstance(step := chain.steps[number], Read | Gather | Atomic)]
        read = [(types[step.view], step.view in of_it) for step in looking]
        more |= {number for number, step in enumerate(chain.steps) if isinstance(step, _EFFECTS)
                 and any((step.view in of_it) == apart and _overlap(types[step.view], view) for view, apart in read)}
        if any(isinstance(chain.steps[number], Atomic) for number in needed):
            more |= {number for number, step in enumerate(chain.steps) if isinstance(step, Barrier)}
        if more <= needed:
            return needed
        needed |= more


def _overlap(one: Type, other: Type) -> bool:
    """Whether two views see a byte in common."""
    if not isinstance(one, View) or not isinstance(other, View) or one.buffer != other.buffer:
        return False
    return bool(np.intersect1d(bytes_of(one), bytes_of(other)).size)


def _fewer_outputs(chain: Chain) -> Iterator[Chain]:
    ends = _ends(chain)
    for number in ends:
        yield kept(chain, live(chain, [number]))
    for number in ends:
        if len(ends) > 1:
            yield kept(chain, live(chain, [one for one in ends if one != number]))


def _fewer_steps(chain: Chain) -> Iterator[Chain]:
    every = set(range(len(chain.steps)))
    for number, step in enumerate(chain.steps):
        if isinstance(step, Barrier | Dealloc | Store | Scatter):
            yield kept(chain, every - {number})
        used = operands(step)
        if used and not isinstance(step, Out | Store | Scatter | Barrier | Dealloc | Ring):
            # Let those behind it take what it took; its type must not have mattered.
            numbers = {k: used[0] if k == number else k for k in every}
            rewired = tuple(renumbered(one, numbers) if k > number else one for k, one in enumerate(chain.steps))
            bypassed = _typed_out(replace(chain, steps=rewired))
            if bypassed is not None:
                yield kept(bypassed, live(bypassed, _ends(bypassed)))


def _ends(chain: Chain) -> list[int]:
    return [number for number, step in enumerate(chain.steps) if isinstance(step, Out | Ring)]


def _loading(chain: Chain, number: int, view: View) -> Chain:
    """The chain whose load with this number is of all elements of an array of the view's type."""
    load = chain.steps[number]
    assert isinstance(load, Load)
    arrays = tuple(replace(one, shape=view.shape, dtype=view.dtype) if k == load.array else one
                   for k, one in enumerate(chain.arrays))
    return with_step(replace(chain, arrays=arrays), number,
                     Load(load.array, plain_blocked(len(view.shape), chain.warps)))


def _behind(chain: Chain, buffer: int, number: int) -> Chain | None:
    """The chain with step `buffer` behind a later one; None if one in between needs it."""
    if any(buffer in operands(one) for one in chain.steps[buffer + 1:number + 1]):
        return None
    order = [*(k for k in range(number + 1) if k != buffer), buffer, *range(number + 1, len(chain.steps))]
    numbers = {old: new for new, old in enumerate(order)}
    return replace(chain, steps=tuple(renumbered(chain.steps[old], numbers) for old in order))


def _filled_at_once(chain: Chain) -> Iterator[Chain]:
    """Buffers allocated with what is stored or scattered to them, and scatters made stores."""
    every = set(range(len(chain.steps)))
    types = typed(chain)
    for number, step in enumerate(chain.steps):
        if not isinstance(step, Store | Scatter):
            continue
        buffer, empty, view = step.view, chain.steps[step.view], types[step.view]
        made = chain
        if isinstance(step, Scatter):
            yield with_step(chain, number, Store(step.view, step.source))
            if isinstance(chain.steps[step.source], Load) and isinstance(view, View):
                made = _loading(chain, step.source, view)
        if isinstance(empty, Alloc) and not empty.slots and empty.source is UNSET:
            filled = with_step(made, buffer, replace(empty, source=step.source))
            moved = _behind(filled, buffer, step.source) if step.source > buffer else filled
            if moved is not None:
                left = kept(moved, every - {number})
                with suppress(Illegal):
                    yield kept(left, live(left, _ends(left)))


def anew(chain: Chain) -> Iterator[Chain]:
    """Views replaced by buffers of their own, empty or filled with an input that takes the view's shape."""
    for number, (step, view) in enumerate(zip(chain.steps, typed(chain), strict=True)):
        if not isinstance(step, VIEWS_OF_VIEWS) or not isinstance(view, View):
            continue
        buffer = Alloc(view.dtype, view.shape, row_major(len(view.shape)))
        wanted = live(chain, _ends(chain), anew=number)
        yield kept(with_step(chain, number, buffer), wanted)
        for source, load in enumerate(chain.steps[:number]):
            if isinstance(load, Load):
                made = with_step(_loading(chain, source, view), number, replace(buffer, source=source))
                yield kept(made, wanted | {source})


def without(chain: Chain, steps: set[int]) -> Chain | None:
    """What is left of a chain where some steps, and all that follows from them, are not done; None if nothing is."""
    gone = set(steps)
    for number, step in enumerate(chain.steps):
        if not gone.isdisjoint(operands(step)):
            gone.add(number)
    left = [number for number in _ends(chain) if number not in gone]
    return kept(chain, live(chain, left) - gone) if left else None


def _typed_out(chain: Chain) -> Chain | None:
    """The chain with its output arrays given the types of what is now stored to them; None if it is illegal."""
    arrays = list(chain.arrays)
    state = State(chain.warps, arrays)
    try:
        for step in chain.steps:
            if isinstance(step, Out):
                source = state.types[step.source]
                if not isinstance(source, Tensor):
                    return None
                shape = untransposed(source.shape, step.order) or (1,)
                arrays[step.array] = replace(arrays[step.array], dtype=source.dtype, shape=shape)
            add(state, step)
    except (Illegal, IndexError):
        return None
    return replace(chain, arrays=tuple(arrays))


def _fewer_slots(chain: Chain) -> Iterator[Chain]:
    """Every ring with one slot less, or with none."""
    for number, step in enumerate(chain.steps):
        if isinstance(step, Alloc) and step.slots:
            if step.slots == 1:
                yield _unrung(chain, number)
                continue
            for slots in (1, step.slots - 1):
                yield replace(chain, steps=tuple(
                    replace(one, slots=slots) if k == number
                    else replace(one, slot=min(one.slot, slots - 1)) if isinstance(one, Index) and one.view == number
                    else one for k, one in enumerate(chain.steps)))


def _unrung(chain: Chain, ring: int) -> Chain:
    """The chain with a ring of one slot made a buffer of its own."""
    gone = {number for number, step in enumerate(chain.steps) if isinstance(step, Index) and step.view == ring}
    numbers = {number: ring if number in gone else number for number in range(len(chain.steps))}
    steps = tuple(replace(step, slots=0) if number == ring and isinstance(step, Alloc) else renumbered(step, numbers)
                  for number, step in enumerate(chain.steps))
    return kept(replace(chain, steps=steps), set(numbers) - gone)


def _plainer(chain: Chain) -> Iterator[Chain]:
    def plain(layout: Distributed | Shared) -> Distributed | Shared:
        register = isinstance(layout, Distributed)
        return plain_blocked(rank(layout), chain.warps) if register else row_major(rank(layout))

    yield replace(chain, steps=tuple(
        replace(step, **{name: plain(layout) for name, layout in _layouts(step).items()}) for step in chain.steps))
    for number, step in enumerate(chain.steps):
        for name, layout in _layouts(step).items():
            if _complexity(layout):
                yield with_step(chain, number, replace(step, **{name: plain(layout)}))
        for changes in _settings(step):
            yield from _retyped(with_step(chain, number, replace(step, **changes)))


def _settings(step: Step) -> Iterator[dict[str, Any]]:
    """Fields set to their plain values, one at a time."""
    match step:
        case Load():
            yield {"mask": UNSET, "other": 0}
            yield {"pointers": UNSET}
        case Index(running=True):
            yield {"running": False}
        case Ramp(start=start, flip=flip) if start or flip:
            yield {"start": 0, "flip": 0}
        case Ring(slots=slots, ahead=ahead):
            yield {"ahead": 0}
            if ahead:
                yield {"ahead": ahead - 1, "slots": slots - 1}
        case Subslice(start=start) if start:
            yield {"start": 0}


def _retyped(chain: Chain) -> Iterator[Chain]:
    made = _typed_out(chain)
    if made is not None:
        yield made


def _smaller(chain: Chain) -> Iterator[Chain]:
    """Every extent of one length halved, wherever it stands."""
    extents = {extent for array in chain.arrays for extent in array.shape}
    for extent in sorted(extents - {1}, reverse=True):
        yield from _retyped(_halved(chain, extent))


def _halved(chain: Chain, extent: int) -> Chain:
    half = extent // 2

    def halved(shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(half if n == extent else n for n in shape)

    arrays = tuple(replace(array, shape=halved(array.shape)) for array in chain.arrays)
    steps = []
    for step in chain.steps:
        if hasattr(step, "shape"):
            step = replace(step, shape=halved(step.shape))
        if isinstance(step, Ring) and step.tiles == extent:
            step = replace(step, tiles=half, ahead=min(step.ahead, half))
        if isinstance(step, Load) and step.mask is not UNSET:
            step = replace(step, mask=replace(step.mask, count=step.mask.count // 2))
        if isinstance(step, Subslice) and step.length > half:
            step = replace(step, start=step.start // 2, length=max(step.length // 2, 1))
        steps.append(step)
    return replace(chain, arrays=arrays, steps=tuple(steps))


def _fewer_warps(chain: Chain) -> Iterator[Chain]:
    """Other numbers of warps, with every register layout made plain."""
    for warps in (1, 2, 4):
        if warps < chain.warps:
            steps = tuple(replace(step, **{
                name: plain_blocked(rank(layout), warps) for name, layout in _layouts(step).items()
                if isinstance(layout, Distributed)}) for step in chain.steps)
            yield Chain(warps, chain.arrays, steps)
