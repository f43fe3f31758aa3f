"""Nodes that compute each point by itself: constants, indices, operations, casts, masks (codegen.md §2 to §4)."""

from tridiff.kernels.codegen.constants import full
from tridiff.kernels.codegen.expressions import is_atom
from tridiff.kernels.codegen.graph import Cast, Constant, Index, Masked, Pointwise
from tridiff.kernels.codegen.state import Emitter, Shape
from tridiff.kernels.pointwise.record import HALVES, TRITON_NAMES
from tridiff.kernels.pointwise.table import OPS, emit as emit_op


def emit_constant(emitter: Emitter, position: int, node: Constant) -> None:
    emitter.keep(position, emitter.constant(node.value, node.dtype), frozenset())


def emit_index(emitter: Emitter, position: int, node: Index) -> None:
    index = emitter.index(node.expr)
    text = index.block(emitter.ones) if index.bare else index.text
    if index.bare and text.startswith("tl.full") and index.text.lstrip("-").isdecimal():
        text = full(int(index.text), node.dtype, emitter.ones)
    elif node.dtype in ("i32", "i64") and (node.dtype == "i64") != index.wide:
        text = f"{text if is_atom(text) else f'({text})'}.to({TRITON_NAMES[node.dtype]})"
    emitter.keep(position, text, index.shape)


def _joint(emitter: Emitter, args: tuple[int, ...], *, level: bool) -> tuple[list[str], Shape]:
    """Operand variables and their joint shape; `level`: all broadcast to it, for device functions that demand it."""
    values = [emitter.value(k) for k in args]
    shape: Shape = frozenset().union(*(value.shape for value in values))
    texts = []
    for k, value in zip(args, values, strict=True):
        text = value.texts[0]
        if level and value.shape != shape:
            text = emitter.assign(f"tmp{k}_{'_'.join(sorted(shape))}", emitter.broadcast(text, value.shape, shape))
        texts.append(text)
    return texts, shape


def emit_pointwise(emitter: Emitter, position: int, node: Pointwise) -> None:
    analysis = emitter.analysis
    declared = tuple(analysis.dtype(k) for k in node.args)
    if node.op == "frexp":
        _emit_frexp(emitter, position, node, declared[0])
        return
    op = OPS[node.op]
    level = any("pointwise." in form.template or "libdevice." in form.template or "fma" in form.template
                for form in op.forms)
    texts, shape = _joint(emitter, node.args, level=level)
    computed = tuple(map(emitter.compute, declared))
    if computed != declared and op.halves == "own":
        texts = [emitter.assign(f"tmp{k}_{dtype}", f"{text}.to({TRITON_NAMES[dtype]})") if dtype in HALVES else text
                 for k, text, dtype in zip(node.args, texts, declared, strict=True)]
        text = emit_op(node.op, declared, texts)
        if analysis.dtype(position) in HALVES:
            text = f"({text}).to(tl.float32)"
    else:
        text = emit_op(node.op, computed, texts)
    for name in ("pointwise", "libdevice"):
        if f"{name}." in text:
            emitter.used.add(name)
    emitter.put(position, (emitter.assign(f"tmp{position}", text),), shape)


def _emit_frexp(emitter: Emitter, position: int, node: Pointwise, dtype: str) -> None:
    value = emitter.value(node.args[0])
    emitter.used.add("frexp")
    operand = value.texts[0]
    narrow = emitter.compute(dtype) in HALVES
    call = f"frexp({operand}.to(tl.float32))" if narrow else f"frexp({operand})"
    mantissa, exponent = emitter.assign_many((f"tmp{position}_mantissa", f"tmp{position}_exponent"), call)
    if narrow:
        mantissa = emitter.assign(f"{mantissa}_{dtype}", f"{mantissa}.to({TRITON_NAMES[dtype]})")
    emitter.put(position, (mantissa, exponent), value.shape)


def emit_cast(emitter: Emitter, position: int, node: Cast) -> None:
    source = emitter.analysis.dtype(node.arg)
    value = emitter.value(node.arg)
    text = value.texts[0]
    if node.bitcast:
        if source in HALVES and emitter.schedule.upcast:
            text = emitter.assign(f"tmp{node.arg}_{source}", f"{text}.to({TRITON_NAMES[source]})")
        if source != node.dtype:
            text = emit_op(f"bitcast_{node.dtype}", (source,), (text,))
        if node.dtype in HALVES and emitter.schedule.upcast:
            text = f"{text}.to(tl.float32)"
    elif emitter.compute(source) != emitter.compute(node.dtype):
        text = emit_op(f"to_{emitter.compute(node.dtype)}", (emitter.compute(source),), (text,))
    emitter.keep(position, text, value.shape)


def emit_masked(emitter: Emitter, position: int, node: Masked) -> None:
    mask, value = emitter.value(node.mask), emitter.value(node.arg)
    dtype = emitter.analysis.dtype(node.arg)
    other = emitter.constant(node.other, dtype)
    text = f"tl.where({mask.texts[0]}, {value.texts[0]}, {other})"
    emitter.keep(position, text, mask.shape | value.shape)
