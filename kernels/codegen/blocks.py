"""Block pointers (Triton 3.6.0) and tensor descriptors: which accesses fit one, and their text (codegen.md §5).

An access fits if its index is affine, so that every tile axis moves it by a fixed stride. A tile axis that runs over
several axes of the graph with unrelated strides becomes several dimensions of the block; that works if the lengths
of the inner ones and the block divide each other. Whatever does not fit uses plain pointers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tridiff.kernels.codegen.affine import Affine, affine
from tridiff.kernels.codegen.graph import Expr, Load, Store
from tridiff.kernels.codegen.tiles import Tile
from tridiff.kernels.pointwise.record import WIDTHS

if TYPE_CHECKING:
    from tridiff.kernels.codegen.state import Emitter, Shape


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of a block: length of the tensor (text and number), stride and length of the block there, where the
    block starts (text), whether it may reach beyond the tensor."""

    size: str
    length: int
    stride: int
    offset: str
    block: str
    elements: int
    ragged: bool


@dataclass(frozen=True, slots=True)
class Block:
    """An access as a block. base: text of the first element's distance from the buffer's."""

    base: str
    dimensions: tuple[Dimension, ...]
    shape: Shape


def _listed(texts: list[str]) -> str:
    return f"[{', '.join(texts)}]"


def _offset(emitter: Emitter, tile: Tile) -> str:
    return "0" if tile.name == "r" and emitter.schedule.reduction == "persistent" else f"{tile.name}offset"


def _one_dimension(emitter: Emitter, tile: Tile, form: Affine) -> tuple[Dimension, ...] | None:
    """The tile axis as one dimension, if its axes lie behind one another in memory."""
    stride: int | None = None
    inner = 1
    lengths = emitter.analysis.axes
    for axis in reversed(tile.axes):
        if lengths[axis] != 1:
            own = form.strides.get(axis, 0)
            if stride is None:
                stride = own
            elif own != stride * inner:
                return None
        inner *= lengths[axis]
    size = emitter.size(f"{tile.name}numel", tile.numel)
    return (Dimension(size, tile.numel, stride or 0, _offset(emitter, tile), tile.block_name, tile.block,
                      not emitter.constant_mask(tile)),)


def _several_dimensions(emitter: Emitter, tile: Tile, form: Affine) -> tuple[Dimension, ...] | None:
    """The tile axis as one dimension per axis, if every block falls apart into whole rows of the inner ones."""
    left, inner, found = tile.block, 1, []
    start = _offset(emitter, tile)
    for place, axis in reversed(list(enumerate(tile.axes))):
        length = emitter.analysis.axes[axis]
        stride = form.strides.get(axis, 0)
        if place == 0:
            found.append(Dimension(str(length), length, stride, f"{start} // {inner}", str(left), left,
                                   not emitter.constant_mask(tile)))
            break
        block = min(left, length)
        if length == 0 or length % block or left % block:
            return None
        offset = f"({start} // {inner}) % {length}"
        found.append(Dimension(str(length), length, stride, offset, str(block), block, False))
        left //= block
        inner *= length
    return tuple(reversed(found))


def block_of(emitter: Emitter, expr: Expr) -> Block | None:
    """The block that an index expression addresses under this tiling, or None."""
    form = affine(expr, axes=emitter.analysis.axes, sizes=emitter.analysis.sizes)
    dynamic = not emitter.schedule.static
    if form is None or emitter.tiling.wide or form.offset < 0 or any(s < 0 for s in form.strides.values()):
        return None
    base = [str(form.offset)] if form.offset else []
    dimensions: list[Dimension] = []
    shape: set[str] = set()
    for tile in emitter.tiling.tiles:
        strides = [form.strides.get(axis, 0) for axis in tile.axes]
        if not any(strides):
            continue
        if tile.place is None:
            if len(tile.axes) > 1 and (dynamic or _one_dimension(emitter, tile, form) is None):
                return None
            single = _one_dimension(emitter, tile, form)
            assert single is not None
            base.append(f"{tile.name}offset * {single[0].stride}")
            continue
        found = None
        if len(tile.axes) == 1 or not dynamic:
            found = _one_dimension(emitter, tile, form) or _several_dimensions(emitter, tile, form)
        if found is None:
            return None
        dimensions += found
        shape.add(tile.name)
    if not dimensions or len(dimensions) > 5:
        return None
    return Block(" + ".join(base), tuple(dimensions), frozenset(shape))


def _plain(emitter: Emitter, position: int, node: Load | Store) -> bool:
    """Whether nothing but the tile decides which lanes take part."""
    masked = isinstance(node, Load) and (node.mask is not None or node.checked)
    return not masked and not emitter.analysis.bodies[position] and not emitter.first_of_r


def _pointer(emitter: Emitter, buffer: str, block: Block) -> str:
    return f"{emitter.pointer(buffer)} + {block.base}" if block.base else emitter.pointer(buffer)


def _make_block_pointer(emitter: Emitter, position: int, buffer: str, block: Block) -> str:
    dims = block.dimensions
    order = [str(place) for place in reversed(range(len(dims)))]
    emitter.line(f"block{position} = tl.make_block_ptr(")
    emitter.line(f"    {_pointer(emitter, buffer, block)},")
    emitter.line(f"    shape={_listed([one.size for one in dims])},")
    emitter.line(f"    strides={_listed([str(one.stride) for one in dims])},")
    emitter.line(f"    offsets={_listed([one.offset for one in dims])},")
    emitter.line(f"    block_shape={_listed([one.block for one in dims])},")
    emitter.line(f"    order={_listed(order)},")
    emitter.line(")")
    return f"block{position}"


def _checks(block: Block) -> str:
    ragged = [str(place) for place, one in enumerate(block.dimensions) if one.ragged]
    return f", boundary_check={_listed(ragged)}" if ragged else ""


def _descriptor(emitter: Emitter, buffer: str, block: Block, *, stores: bool = False) -> str | None:
    """Name of a tensor descriptor for the block; None if the hardware could not take it: the fastest axis must be
    dense, the other strides and the base whole 16-byte units, and a row of the block at least 16 bytes. stores: for a
    store the length of the fastest axis must be whole 16-byte units too, because it writes no less than those: where
    the tensor ends within one, the rest of it is overwritten (triton-lang/triton#11583)."""
    itemsize = max(WIDTHS[emitter.analysis.buffers[buffer]], 8) // 8
    dims = block.dimensions
    if stores and dims[-1].length * itemsize % 16:
        return None
    fits = buffer in emitter.aligned_buffers and dims[-1].stride == 1 and dims[-1].elements * itemsize >= 16
    fits = fits and all(one.stride * itemsize % 16 == 0 and one.stride > 0 for one in dims[:-1])
    fits = fits and all(one.elements <= 256 for one in dims) and (not block.base or block.base.isdecimal())
    if not fits or (block.base and int(block.base) * itemsize % 16):
        return None
    text = (f"tl.make_tensor_descriptor({_pointer(emitter, buffer, block)}, "
            f"shape={_listed([one.size for one in dims])}, "
            f"strides={_listed([str(one.stride) for one in dims])}, "
            f"block_shape={_listed([one.block for one in dims])})")
    known = emitter.top.cache.get(text)
    if known is None:
        known = f"{buffer}_descriptor{len(emitter.descriptors) or ''}"
        emitter.top.cache[text] = known
        emitter.top.lines.append(f"{known} = {text}")
        emitter.descriptors.append(known)
        emitter.aligned[buffer] = None
    return known


def block_load(emitter: Emitter, position: int, node: Load) -> tuple[str, Shape] | None:
    """Text and shape of the load as a block, or None where only plain pointers will do."""
    if emitter.schedule.access == "pointers" or not _plain(emitter, position, node):
        return None
    block = block_of(emitter, node.index)
    if block is None:
        return None
    dims = block.dimensions
    if emitter.schedule.access == "descriptors":
        name = _descriptor(emitter, node.buffer, block)
        if name is None:
            return None
        text = f"{name}.load({_listed([one.offset for one in dims])})"
    else:
        checks = _checks(block)
        padding = ', padding_option="zero"' if checks and position in emitter.feeding else ""
        eviction = f', eviction_policy="{emitter.schedule.eviction}"' if emitter.schedule.eviction else ""
        pointer = _make_block_pointer(emitter, position, node.buffer, block)
        text = f"tl.load({pointer}{checks}{padding}{eviction})"
    if [one.block for one in dims] != emitter.shape_text(block.shape)[1:-1].split(", "):
        text = f"tl.reshape({text}, {emitter.shape_text(block.shape)})"
    return text, block.shape


def block_store(emitter: Emitter, position: int, node: Store, value: str, shape: Shape) -> str | None:
    """Text of the store of a value of `shape` as a block, or None."""
    if emitter.schedule.access == "pointers" or not _plain(emitter, position, node):
        return None
    block = block_of(emitter, node.index)
    if block is None or block.shape != shape:
        return None
    dims = block.dimensions
    if [one.block for one in dims] != emitter.shape_text(shape)[1:-1].split(", "):
        value = f"tl.reshape({value}, {_listed([one.block for one in dims])})"
    if emitter.schedule.access == "descriptors":
        name = _descriptor(emitter, node.buffer, block, stores=True)
        if name is None:
            return None
        return f"{name}.store({_listed([one.offset for one in dims])}, {value})"
    pointer = _make_block_pointer(emitter, position, node.buffer, block)
    return f"tl.store({pointer}, {value}{_checks(block)})"
