"""Reductions: persistent folds, loop accumulators, and the exchange between cooperating programs (codegen.md §6)."""

from tridiff.kernels.codegen.constants import full, integer_limits, is_float
from tridiff.kernels.codegen.domains import INDEXED, PAIRED, R, accumulator
from tridiff.kernels.codegen.graph import Reduce
from tridiff.kernels.codegen.state import Emitter
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.kernels.pointwise.table import emit as emit_op

INT64_MAX = 2**63 - 1


def neutral(kind: str, dtype: str) -> int | float | bool:
    """The value that padding lanes get, so that they do not matter (codegen.md §6)."""
    if kind == "prod":
        return 1.0 if is_float(dtype) else 1
    if kind in ("max", "argmax", "min", "argmin"):
        lowest = kind in ("max", "argmax")
        if is_float(dtype):
            return float("-inf") if lowest else float("inf")
        low, high = integer_limits(dtype)
        value = low if lowest else high
        return bool(value) if dtype == "i1" else value
    return 0.0 if is_float(dtype) else False if dtype == "i1" else 0


def state_dtype(kind: str, dtype: str) -> str:
    """Dtype that elements of a reduction are folded in."""
    if kind in INDEXED:
        return accumulator("max", dtype)
    return accumulator(kind, dtype)


def state_dtypes(emitter: Emitter, node: Reduce) -> tuple[str, ...]:
    """Dtypes of the state variables of a reduction."""
    dtype = state_dtype(node.kind, emitter.analysis.dtype(node.args[0]))
    return (dtype,) * 3 if node.kind in PAIRED else (dtype, "i64") if node.kind in INDEXED else (dtype,)


def start(kind: str, dtype: str, number: int = 0) -> int | float | bool:
    """What state variable `number` of a reduction starts with. Any element must win a tie with the position there."""
    return INT64_MAX if number and kind in INDEXED else neutral("sum" if kind in PAIRED else kind, dtype)


def _elements(emitter: Emitter, node: Reduce) -> list[str]:
    """Operand variables in the state's dtype and the full tile shape."""
    texts = []
    for k in node.args:
        source = emitter.compute(emitter.analysis.dtype(k))
        dtype = state_dtype(node.kind, emitter.analysis.dtype(k))
        value = emitter.value(k)
        text = value.texts[0]
        if source != dtype:
            text = emitter.assign(f"tmp{k}_{dtype}", emit_op(f"to_{dtype}", (source,), (text,)))
        if node.kind == "all":
            text = emitter.assign(f"tmp{k}_false", f"{text} ^ True")
        texts.append(emitter.whole_tile(text, value.shape))
    return texts


def _positions(emitter: Emitter) -> str:
    """A tile of positions along r, i64."""
    shape = emitter.shape_text(emitter.full_shape)
    return emitter.assign("rposition", f"tl.broadcast_to(rindex, {shape}).to(tl.int64)")


def folded(emitter: Emitter, kind: str, dtype: str, states: tuple[str, ...]) -> str:
    """The fold along r of a tile of states; the r dimension is gone. Welford and arg kinds fold to tuples, any and all
    to the number 1 where some state was true."""
    place = emitter.r_place
    state = states[0]

    def call(name: str, *more: str) -> str:
        emitter.used.add(name)
        return f"{name}({', '.join((*states, *more))}, {place})"

    if kind in ("sum", "xor_sum"):
        text = f"tl.{kind}({state}, {place})"
        return f"{text}.to({TRITON_NAMES[dtype]})" if not is_float(dtype) else text
    if kind in ("any", "all"):
        emitter.used.add("any")
        return f"any({state}.to(tl.int8), {place})"
    if kind == "prod":
        return call("prod")
    if kind in INDEXED:
        return call(f"{kind[3:]}_with_index")
    if kind in ("max", "min"):
        return call(f"{kind}2")
    return call("welford")


def _combined(emitter: Emitter, kind: str, states: tuple[str, ...], others: tuple[str, ...]) -> str:
    """Text of the states joined with others, lane by lane."""
    if kind == "sum":
        return f"{states[0]} + {others[0]}"
    if kind == "prod":
        return f"{states[0]} * {others[0]}"
    if kind == "xor_sum":
        return f"{states[0]} ^ {others[0]}"
    if kind in ("any", "all"):
        return f"{states[0]} | {others[0]}"
    name = {"max": "maximum", "min": "minimum", "argmax": "maximum_with_index", "argmin": "minimum_with_index"}.get(
        kind, "welford_combine")
    emitter.used.add(name)
    return f"{name}({', '.join((*states, *others))})"


def _mask(emitter: Emitter) -> str:
    return " & ".join(emitter.tile_masks(emitter.analysis.axes))


def _names(kind: str, position: int) -> tuple[str, ...]:
    """Result variables."""
    if kind in PAIRED:
        return f"tmp{position}_mean", f"tmp{position}_m2", f"tmp{position}_weight"
    if kind in INDEXED:
        return f"tmp{position}_value", f"tmp{position}"
    return (f"tmp{position}",)


def emit_persistent(emitter: Emitter, position: int, node: Reduce) -> None:
    """The whole axis is in the tile: pad, fold."""
    kind, dtype = node.kind, state_dtype(node.kind, emitter.analysis.dtype(node.args[0]))
    elements = _elements(emitter, node)
    mask = _mask(emitter)
    if kind == "welford":
        _emit_two_pass_variance(emitter, position, dtype, elements[0], mask)
        return
    if mask:
        padding = full(start(kind, dtype), dtype, emitter.ones)
        elements = [emitter.assign(f"{text}_{kind}", f"tl.where({mask}, {text}, {padding})") for text in elements]
    if kind in INDEXED:
        index = _positions(emitter)
        if mask:
            # Padding must lose every tie: it carries the default value, which a real element may have as well.
            last = full(INT64_MAX, "i64", emitter.ones)
            index = emitter.assign("rposition_padded", f"tl.where({mask}, rposition, {last})")
        elements = [*elements, index]
    finish(emitter, position, node, dtype, tuple(elements))


def finish(emitter: Emitter, position: int, node: Reduce, dtype: str, states: tuple[str, ...]) -> None:
    """Fold tiles of states and name the results."""
    names = _names(node.kind, position)
    shape = emitter.full_shape - {R}
    text = folded(emitter, node.kind, dtype, states)
    if len(names) == 1:
        truth = {"any": " != 0", "all": " == 0"}.get(node.kind, "")  # states of `all` are "is false"
        names = (emitter.assign(names[0], emitter.keep_r(text) + truth),)
    else:
        flat = tuple(f"{name}_flat" for name in names)
        emitter.line(f"{', '.join(flat)} = {text}")
        wanted = names[1:] if node.kind in INDEXED else names
        for name, one in zip(names, flat, strict=True):
            if name in wanted:
                emitter.line(f"{name} = {emitter.keep_r(one)}")
        names = wanted
    emitter.put(position, names, shape)


def _emit_two_pass_variance(emitter: Emitter, position: int, dtype: str, element: str, mask: str) -> None:
    """Mean first, then squared deviations: more accurate than a streaming update where the whole row is at hand."""
    assert emitter.tiling.r is not None
    mean, m2, weight = _names("welford", position)
    zero = full(0.0, dtype, emitter.ones)
    place = emitter.r_place

    def padded(text: str) -> str:
        return f"tl.where({mask}, {text}, {zero})" if mask else text

    length = emitter.size("rnumel", emitter.tiling.r.numel)
    emitter.line(f"{weight} = tl.full({emitter.ones}, {length}, {TRITON_NAMES[dtype]})")
    total = emitter.keep_r(f"tl.sum({padded(element)}, {place})")
    # An empty row has mean 0, not 0 / 0.
    emitter.line(f"{mean} = {total} / tl.where({weight} == 0, 1.0, {weight})")
    emitter.line(f"tmp{position}_deviation = {padded(f'{element} - {mean}')}")
    emitter.line(f"{m2} = " + emitter.keep_r(f"tl.sum(tmp{position}_deviation * tmp{position}_deviation, {place})"))
    shape = emitter.full_shape - {R}
    if shape:
        emitter.line(f"{weight} = {emitter.broadcast(weight, frozenset(), shape)}")
    emitter.put(position, (mean, m2, weight), shape)


def open_accumulator(emitter: Emitter, position: int, node: Reduce) -> None:
    """Before the loop: one accumulator per state variable, a full tile of padding."""
    shape = emitter.shape_text(emitter.full_shape)
    for number, (name, held) in enumerate(zip(accumulators(node, position), state_dtypes(emitter, node), strict=True)):
        emitter.top.lines.append(f"{name} = {full(start(node.kind, held, number), held, shape)}")


def accumulators(node: Reduce, position: int) -> tuple[str, ...]:
    """Names of the state variables of a loop."""
    return tuple(f"_{name}" for name in _names(node.kind, position))


def accumulate(emitter: Emitter, position: int, node: Reduce) -> None:
    """In the loop: join the accumulators with the elements of this tile, under the mask."""
    states = accumulators(node, position)
    elements = tuple(_elements(emitter, node))
    if node.kind in INDEXED:
        elements = (*elements, _positions(emitter))
    if node.kind == "welford":
        emitter.used.add("welford_reduce")
        text = f"welford_reduce({elements[0]}, {', '.join(states)}, {emitter.first_iteration})"
    else:
        text = _combined(emitter, node.kind, states, elements)
    mask = _mask(emitter)
    if not mask and len(states) == 1:
        emitter.line(f"{states[0]} = {text}")
        return
    new = tuple(f"{name}_new" for name in states)
    if len(states) == 1:
        emitter.line(f"{states[0]} = tl.where({mask}, {text}, {states[0]})")
        return
    emitter.line(f"{', '.join(new)} = {text}")
    for name, updated in zip(states, new, strict=True):
        emitter.line(f"{name} = tl.where({mask}, {updated}, {name})" if mask else f"{name} = {updated}")


def close_accumulator(emitter: Emitter, position: int, node: Reduce) -> None:
    """After the loop: fold the accumulators along r."""
    dtype = state_dtype(node.kind, emitter.analysis.dtype(node.args[0]))
    finish(emitter, position, node, dtype, accumulators(node, position))
