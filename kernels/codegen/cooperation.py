"""Cooperative reductions: several programs share a row, exchange partial results, and go on (codegen.md §6).

Each of the RSPLIT programs of a row reduces its part of r. It writes its result into a workspace, waits at a barrier
until all have, and folds what all of them wrote. Every program then knows the result, so that a second loop can use it.
"""

from tridiff.kernels.codegen import reductions
from tridiff.kernels.codegen.constants import full
from tridiff.kernels.codegen.domains import R
from tridiff.kernels.codegen.graph import Reduce
from tridiff.kernels.codegen.state import Emitter
from tridiff.kernels.codegen.tiles import next_power_of_two


def open_row(emitter: Emitter, length: str) -> tuple[str, str]:
    """Statements that say which part of r is this program's; (start, end) of it."""
    emitter.line(f"part = tl.cdiv({length}, RSPLIT * RBLOCK) * RBLOCK")
    emitter.line("rstart = tl.program_id(0) * part")
    emitter.line(f"rend = tl.minimum(rstart + part, {length})")
    emitter.line(f"first_program = tl.full({emitter.ones}, 0, tl.int32) == tl.program_id(0)")
    emitter.first_of_r = "first_program"
    return "rstart", "rend"


def barrier(emitter: Emitter) -> None:
    """Waits for all programs of the row; what they wrote before is visible afterwards."""
    if not emitter.semaphore:
        rows = emitter.tiling.outer[0].programs
        emitter.semaphore = emitter.workspace("u32", rows)
    emitter.used.add("x_grid_barrier")
    emitter.line(f"x_grid_barrier({emitter.semaphore} + tl.program_id(1))")


def exchange(emitter: Emitter, reduces: list[tuple[int, Reduce]]) -> None:
    """Fold the accumulators of a loop within each program, then across the programs of the row."""
    if not reduces:
        return
    written = {position: _publish(emitter, position, node) for position, node in reduces}
    barrier(emitter)
    if "split" not in emitter.top.cache:
        emitter.top.cache["split"] = "split"
        lanes = next_power_of_two(emitter.schedule.r_split)
        assert emitter.tiling.r is not None
        emitter.line(f"split = {emitter.along(emitter.tiling.r, f'tl.arange(0, {lanes})')}")
    for position, node in reduces:
        _collect(emitter, position, node, written[position])


def _row_masks(emitter: Emitter) -> list[str]:
    return emitter.tile_masks(axis for axis in emitter.analysis.axes if axis != R)


def _publish(emitter: Emitter, position: int, node: Reduce) -> list[tuple[str, str]]:
    """Write this program's states; (workspace pointer, dtype) of each."""
    rows = emitter.tiling.outer[0].numel
    names = reductions.accumulators(node, position)
    dtypes = reductions.state_dtypes(emitter, node)
    flat = tuple(f"{name}_part" for name in names)
    emitter.line(f"{', '.join(flat)} = {reductions.folded(emitter, node.kind, dtypes[0], names)}")
    written = []
    mask = " & ".join(_row_masks(emitter))
    for name, dtype in zip(flat, dtypes, strict=True):
        pointer = emitter.workspace("i8" if dtype == "i1" else dtype, rows * emitter.schedule.r_split)
        value = emitter.keep_r(f"{name}.to(tl.int8)" if dtype == "i1" else name)
        address = f"{pointer} + (xindex * RSPLIT + tl.program_id(0))"
        emitter.line(f"tl.store({address}, {value}{', ' + mask if mask else ''})")
        written.append((pointer, dtype))
    return written


def _collect(emitter: Emitter, position: int, node: Reduce, written: list[tuple[str, str]]) -> None:
    """Read the states of all programs of the row and fold them."""
    names = tuple(f"{name}_all" for name in reductions.accumulators(node, position))
    masks = [*_row_masks(emitter), "(split < RSPLIT)"]
    for number, (name, (pointer, dtype)) in enumerate(zip(names, written, strict=True)):
        padding = reductions.start(node.kind, dtype, number)
        stored = "i8" if dtype == "i1" else dtype
        other = full(int(padding) if dtype == "i1" else padding, stored, emitter.ones)
        load = f"tl.load({pointer} + (xindex * RSPLIT + split), {' & '.join(masks)}, other={other})"
        emitter.line(f"{name} = {load} != 0" if dtype == "i1" else f"{name} = {load}")
    reductions.finish(emitter, position, node, written[0][1], names)
