"""Launch grids, and which program covers what (contract: codegen.md §11)."""

from tridiff.kernels.codegen.graph import Schedule
from tridiff.kernels.codegen.tiles import Tiling, cdiv

MAX_PROGRAMS_Y = 65535
"""CUDA's limit on the grid axes y and z."""


def spread(programs: int) -> tuple[int, int]:
    """`programs` of grid axis y as (y, z), with y within the limit and y * z >= programs."""
    z = max(cdiv(programs, MAX_PROGRAMS_Y), 1)
    return cdiv(programs, z), z


def grid(tiling: Tiling, schedule: Schedule) -> tuple[int, int, int]:
    """Numbers of programs along x, y and z; a 0 means that there is nothing to do.

    Outer tiles x, y, z take the grid axes of their names; a y that needs more than 65535 programs spreads over z.
    split: (tiles of r, rows); cooperative: (RSPLIT, tiles of x).
    """
    counts = {tile.name: tile.programs for tile in tiling.outer}
    if any(tile.numel == 0 for tile in tiling.outer):
        return 0, 1, 1
    if schedule.reduction == "split" and tiling.r is not None:
        # A row without elements still has stores that do not depend on r: one program makes them.
        return (max(tiling.r.programs, 1), *spread(counts["x"]))
    if schedule.reduction == "cooperative":
        return (schedule.r_split, *spread(counts["x"]))
    if "z" in counts:
        return counts["x"], counts["y"], counts["z"]
    return (counts["x"], *spread(counts.get("y", 1)))


def spreads(tiling: Tiling, schedule: Schedule) -> bool:
    """Whether the program axis y continues in z."""
    return "z" not in {tile.name for tile in tiling.outer} and grid(tiling, schedule)[2] > 1
