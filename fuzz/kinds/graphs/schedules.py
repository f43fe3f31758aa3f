"""How a drawn graph is run: the main schedule and others that must give the same answer."""

import math

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.kernels.codegen.geometry import MAX_PROGRAMS_Y
from tridiff.kernels.codegen.graph import Graph, Reduce, Reduction, Scan, Schedule, Sort
from tridiff.kernels.codegen.schedules import schedule_problem
from tridiff.kernels.codegen.tiles import cdiv, next_power_of_two

MAX_VARIANTS = 2
_PER_THREAD = ((4, 4), (2, 2), (1, 1), (1, 8))
"""(weight, elements per thread) of most tiles: enough for vectors and for registers on both sides of a shuffle. What a
kernel costs the compiler grows with them; one tile in `_LARGE` holds 32, which costs seconds and shows little else."""
_LARGE = 40
_MOST_PER_THREAD = 64
"""Of a row that is held whole, where it could be taken in steps (notes.md)."""


def _reductions(graph: Graph) -> list[Reduction]:
    kinds = {type(node) for node in graph.nodes}
    if graph.r is None or Sort in kinds:
        return ["persistent"]
    found: list[Reduction] = ["persistent", "looped", "looped"]
    if Scan not in kinds and Reduce in kinds:
        found.append("cooperative")
    if Scan in kinds and Reduce not in kinds and schedule_problem(graph, Schedule(reduction="split")) is None:
        # Few scans can be split: those that can mostly are.
        found += ("split", "split", "split", "split")
    return found


def _within(blocks: tuple[int, ...], most: int) -> tuple[int, ...]:
    """Blocks whose product is at most `most`: the largest ones halved."""
    sizes = list(blocks)
    while math.prod(sizes) > most and max(sizes) > 1:
        place = sizes.index(max(sizes))
        sizes[place] //= 2
    return tuple(sizes)


def _blocks(chance: Choices, graph: Graph, axes: int, *, programs: int) -> tuple[int, ...]:
    """Blocks of the tile axes x, y, z: around the axis's length, but with a bounded number of programs."""
    lengths = [math.prod(graph.outer[axes - 1:]), *reversed(graph.outer[:axes - 1])]
    left = programs
    blocks = []
    for length in lengths:
        whole = min(next_power_of_two(length), 1024)
        smallest = max(next_power_of_two(cdiv(length, max(left, 1))), 1)
        # From the whole axis in one block downwards, sometimes with room to spare (which costs the interpreter time).
        most = 1024 if programs > 100 else whole
        options = [whole, *(size for size in (whole // 2, whole // 4, 1, 4, 16, whole * 2) if smallest <= size <= most)]
        block = max(chance.of(options), min(smallest, 1024))
        blocks.append(block)
        left = max(left // max(cdiv(length, block), 1), 1)
    return tuple(blocks)


def schedule(chance: Choices, graph: Graph, *, programs: int, upcast: bool, barrier: bool, threads: int) -> Schedule:
    """One schedule that fits the graph. programs: how many may be launched, roughly. barrier: whether programs may wait
    for each other. threads: of the smallest program that is launched, on which the size of tiles depends."""
    kind = chance.of([name for name in _reductions(graph) if barrier or name != "cooperative"])
    most = threads * (32 if chance.one_in(_LARGE) else chance.weighted(_PER_THREAD))
    row = next_power_of_two(graph.r or 1)
    if kind == "persistent" and graph.r is not None and row > most and "looped" in _reductions(graph) and (
            row > _MOST_PER_THREAD * threads or chance.below(8)):
        kind = "looped"
    one_row = kind in ("split", "cooperative")
    blocks: tuple[int, ...]
    if len(graph.outer) == 2 and graph.outer[0] > MAX_PROGRAMS_Y and graph.r is None:
        # As many rows as programs along y, and more: they continue along z.
        tile_axes, blocks = 2, (next_power_of_two(graph.outer[1]), 1)
    else:
        tile_axes = 1 if one_row or chance.below(2) == 0 else chance.between(1, len(graph.outer))
        blocks = _blocks(chance, graph, tile_axes, programs=max(programs // (4 if one_row else 1), 1))
    rows = math.prod(graph.outer)
    no_x_dim = graph.r is not None and kind != "split" and tile_axes == 1 and rows <= programs and chance.one_in(4)
    r_block = 128
    if kind != "persistent" and graph.r:
        # Between two and eight steps, or one that is too long.
        steps = chance.of((2, 3, 4, 8, 1))
        r_block = min(next_power_of_two(cdiv(graph.r, steps)), most)
    r_tile = row if graph.r is None or kind == "persistent" else r_block
    if not no_x_dim and kind != "split":
        blocks = _within(blocks, max(most // r_tile, 1))
    flags = chance.below(64)
    found = Schedule(
        reduction=kind, x_blocks=blocks, r_block=r_block,
        r_split=chance.of((2, 1, 3)) if kind == "cooperative" else 1, no_x_dim=no_x_dim,
        index_dtype="i64" if flags & 1 and flags & 2 else "i32", static=bool(flags & 4), upcast=upcast,
        lift_loads=not (flags & 8 and flags & 16), unspecialised=bool(flags & 32),
        access=chance.weighted(((8, "pointers"), (1, "block_pointers"), (1, "descriptors"))),
        eviction=chance.weighted(((8, ""), (1, "evict_first"), (1, "evict_last"))))
    return found if schedule_problem(graph, found) is None else plain(graph, upcast=upcast)


def plain(graph: Graph, *, upcast: bool) -> Schedule:
    """The simplest schedule of a graph; long rows are taken in steps where they can be."""
    rows, tile = math.prod(graph.outer), next_power_of_two(graph.r or 1)
    block = min(next_power_of_two(rows), min(max(1024 // tile, 1), 64) if graph.r else 1024)
    looped = Schedule(x_blocks=(1,), upcast=upcast, reduction="looped", r_block=1024)
    if tile > 1024 and "looped" in _reductions(graph) and schedule_problem(graph, looped) is None:
        return looped
    found = Schedule(x_blocks=(block,), upcast=upcast)
    if schedule_problem(graph, found) is None:
        return found
    return replace(looped, reduction="persistent") if tile <= 1 << 14 else looped
