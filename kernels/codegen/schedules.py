"""Which schedules fit a graph: the reason, in one line, why one does not (notes.md)."""

import math

from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.geometry import MAX_PROGRAMS_Y, grid
from tridiff.kernels.codegen.graph import Graph, Reduce, Scan, Schedule, Sort, Store
from tridiff.kernels.codegen.tiles import Tiling, tiling
from tridiff.kernels.pointwise.record import WIDTHS

MAX_TILE = 2**20
MAX_PERSISTENT = 2**14
MAX_X = (4096, 1024, 1024)
MAX_PROGRAMS = 2**31 - 1
MAX_RESIDENT = 1024


def _power_of_two(n: int) -> bool:
    return n & (n - 1) == 0


def schedule_problem(graph: Graph, schedule: Schedule) -> str | None:
    """Why this schedule cannot run this (otherwise legal) graph, in one line with the fix; None if it can."""
    if len(schedule.x_blocks) > len(graph.outer):
        return f"{len(schedule.x_blocks)} x_blocks for {len(graph.outer)} outer axes; give at most one per axis"
    if not all(map(_power_of_two, (*schedule.x_blocks, schedule.r_block))):
        return "blocks must be powers of two"
    if any(block > limit for block, limit in zip(schedule.x_blocks, MAX_X, strict=False)):
        return f"x_blocks beyond {MAX_X}; make them smaller"
    if schedule.no_x_dim and (graph.r is None or len(schedule.x_blocks) > 1 or schedule.reduction == "split"):
        return "no_x_dim needs a reduction axis, one x block, and persistent, looped or cooperative"
    if graph.r is None and schedule.reduction not in ("persistent", "looped"):
        return f"{schedule.reduction} needs a reduction axis"
    if schedule.reduction == "persistent" and graph.r is not None and graph.r > MAX_PERSISTENT:
        return f"r = {graph.r} is too long to be persistent; take looped, or r <= {MAX_PERSISTENT}"
    problem = _crossing_problem(graph, schedule)
    if problem:
        return problem
    tile = tiling(graph, schedule)
    elements = math.prod(one.block for one in tile.tiles)
    if elements > MAX_TILE:
        return f"a tile of {elements} elements; make the blocks smaller, to at most {MAX_TILE} together"
    return _grid_problem(graph, schedule, tile)


def _crossing_problem(graph: Graph, schedule: Schedule) -> str | None:
    kinds = {type(node) for node in graph.nodes}
    if Sort in kinds and schedule.reduction != "persistent":
        return "sort needs a persistent schedule"
    if schedule.reduction == "cooperative" and Scan in kinds:
        return "scans cannot be cooperative; take split, looped or persistent"
    if schedule.reduction == "cooperative" and len(schedule.x_blocks) > 1:
        return "cooperative programs have one row of blocks; give one x block"
    if schedule.reduction == "split":
        if Reduce in kinds:
            return "reductions cannot be split; take cooperative, looped or persistent"
        if len(schedule.x_blocks) > 1:
            return "split runs one row per program; give one x block"
        if _overwrites_rows(graph):
            return "a split row cannot be overwritten in place by what does not depend on r; take looped or persistent"
        analysis = Analysis(graph)
        for node in graph.nodes:
            if isinstance(node, Scan) and (len(node.args) > 1 or WIDTHS[analysis.dtype(node.args[0])] < 16):
                return "split scans take one argument of 16, 32 or 64 bits"
    return None


def _overwrites_rows(graph: Graph) -> bool:
    """Whether one program would overwrite what the others of its row still read."""
    in_place = {buffer.name for buffer in graph.buffers if buffer.role == "inout"}
    domains = Analysis(graph).domains
    return any(isinstance(node, Store) and node.mode == "set" and node.buffer in in_place and "r" not in domains[k]
               for k, node in enumerate(graph.nodes))


def _grid_problem(graph: Graph, schedule: Schedule, tile: Tiling) -> str | None:
    x, y, z = grid(tile, schedule)
    if x > MAX_PROGRAMS or y > MAX_PROGRAMS_Y or z > MAX_PROGRAMS_Y:
        return f"a grid of {x} x {y} x {z} programs; make the blocks larger"
    if schedule.reduction == "cooperative" and x * y * z > MAX_RESIDENT:
        return f"{x * y * z} cooperative programs cannot be resident at once; make the blocks larger, to {MAX_RESIDENT}"
    return None
