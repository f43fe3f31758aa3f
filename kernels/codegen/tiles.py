"""How the points of a graph are tiled: which tile axis runs over which axes, in blocks of what length (notes.md)."""

import math
from dataclasses import dataclass

from tridiff.kernels.codegen.graph import Graph, Schedule


def next_power_of_two(n: int) -> int:
    """Smallest power of two >= n; 1 for n <= 1."""
    return 1 << max(n - 1, 0).bit_length()


def cdiv(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-a // b)


@dataclass(frozen=True, slots=True)
class Tile:
    """One axis of the tile. name: x, y, z or r. axes: the graph's axes it runs over, slowest first. numel: their
    product. block: its length. place: its dimension of the tile, None for an x that no tensor dimension stands for."""

    name: str
    axes: tuple[str, ...]
    numel: int
    block: int
    place: int | None

    @property
    def block_name(self) -> str:
        return f"{self.name.upper()}BLOCK"

    @property
    def programs(self) -> int:
        return cdiv(self.numel, self.block)


@dataclass(frozen=True)
class Tiling:
    """The tile of a schedule: outer tile axes slowest first, then r. rank: dimensions of a block."""

    outer: tuple[Tile, ...]
    r: Tile | None
    wide: bool
    """Whether positions are counted in int64."""

    @property
    def tiles(self) -> tuple[Tile, ...]:
        return self.outer if self.r is None else (*self.outer, self.r)

    @property
    def rank(self) -> int:
        return sum(tile.place is not None for tile in self.tiles)

    def tile_of(self, axis: str) -> Tile:
        """The tile axis that a graph's axis belongs to."""
        return next(tile for tile in self.tiles if axis in tile.axes)


def tiling(graph: Graph, schedule: Schedule) -> Tiling:
    """The tile of a schedule without a `schedule_problem`."""
    names = [f"x{k}" for k in range(len(graph.outer))]
    lengths = dict(zip(names, graph.outer, strict=True))
    blocks = tuple(reversed(schedule.x_blocks))
    one_row = schedule.no_x_dim or (schedule.reduction == "split" and graph.r is not None)
    if one_row:
        blocks = (1,)
    groups = [(name,) for name in names[: len(blocks) - 1]] + [tuple(names[len(blocks) - 1:])]
    letters = "zyx"[-len(blocks):]
    outer = []
    for place, (letter, axes, block) in enumerate(zip(letters, groups, blocks, strict=True)):
        numel = math.prod(lengths[axis] for axis in axes)
        outer.append(Tile(letter, axes, numel, block, None if one_row else place))
    r = None
    if graph.r is not None:
        block = next_power_of_two(graph.r) if schedule.reduction == "persistent" else schedule.r_block
        r = Tile("r", ("r",), graph.r, block, 0 if one_row else len(outer))
    furthest = max((tile.numel + tile.block for tile in (*outer, *([r] if r else []))), default=0)
    wide = schedule.index_dtype == "i64" or furthest * max(schedule.r_split, 1) >= 2**31
    return Tiling(tuple(outer), r, wide)
