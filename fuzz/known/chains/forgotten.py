"""What Triton 3.6.0 reads through transposed NVMMA buffers without swizzle.

memdesc_trans marks the layout of its result as transposed, and for a layout without swizzle 3.6.0 lowers accesses as if
the mark were not there: elements of the transposed view are taken row-major (triton#10453). The rest of a view's way is
right: slices, and whatever follows a reshape that gives the view a linear layout. A reshape that keeps the innermost
axis keeps the layout too.
"""

from dataclasses import dataclass, replace

import numpy as np
from msgspec import UNSET, structs

from tridiff.kernels.gluon.chain import Alloc, Chain, Index, Permute, Read, Reinterpret, Reshape, Store, Subslice
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.layouts import Nvmma, Shared
from tridiff.kernels.gluon.memory import placement
from tridiff.kernels.gluon.rules_buffers import offsets
from tridiff.kernels.gluon.values import WIDTH, Integers, View


@dataclass(frozen=True)
class _Seen:
    """A view as 3.6.0 lowers it. full: byte offsets of the uncut view; part: what is left of it along each axis;
    layout: its own, as long as it is NVMMA without swizzle."""

    full: Integers
    part: tuple[slice, ...]
    layout: Nvmma | None = None

    @property
    def places(self) -> Integers:
        return self.full[self.part]


def _whole(full: Integers, layout: Shared | None = None) -> _Seen:
    bare = layout if isinstance(layout, Nvmma) and not layout.swizzle and full.ndim == 2 else None
    return _Seen(full, tuple(slice(0, extent) for extent in full.shape), bare)


def _next(step: Index | Subslice | Reshape | Permute, source: _Seen, view: View) -> _Seen:
    """The view that `step` takes of `source`; view: the same as it should be."""
    if isinstance(step, Index):
        return replace(_whole(view.places), layout=source.layout)
    if isinstance(step, Subslice):
        start = source.part[step.axis].start + step.start
        cut = slice(start, start + step.length)
        return replace(source, part=tuple(cut if k == step.axis else one for k, one in enumerate(source.part)))
    if isinstance(step, Reshape):
        kept = source.layout if source.layout is not None and _keeps(source.layout, view.shape, source.full) else None
        return replace(_whole(source.places.reshape(step.shape)), layout=kept)
    full, layout = source.full.transpose(step.order), None
    if source.layout is not None and step.order == (1, 0):
        layout = structs.replace(source.layout, transposed=not source.layout.transposed)
        full = offsets(placement(layout, shape=full.shape)) * (WIDTH[view.dtype] // 8) + source.full.min()
    return replace(source, full=full, part=tuple(source.part[k] for k in step.order), layout=layout)


def _keeps(layout: Nvmma, shape: tuple[int, ...], full: Integers) -> bool:
    """Whether a view of `full` reshaped to `shape` keeps its layout: its innermost axis stays, and so do all places."""
    inner = 0 if layout.transposed else -1
    return shape[inner] == full.shape[inner] and np.array_equal(
        offsets(placement(layout, shape=shape)), offsets(placement(layout, shape=full.shape)).reshape(shape))


def seen(chain: Chain) -> dict[int, Integers]:
    """By step, the byte offsets of the elements of every view, as 3.6.0 lowers it."""
    found: dict[int, _Seen] = {}
    for number, (step, view) in enumerate(zip(chain.steps, typed(chain), strict=True)):
        if isinstance(step, Alloc | Reinterpret) and isinstance(view, View):
            found[number] = _whole(view.places[0], step.layout) if view.slots else _whole(view.places, step.layout)
        elif isinstance(step, Index | Subslice | Reshape | Permute) and isinstance(view, View):
            found[number] = _next(step, found[step.view], view)
    return {number: one.places for number, one in found.items()}


def misread(chain: Chain) -> tuple[int, ...]:
    """The reads that give other bytes than were stored there, followed byte by byte. Every store is of new values,
    also where it stores what was read."""
    types, lowered = typed(chain), seen(chain)
    if all(np.array_equal(lowered[number], view.places) for number, view in enumerate(types)
           if isinstance(view, View) and not view.slots):
        return ()
    found: list[int] = []
    memory: dict[tuple[int, bool], dict[int, tuple[int, int, int]]] = {}  # who wrote a byte: step, element, byte of it
    for number, step in enumerate(chain.steps):
        target = step.view if isinstance(step, Store | Read) else number
        view = types[target]
        fills = isinstance(step, Store) or (isinstance(step, Alloc) and step.source is not UNSET)
        if not isinstance(view, View) or not (fills or isinstance(step, Read)):
            continue
        looks = []
        for right, places in ((True, view.places), (False, lowered[target])):
            held = memory.setdefault((view.buffer, right), {})
            ways = [(int(place) + byte, (number, element, byte)) for element, place in enumerate(places.reshape(-1))
                    for byte in range(WIDTH[view.dtype] // 8)]
            looks.append([held.get(address) for address, _ in ways])
            if fills:
                held.update(ways)
        if isinstance(step, Read) and looks[0] != looks[1]:
            found.append(number)
    return tuple(found)
