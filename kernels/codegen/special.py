"""Sort, bucketize, random numbers, inline assembly (codegen.md §3, §8, §9)."""

from tridiff.kernels.codegen.assembly import BODIES
from tridiff.kernels.codegen.graph import Asm, Bucketize, Random, Sort
from tridiff.kernels.codegen.state import Emitter, Shape
from tridiff.kernels.pointwise.record import TRITON_NAMES


def emit_sort(emitter: Emitter, position: int, node: Sort) -> None:
    assert emitter.tiling.r is not None
    value = emitter.value(node.arg)
    text = emitter.whole_tile(value.texts[0], value.shape)
    emitter.used.add("sort_with_index")
    padded = not emitter.constant_mask(emitter.tiling.r)
    length = emitter.size("rnumel", emitter.tiling.r.numel) if padded else "None"
    shape = emitter.shape_text(emitter.full_shape)
    index = emitter.assign("rindex_i16", f"tl.broadcast_to(rindex.to(tl.int16), {shape})")
    call = f"sort_with_index({text}, {index}, {length}, stable={node.stable}, descending={node.descending})"
    names = emitter.assign_many((f"tmp{position}_sorted", f"tmp{position}_index"), call)
    emitter.put(position, names, emitter.full_shape)


def emit_bucketize(emitter: Emitter, position: int, node: Bucketize) -> None:
    value = emitter.value(node.arg)
    emitter.used.add("bucketize_binary_search")
    sorter = "None" if node.sorter is None else emitter.pointer(node.sorter)
    length = emitter.buffers[node.boundaries].length
    call = (f"bucketize_binary_search({value.texts[0]}, {emitter.pointer(node.boundaries)}, {node.size}, "
            f"{length}, 1, 0, {TRITON_NAMES[node.dtype]}, {node.right}, {sorter}, 1, 0)")
    emitter.keep(position, call, value.shape)


def emit_random(emitter: Emitter, position: int, node: Random) -> None:
    offset = emitter.value(node.offset)
    seed = emitter.assign(f"seed{position}", f"tl.load({emitter.pointer(node.seeds)} + {node.slot})")
    emitter.used.add(node.kind)
    # Truncated to 32 bits: the stream repeats after 2^32 elements, in whatever type positions are counted.
    arguments = [seed, f"{offset.texts[0]}.to(tl.uint32)"]
    if node.kind == "randint64":
        arguments += [_int64(node.low), _int64(node.high)]
    emitter.keep(position, f"{node.kind}({', '.join(arguments)})", offset.shape)


def _int64(value: int) -> str:
    return str(value) if -(2**31) <= value < 2**31 else f"tl.full([], {value}, tl.int64)"


def emit_asm(emitter: Emitter, position: int, node: Asm) -> None:
    body = BODIES[node.body]
    values = [emitter.value(k) for k in node.args]
    shape: Shape = frozenset().union(*(value.shape for value in values))
    texts = [emitter.broadcast(value.texts[0], value.shape, shape) for value in values]
    call = (f'tl.inline_asm_elementwise({body.ptx!r}, "{body.constraints}", [{", ".join(texts)}], '
            f"dtype={TRITON_NAMES[body.dtype]}, is_pure={node.pure}, pack=1)").replace("'", '"')
    emitter.keep(position, call, shape, pure=node.pure)
