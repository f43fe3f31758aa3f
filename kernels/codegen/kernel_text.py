"""One graph under one schedule as the text of one kernel."""

from collections.abc import Callable
from typing import Any

from tridiff.kernels.codegen import accesses, cooperation, elementwise, reductions, scans, special
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.geometry import spreads
from tridiff.kernels.codegen.graph import (
    Asm,
    Bucketize,
    Cast,
    Constant,
    Index,
    Load,
    Masked,
    Part,
    Pointwise,
    Random,
    Reduce,
    Scan,
    Schedule,
    Sort,
    Store,
)
from tridiff.kernels.codegen.passes import Pass, in_order, plan
from tridiff.kernels.codegen.state import Emitter, Scope
from tridiff.kernels.codegen.tiles import Tile, tiling

_EMIT: dict[type, Callable[[Emitter, int, Any], None]] = {
    Constant: elementwise.emit_constant, Index: elementwise.emit_index, Pointwise: elementwise.emit_pointwise,
    Cast: elementwise.emit_cast, Masked: elementwise.emit_masked, Load: accesses.emit_load, Store: accesses.emit_store,
    Scan: scans.emit_scan, Sort: special.emit_sort, Bucketize: special.emit_bucketize, Random: special.emit_random,
    Asm: special.emit_asm,
}


def emit_body(analysis: Analysis, schedule: Schedule, *, aligned: frozenset[str]) -> Emitter:
    """The statements of the kernel, in `top.lines` of the emitter that is returned, with all that they refer to."""
    tiles = tiling(analysis.graph, schedule)
    emitter = Emitter(analysis, schedule, tiles, aligned=aligned)
    emitter.spread_y = spreads(tiles, schedule) and any(tile.name == "y" for tile in tiles.outer)
    emitter.spread_x = spreads(tiles, schedule) and schedule.reduction in ("split", "cooperative")
    for tile in reversed(tiles.outer):
        _outer_tile(emitter, tile)
    if tiles.r is None:
        _straight(emitter)
        return emitter
    emitter.line(f"rbase = {emitter.along(tiles.r, _arange(emitter, tiles.r))}")
    if schedule.reduction in ("persistent", "split"):
        _whole_r(emitter, tiles.r)
        _straight(emitter)
    else:
        _loops(emitter, tiles.r)
    return emitter


def _program(emitter: Emitter, tile: Tile) -> str:
    """Text of the number of this program along a tile axis."""
    reduction = emitter.schedule.reduction
    along_y = tile.name == "y" or (tile.name == "x" and reduction in ("split", "cooperative"))
    if not along_y:
        number = f"tl.program_id({'xyz'.index(tile.name)})"
    elif emitter.spread_x or emitter.spread_y:
        number = "(tl.program_id(1) + tl.program_id(2) * tl.num_programs(1))"
    else:
        number = "tl.program_id(1)"
    return _counted(emitter, number)


def _counted(emitter: Emitter, number: str) -> str:
    return f"{number}.to(tl.int64)" if emitter.tiling.wide else number


def _arange(emitter: Emitter, tile: Tile) -> str:
    return _counted(emitter, f"tl.arange(0, {tile.block_name if tile.place is not None else 1})")


def _outer_tile(emitter: Emitter, tile: Tile) -> None:
    name = tile.name
    block, arange = "", _arange(emitter, tile)
    if tile.place is not None:
        block, arange = f" * {tile.block_name}", emitter.along(tile, arange)
    emitter.line(f"{name}offset = {_program(emitter, tile)}{block}")
    emitter.line(f"{name}index = {name}offset + {arange}")
    if not emitter.constant_mask(tile):
        emitter.line(f"{name}mask = {name}index < {emitter.size(f'{name}numel', tile.numel)}")


def _r_index(emitter: Emitter, tile: Tile, end: str) -> None:
    emitter.line("rindex = roffset + rbase")
    if not emitter.constant_mask(tile):
        emitter.line(f"rmask = rindex < {end}")


def _whole_r(emitter: Emitter, tile: Tile) -> None:
    length = emitter.size("rnumel", tile.numel) if not emitter.constant_mask(tile) else ""
    if emitter.schedule.reduction == "persistent":
        emitter.line("rindex = rbase")
        if length:
            emitter.line(f"rmask = rindex < {length}")
        return
    emitter.line(f"roffset = {_counted(emitter, 'tl.program_id(0)')} * RBLOCK")
    emitter.line(f"first_program = tl.full({emitter.ones}, 0, tl.int32) == tl.program_id(0)")
    emitter.first_of_r = "first_program"
    _r_index(emitter, tile, length)


def _emit(emitter: Emitter, position: int) -> None:
    node = emitter.graph.nodes[position]
    if isinstance(node, Part):
        value = emitter.value(node.of)
        emitter.put(position, (value.texts[node.item],), value.shape)
    elif isinstance(node, Reduce):
        reductions.emit_persistent(emitter, position, node)
    else:
        _EMIT[type(node)](emitter, position, node)


def _straight(emitter: Emitter) -> None:
    """Every node once, in the order of the graph; what overwrites its own input comes last."""
    nodes = emitter.graph.nodes
    order = in_order(emitter, set(range(len(nodes))) - emitter.analysis.dead)
    for position in sorted(order, key=lambda k: emitter.overwrites(nodes[k])):
        _emit(emitter, position)


def _loops(emitter: Emitter, tile: Tile) -> None:
    length = emitter.size("rnumel", tile.numel)
    start, end, emitter.first_iteration = "0", length, "roffset == 0"
    cooperative = emitter.schedule.reduction == "cooperative"
    if cooperative:
        start, end = cooperation.open_row(emitter, length)
        emitter.first_iteration = "roffset == rstart"
    order = plan(emitter)
    for number, one in enumerate(order.passes):
        emitter.pass_number = number
        for position in one.before:
            _emit(emitter, position)
        _loop(emitter, tile, one, start, end)
        if cooperative:
            cooperation.exchange(emitter, _reduces(emitter, one))
        else:
            for position, node in _reduces(emitter, one):
                reductions.close_accumulator(emitter, position, node)
    for position in order.after:
        _emit(emitter, position)
    if cooperative and any(_overwrites(emitter, position) for position in order.stores):
        cooperation.barrier(emitter)  # the other programs of the row read what the first one is about to overwrite
    for position in order.stores:
        _emit(emitter, position)


def _overwrites(emitter: Emitter, position: int) -> bool:
    """Whether a store overwrites a buffer that is also loaded."""
    node = emitter.graph.nodes[position]
    return isinstance(node, Store) and emitter.overwrites(node) and node.buffer in emitter.loaded


def _reduces(emitter: Emitter, one: Pass) -> list[tuple[int, Reduce]]:
    """The folds that a pass completes."""
    nodes = emitter.graph.nodes
    return [(position, node) for position in one.reduces if isinstance(node := nodes[position], Reduce)]


def _loop(emitter: Emitter, tile: Tile, one: Pass, start: str, end: str) -> None:
    for position, node in _reduces(emitter, one):
        reductions.open_accumulator(emitter, position, node)
    emitter.scope = Scope(parent=emitter.top)
    _r_index(emitter, tile, end)
    for position in one.body:
        inner = emitter.graph.nodes[position]
        if isinstance(inner, Reduce):
            reductions.accumulate(emitter, position, inner)
        else:
            _emit(emitter, position)
    for position in one.stores:
        _emit(emitter, position)
    body = emitter.scope.lines
    emitter.scope = emitter.top
    emitter.line(f"for roffset in range({start}, {end}, RBLOCK):")
    emitter.top.lines += [f"    {line}" for line in body]
