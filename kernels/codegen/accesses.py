"""Loads and stores: index, mask, `other`, assertions, conversions to and from storage (codegen.md §4, §5, §10)."""

from dataclasses import replace

from tridiff.kernels.codegen.blocks import block_load, block_store
from tridiff.kernels.codegen.constants import full, literal, parse
from tridiff.kernels.codegen.domains import Analysis, R
from tridiff.kernels.codegen.expressions import is_atom
from tridiff.kernels.codegen.graph import Load, Store
from tridiff.kernels.codegen.state import Emitter, IndexText, Shape
from tridiff.kernels.pointwise.record import HALVES
from tridiff.kernels.pointwise.table import emit as emit_op


def _mask(emitter: Emitter, position: int, shape: Shape, axes: set[str]) -> tuple[str, Shape]:
    """Text of the mask of an access and the shape to which it must be broadcast ("" if every lane is active)."""
    parts = emitter.tile_masks(axes)
    for mask in emitter.analysis.masks(position):
        value = emitter.value(mask)
        parts.append(value.texts[0])
        shape |= value.shape
    return " & ".join(dict.fromkeys(parts)), shape


def mask_axes(analysis: Analysis, position: int) -> set[str]:
    """Axes that decide whether an access is active."""
    return set().union(*(analysis.domains[mask] for mask in analysis.masks(position)))


def emit_load(emitter: Emitter, position: int, node: Load) -> None:
    analysis = emitter.analysis
    stored = analysis.buffers[node.buffer]
    axes = set(analysis.domains[position]) | mask_axes(analysis, position)
    loaded = block_load(emitter, position, node)
    if loaded is None:
        loaded = _pointer_load(emitter, position, node, axes)
    text, shape = loaded
    if stored == "i1":
        text = f"({text} != 0)"
    elif stored in HALVES and emitter.schedule.upcast:
        text = f"{text}.to(tl.float32)"
    emitter.keep(position, text, shape)
    emitter.loaded[node.buffer] = emitter.loaded.get(node.buffer, emitter.full_shape) & shape


def _pointer_load(emitter: Emitter, position: int, node: Load, axes: set[str]) -> tuple[str, Shape]:
    stored = emitter.analysis.buffers[node.buffer]
    index = emitter.index(node.index)
    shape = emitter.shape_of(axes)
    mask, mask_shape = _mask(emitter, position, index.shape, axes)
    shape |= mask_shape
    text, is_block = index.text, not index.bare
    if node.checked:
        text, is_block = _checked_index(emitter, position, node, index, mask), True
    if not is_block or index.shape != shape:
        text = replace(index, text=text, bare=not is_block).block(emitter.shape_text(shape))
    arguments = [_address(emitter, node.buffer, text)]
    if mask:
        arguments.append(mask)
        has_meaning = node.mask is not None or emitter.analysis.bodies[position] or position in emitter.feeding
        if has_meaning:
            arguments.append(f"other={_other(emitter, node, stored)}")
    if emitter.schedule.eviction:
        arguments.append(f'eviction_policy="{emitter.schedule.eviction}"')
    return f"tl.load({', '.join(arguments)})", shape


def _address(emitter: Emitter, buffer: str, index: str) -> str:
    return f"{emitter.pointer(buffer)} + " + (index if is_atom(index) else f"({index})")


def _other(emitter: Emitter, node: Load, stored: str) -> str:
    value = parse(node.other, stored)
    if stored == "i1":
        return str(int(value))
    text = literal(value, stored)
    if text is not None and not stored.startswith("fp8"):
        return text
    return full(value, stored, emitter.ones)


def _checked_index(emitter: Emitter, position: int, node: Load, index: IndexText, mask: str) -> str:
    """Wraps a negative index once and asserts that active lanes are in range (codegen.md §5)."""
    length = emitter.buffers[node.buffer].length
    text = index.block(emitter.ones) if index.bare else index.text
    if not index.wide and length >= 2**31:
        text = f"({text}).to(tl.int64)"
    raw = emitter.assign(f"index{position}", text)
    wrapped = emitter.assign(f"wrapped{position}", f"tl.where({raw} < 0, {raw} + {length}, {raw})")
    inside = f"({wrapped} >= 0) & ({wrapped} < {length})"
    if mask:
        inside = f"({inside}) | ({mask if is_atom(mask) else f'({mask})'} ^ True)"
    emitter.line(f'tl.device_assert({inside}, "index out of bounds: 0 <= {wrapped} < {length}")')
    return wrapped


def converted(emitter: Emitter, text: str, dtype: str, to: str) -> str:
    """A variable of `dtype` (as computed) converted to the storage form of `to`."""
    result = text if dtype == to else emit_op(f"to_{to}", (dtype,), (text,))
    if "pointwise." in result:
        emitter.used.add("pointwise")
    return f"({result}).to(tl.int8)" if to == "i1" else result


def emit_store(emitter: Emitter, position: int, node: Store) -> None:
    analysis = emitter.analysis
    domain = analysis.domains[position]
    value = emitter.value(node.value)
    held, stored = emitter.compute(analysis.dtype(node.value)), analysis.buffers[node.buffer]
    shape = emitter.shape_of(domain)
    text = converted(emitter, value.texts[0], held, stored)
    text = emitter.broadcast(text, value.shape, shape)
    if emitter.overwrites(node) and emitter.loaded.get(node.buffer, emitter.full_shape) != emitter.full_shape:
        # Several threads hold copies of what was loaded: all must have read before one of them writes.
        emitter.line("tl.debug_barrier()")
    written = None if node.mode != "set" else block_store(emitter, position, node, text, shape)
    if written is not None:
        emitter.line(written)
        return
    index = emitter.index(node.index)
    where = index.block(emitter.shape_text(shape)) if index.bare or index.shape != shape else index.text
    masks = emitter.tile_masks(domain)
    if R not in domain and emitter.first_of_r:
        masks.append(emitter.first_of_r)
    pointer = _address(emitter, node.buffer, where)
    mask = " & ".join(masks)
    if node.mode == "atomic_add":
        emitter.line(f'tl.atomic_add({pointer}, {text}{", " + mask if mask else ""}, sem="relaxed")')
        return
    emitter.line(f"tl.store({pointer}, {text}{', ' + mask if mask else ''})")


def lifted(analysis: Analysis, position: int) -> bool:
    """Whether a load without r may be made once, before the loop: not if it depends on data or a mask."""
    node = analysis.nodes[position]
    return not (isinstance(node, Load) and (node.mask is not None or node.checked or analysis.bodies[position]))
