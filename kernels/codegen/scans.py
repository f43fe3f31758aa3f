"""Scans: in one tile, with a carry from tile to tile, and across programs by look-back (codegen.md §7)."""

from __future__ import annotations

from tridiff.kernels.codegen.constants import full, integer_limits, is_float
from tridiff.kernels.codegen.domains import R
from tridiff.kernels.codegen.graph import Scan
from tridiff.kernels.codegen.state import Emitter
from tridiff.kernels.pointwise.record import HALVES, TRITON_NAMES, WIDTHS


def combine_function(emitter: Emitter, node: Scan) -> str:
    """Name of the combine function; its definition is lifted to module level, once per body (codegen.md §10)."""
    name, parameters, body = _COMBINES[node.combine]
    if not body:
        emitter.used.add(name)
    else:
        emitter.helpers[name] = f"@triton.jit\ndef {name}({parameters}):\n    return {body}\n"
    return name


_COMBINES = {
    "sum": ("combine_add", "a, b", "a + b"),
    "prod": ("combine_mul", "a, b", "a * b"),
    "affine": ("combine_affine", "a_scale, a_shift, b_scale, b_shift",
               "a_scale * b_scale, a_shift * b_scale + b_shift"),
    "second": ("combine_second", "a, b", "b"),
    "max": ("maximum", "", ""),
    "min": ("minimum", "", ""),
    "argmax": ("maximum_with_index", "", ""),
    "argmin": ("minimum_with_index", "", ""),
    "logcumsumexp": ("log_add_exp", "", ""),
}
"""Name, parameters and value of each combine function; those without a body are device functions of the library."""


def _compute_dtype(emitter: Emitter, dtype: str) -> str:
    """Halves are always scanned in fp32 (notes.md)."""
    return "fp32" if dtype in HALVES else dtype


def emit_scan(emitter: Emitter, position: int, node: Scan) -> None:
    combine = combine_function(emitter, node)
    dtypes = [emitter.analysis.dtype(k) for k in node.args]
    computed = [_compute_dtype(emitter, dtype) for dtype in dtypes]
    tiles = []
    for k, dtype, wanted in zip(node.args, dtypes, computed, strict=True):
        value = emitter.value(k)
        text = value.texts[0]
        if emitter.compute(dtype) != wanted:
            text = emitter.assign(f"tmp{k}_{wanted}", f"{text}.to({TRITON_NAMES[wanted]})")
        tiles.append(emitter.whole_tile(text, value.shape))
    names = tuple(f"tmp{position}" if len(tiles) == 1 else f"tmp{position}_{item}" for item in range(len(tiles)))
    scanned = tuple(f"{name}_scan" for name in names)
    operand = tiles[0] if len(tiles) == 1 else f"({', '.join(tiles)})"
    found = emitter.assign_many(scanned, f"tl.associative_scan({operand}, {emitter.r_place}, {combine})")
    if emitter.schedule.reduction == "persistent":
        names = found
    elif emitter.schedule.reduction == "split":
        _look_back(emitter, names[0], found[0], computed[0], combine)
    else:
        _carry(emitter, names, found, computed, combine)
    results = []
    for name, dtype, held in zip(names, dtypes, computed, strict=True):
        wanted = emitter.compute(dtype)
        if wanted != held:
            name = emitter.assign(f"{name}_{wanted}", f"{name}.to({TRITON_NAMES[wanted]})")
        results.append(name)
    emitter.put(position, tuple(results), emitter.full_shape)


def _call(emitter: Emitter, combine: str, left: tuple[str, ...], right: tuple[str, ...]) -> str:
    return f"{combine}({', '.join((*left, *right))})"


def _carry(emitter: Emitter, names: tuple[str, ...], scanned: tuple[str, ...], dtypes: list[str], combine: str) -> None:
    """What the tiles to the left add up to is combined on the left; the first tile has nothing to its left."""
    suffix = f"_pass{emitter.pass_number}" if emitter.pass_number else ""
    carries = tuple(f"{name}_carry{suffix}" for name in names)
    shape = emitter.shape_text(emitter.full_shape - {R})
    for carry, dtype in zip(carries, dtypes, strict=True):
        # Never used: the first tile has nothing to its left. Not a neutral value, so that a mistake would show.
        nothing = float("nan") if is_float(dtype) else integer_limits(dtype)[1]
        emitter.top.lines.append(f"{carry} = {full(nothing, dtype, shape)}")
    joined = tuple(f"{name}_joined" for name in names)
    emitter.line(f"{', '.join(joined)} = {_call(emitter, combine, carries, scanned)}")
    for name, both, one in zip(names, joined, scanned, strict=True):
        emitter.line(f"{name} = tl.where({emitter.first_iteration}, {one}, {both})")
    emitter.used.add("select_one")
    tile = emitter.shape_text(emitter.full_shape)
    last = emitter.assign("last_of_tile", f"tl.broadcast_to(rbase == RBLOCK - 1, {tile})")
    for name, carry in zip(names, carries, strict=True):
        emitter.line(f"{carry} = {emitter.keep_r(f'select_one({name}, {last}, {emitter.r_place})')}")


def _look_back(emitter: Emitter, name: str, scanned: str, dtype: str, combine: str) -> None:
    """Every program scans one tile of its row and learns from its predecessors what is left of it (helpers.md §11)."""
    assert emitter.tiling.r is not None
    width = WIDTHS[dtype]
    rows = emitter.tiling.outer[0].numel
    programs = max(emitter.tiling.r.programs, 1)
    words = 3 if width == 64 else 1
    helper = "exclusive_scan_decoupled_lookback" + ("_64" if width == 64 else "")
    emitter.used |= {helper, "select_one", "promote_to_tensor"}
    pointer = emitter.workspace(f"u{2 * width}" if width < 64 else "u64", rows * programs * words)
    emitter.line(f"{name}_total = select_one({scanned}, rbase == RBLOCK - 1, 0)")
    row = f"{pointer} + xoffset.to(tl.int64) * (tl.num_programs(0) * {words})"
    types = "" if width == 64 else f", tl.uint{width}, tl.uint{2 * width}"
    emitter.line(f"{name}_prefix = {helper}(")
    emitter.line(f"    {row}, {name}_total, tl.program_id(0), {combine}{types}")
    emitter.line(")")
    prefix = emitter.keep_r(f"{name}_prefix")
    emitter.line(f"{name}_left = {prefix}")
    emitter.line(f"{name}_joined = {_call(emitter, combine, (f'{name}_left',), (scanned,))}")
    emitter.line(f"{name} = tl.where(tl.program_id(0) == 0, {scanned}, {name}_joined)")
