"""Rules of the steps that work on buffers in shared memory."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import UNSET

from tridiff.kernels.gluon.chain import (
    Alloc,
    Atomic,
    Barrier,
    Dealloc,
    Gather,
    Index,
    Permute,
    Read,
    Reinterpret,
    Reshape,
    Ring,
    Scatter,
    Store,
    Subslice,
)
from tridiff.kernels.gluon.layouts import Padded, Shared, power_of_two
from tridiff.kernels.gluon.memory import Placement, placement, shared_problem
from tridiff.kernels.gluon.values import (
    ATOMIC_DTYPES,
    EXACT,
    MAX_ELEMENTS,
    MAX_SHARED_BYTES,
    WIDTH,
    Illegal,
    Integers,
    Memory,
    State,
    Tensor,
    Type,
    View,
    axis_of,
    bounded,
    hull,
    indices,
    input_array,
    most_elements,
    new_tensor,
    order_of,
    output_array,
    require,
    settled,
    view_of,
)


def _placed(layout: Shared, shape: tuple[int, ...], dtype: str) -> Placement:
    require(dtype != "i1", "booleans do not lie in shared memory")
    why = shared_problem(layout, shape=shape, bits=WIDTH[dtype])
    require(not why, why)
    return placement(layout, shape=shape)


def offsets(placed: Placement) -> Integers:
    """Element offset of every coordinate."""
    value = np.zeros(placed.shape, np.int64)
    for axis, images in enumerate(placed.images):
        line = np.zeros(placed.shape[axis], np.int64)
        for bit, image in enumerate(images):
            line[np.arange(len(line)) >> bit & 1 == 1] ^= image
        value = value ^ line.reshape([-1 if k == axis else 1 for k in range(len(placed.shape))])
    return value + sum((value // interval * padding for interval, padding in placed.pairs), start=np.zeros_like(value))


def _kind(layout: Shared) -> str:
    return str(layout.__struct_config__.tag)


def _take_shared(state: State, size: int) -> None:
    state.shared_bytes += size
    require(state.shared_bytes <= MAX_SHARED_BYTES, "more shared memory than a block has")


def _alloc(state: State, step: Alloc) -> Type:
    placed = _placed(step.layout, step.shape, step.dtype)
    size = math.prod(step.shape)
    require(size <= MAX_ELEMENTS, f"a buffer of {size} elements is too large")
    width = WIDTH[step.dtype] // 8
    slots = max(step.slots, 1)
    require(not (step.slots and isinstance(step.layout, Padded)) or all(
        interval <= size for interval, _ in step.layout.pairs), "padding wider than a slot of a ring")
    stride = placed.padded(size)
    _take_shared(state, stride * slots * width)
    places = offsets(placed) * width
    if step.slots:
        places = places + (np.arange(slots) * stride * width).reshape(-1, *[1] * len(step.shape))
    number = len(state.types)
    state.memory[number] = Memory(np.zeros(stride * slots * width, np.bool_))
    view = View(number, step.dtype, step.shape, placed, _kind(step.layout), places, step.slots)
    if step.source is not UNSET:
        require(not step.slots, "a ring has no first value")
        source = settled(state, step.source)
        require((source.dtype, source.shape) == (step.dtype, step.shape), "the first value has another type")
        _write(state, view, source.between)
    return view


def bytes_of(view: View) -> Integers:
    """Offsets of all bytes that a view sees, (elements, bytes of one)."""
    return view.places.reshape(-1, 1) + np.arange(WIDTH[view.dtype] // 8)


def _write(state: State, view: View, between: tuple[int, int] | None) -> None:
    memory = state.memory[view.buffer]
    require(not memory.exchanging, "a store after atomics without a barrier")
    if view.foreign or between is None:
        memory.between = None
    elif memory.fresh:
        memory.between = between
    elif memory.between is not None:
        memory.between = hull("max", memory.between, between)
    memory.fresh = False
    memory.written[bytes_of(view)] = True


def _look(state: State, view: View) -> tuple[int, int] | None:
    """What a read of the view's elements gives; they must have been written."""
    memory = state.memory[view.buffer]
    require(not memory.exchanging, "a read after atomics without a barrier")
    require(bool(memory.written[bytes_of(view)].all()), "a read of what nothing has written")
    return None if view.foreign else memory.between


def _store(state: State, step: Store) -> Type:
    view, source = view_of(state, step.view), settled(state, step.source)
    require((view.dtype, view.shape) == (source.dtype, source.shape),
             f"a store of {source.dtype} {source.shape} to {view.dtype} {view.shape}")
    _write(state, view, source.between)
    return None


def _read(state: State, step: Read) -> Type:
    view = view_of(state, step.view)
    return new_tensor(state, view.dtype, view.shape, step.layout, between=_look(state, view))


def _index(state: State, step: Index) -> Type:
    view = view_of(state, step.view, ring=True)
    require(view.slots > 0, "only a ring is indexed")
    require(step.slot < view.slots, f"slot {step.slot} of {view.slots}")
    return replace(view, places=view.places[step.slot], slots=0)


def _subslice(state: State, step: Subslice) -> Type:
    view = view_of(state, step.view)
    axis = axis_of(step.axis, view.shape)
    extent = view.shape[axis]
    require(power_of_two(step.length) and step.length <= extent and step.start + step.length <= extent,
             f"a slice of {step.length} at {step.start} of {extent}")
    require(step.start % step.length == 0, "a slice starts at a multiple of its length")
    if step.length < extent and not view.whole.pairs:
        require(view.whole.splits(axis, whole=extent, part=step.length), "a slice through the swizzle")
    cut = tuple(slice(step.start, step.start + step.length) if k == axis else slice(None)
                for k in range(len(view.shape)))
    return replace(view, shape=tuple(step.length if k == axis else n for k, n in enumerate(view.shape)),
                   places=view.places[cut], cut=view.cut or step.length < extent)


def _permute(state: State, step: Permute) -> Type:
    view = view_of(state, step.view)
    order = order_of(step.order, len(view.shape))
    require(view.kind != "nvmma" or order == (1, 0), "NVMMA buffers are only transposed as matrices")
    return replace(view, shape=tuple(view.shape[k] for k in order), whole=view.whole.permuted(order),
                   places=view.places.transpose(order))


def _reshape(state: State, step: Reshape) -> Type:
    view = view_of(state, step.view)
    require(math.prod(step.shape) == math.prod(view.shape), f"{view.shape} reshaped to {step.shape}")
    require(power_of_two(*step.shape), "extents are powers of two")
    require(not view.cut, "a cut view is not reshaped")
    require(math.prod(view.shape) > 1, "a single element is not reshaped")
    return replace(view, shape=step.shape, whole=view.whole.reshaped(step.shape),
                   kind="padded" if view.whole.pairs else "shared_linear", places=view.places.reshape(step.shape))


def _reinterpret(state: State, step: Reinterpret) -> Type:
    view = view_of(state, step.view)
    require(not view.cut, "a cut view is not contiguous")
    require(not view.whole.pairs and not isinstance(step.layout, Padded), "padded buffers are not reinterpreted")
    placed = _placed(step.layout, step.shape, step.dtype)
    width = WIDTH[step.dtype] // 8
    start = int(view.places.min())
    room = int(view.places.max()) + WIDTH[view.dtype] // 8 - start
    require(placed.span * width <= room, "a reinterpretation beyond the view")
    same = step.dtype == view.dtype
    return replace(view, dtype=step.dtype, shape=step.shape, whole=placed, kind=_kind(step.layout),
                   places=offsets(placed) * width + start, foreign=view.foreign or not same)


def _gather(state: State, step: Gather) -> Type:
    view, index = view_of(state, step.view), settled(state, step.index)
    require(len(view.shape) == len(index.shape), "index and view differ in rank")
    axis = axis_of(step.axis, view.shape)
    require(all(n <= m for k, (m, n) in enumerate(zip(view.shape, index.shape, strict=True)) if k != axis),
             "the index reaches beyond the view beside the axis")
    indices(index, view.shape[axis])
    return new_tensor(state, view.dtype, index.shape, index.held, between=_look(state, view))


def targets(places: Integers, index: Integers, axis: int) -> Integers:
    """Byte offsets that indices along `axis` select from a view."""
    grid: list[Integers] = list(np.indices(index.shape, sparse=True))
    grid[axis] = index
    return places[tuple(grid)]


def _scattered(state: State, view: View, source: Tensor, index: Tensor, axis: int) -> tuple[int, ...]:
    require(source.dtype == view.dtype, f"{source.dtype} scattered to {view.dtype}")
    require(source.layout == index.layout, "index and source lie in different layouts")
    require(len(source.shape) == len(index.shape) == len(view.shape), "operands differ in rank")
    try:
        shape = np.broadcast_shapes(source.shape, index.shape)
    except ValueError:
        raise Illegal(f"{source.shape} and {index.shape} do not broadcast") from None
    axis_of(axis, view.shape)
    require(all(n <= m for k, (m, n) in enumerate(zip(view.shape, shape, strict=True)) if k != axis),
             "the index reaches beyond the view beside the axis")
    indices(index, view.shape[axis])
    require(math.prod(shape) <= most_elements(state.warps), "too many elements")
    return shape


def _distinct(view: View, index: Tensor, shape: tuple[int, ...], axis: int) -> Integers:
    """Byte offsets of the targets."""
    require(index.known is not None, "indices that are not known to be distinct")
    assert index.known is not None
    hit = targets(view.places, np.broadcast_to(index.known, shape), axis)
    require(np.unique(hit).size == hit.size, "two values for one element")
    return hit


def _scatter(state: State, step: Scatter) -> Type:
    view = view_of(state, step.view)
    source, index = settled(state, step.source), settled(state, step.index)
    shape = _scattered(state, view, source, index, step.axis)
    _write(state, replace(view, places=_distinct(view, index, shape, step.axis)), source.between)
    return None


def _atomic(state: State, step: Atomic) -> Type:
    view = view_of(state, step.view)
    source, index = settled(state, step.source), settled(state, step.index)
    require(view.dtype in ATOMIC_DTYPES[step.op], f"{step.op} has no atomic for {view.dtype}")
    shape = _scattered(state, view, source, index, step.axis)
    memory = state.memory[view.buffer]
    before, between = _look(state, view), None
    if step.op == "xchg":
        _distinct(view, index, shape, step.axis)
    elif view.dtype in EXACT:
        between = bounded(view.dtype, step.op, hull(step.op, before, source.between, math.prod(shape)))
    if step.mask is not UNSET:
        axis_of(step.mask.axis, shape)
    memory.between, memory.exchanging = between, True
    made = new_tensor(state, view.dtype, shape, index.held)
    return replace(made, settled=False)


def _barrier(state: State, step: Barrier) -> Type:
    for memory in state.memory.values():
        memory.exchanging = False
    return None


def _dealloc(state: State, step: Dealloc) -> Type:
    view = view_of(state, step.view, ring=True)
    require(step.view == view.buffer, "only a buffer itself is freed")
    state.memory[view.buffer].alive = False
    return None


def _ring(state: State, step: Ring) -> Type:
    source = input_array(state, step.source)
    require(source.shape == (step.tiles, *step.shape), f"array {source.name} is not {step.tiles} tiles")
    output_array(state, step.target, source.dtype, source.shape)
    require(step.ahead < step.slots, "as many tiles ahead as there are slots: they would be overwritten unread")
    _placed(step.layout, step.shape, source.dtype)
    require(not isinstance(step.layout, Padded), "a ring of padded buffers")
    require(step.ahead <= step.tiles, "more tiles ahead than there are")
    for layout in (step.written, step.read):
        new_tensor(state, source.dtype, step.shape, layout)
    _take_shared(state, step.slots * math.prod(step.shape) * WIDTH[source.dtype] // 8)
    return None


RULES: dict[type, Callable[[State, Any], Type]] = {
    Alloc: _alloc, Store: _store, Read: _read, Index: _index, Subslice: _subslice, Permute: _permute,
    Reshape: _reshape, Reinterpret: _reinterpret, Gather: _gather, Scatter: _scatter, Atomic: _atomic,
    Barrier: _barrier, Dealloc: _dealloc, Ring: _ring,
}
