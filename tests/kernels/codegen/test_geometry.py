"""Every point is covered by exactly one lane of one program; tiles follow the schedule (contract: codegen.md §11)."""

from collections.abc import Iterator

import pytest

from tests.kernels.codegen.nodes import buffer, constant, store, tiles
from tridiff.kernels.codegen.geometry import MAX_PROGRAMS_Y, grid, spread, spreads
from tridiff.kernels.codegen.graph import Graph, Num, Schedule
from tridiff.kernels.codegen.launch import IllegalGraph, plan, schedule_problem
from tridiff.kernels.codegen.tiles import next_power_of_two, tiling

each = pytest.mark.parametrize


def graph(outer: tuple[int, ...], r: int | None = None) -> Graph:
    """A graph of these axes whose points are never enumerated: it adds 1 to one element at each of them."""
    return Graph(outer=outer, r=r, buffers=(buffer("o", "i32", 1, role="inout"),),
                 nodes=(constant("1", "i32"), store("o", 0, Num(0), mode="atomic_add")))


def covered(programs: int, block: int, numel: int) -> int:
    """Points that consecutive programs cover, each checked to begin where the one before ended."""
    end = 0
    for program in range(programs):
        start = program * block
        assert start == end, "a gap or an overlap"
        end = start + block
    return min(end, numel)


@each("block", [1, 2, 16, 1024])
def test_one_axis(block: int):
    for numel in {0, 1, block - 1, block, block + 1, 3 * block - 1, 3 * block + 1}:
        programs = grid(tiling(graph((numel,)), tiles(block)), tiles(block))
        assert programs[1:] == (1, 1) and covered(programs[0], block, numel) == numel
        assert numel == 0 or (programs[0] - 1) * block < numel, "a program with nothing to do"


@each("block", [1, 4])
@each("extra", [-1, 0, 1])
def test_y_spreads_over_z(block: int, extra: int):
    """The offset is (pid_y + pid_z * num_y) * YBLOCK: all programs together cover the axis, in one run without gaps."""
    for factor in (1, 2, 5):
        numel = factor * MAX_PROGRAMS_Y * block + extra
        schedule = tiles(8, block)
        found = tiling(graph((numel, 3)), schedule)
        x, y, z = grid(found, schedule)
        assert x == 1 and y <= MAX_PROGRAMS_Y and z <= MAX_PROGRAMS_Y
        assert spreads(found, schedule) == (z > 1)
        ids = range(y * z)  # pid_y + pid_z * num_y takes each of these once
        assert len(ids) * block >= numel > (len(ids) - z) * block, (numel, y, z)
        source = plan(graph((numel, 3)), schedule).source
        assert ("tl.program_id(2) * tl.num_programs(1)" in source) == (z > 1)
        assert "ymask = " in source


def test_spread_is_balanced_and_within_limits():
    for programs in (0, 1, MAX_PROGRAMS_Y - 1, MAX_PROGRAMS_Y, MAX_PROGRAMS_Y + 1, 10 * MAX_PROGRAMS_Y + 7):
        y, z = spread(programs)
        assert y <= MAX_PROGRAMS_Y and y * z >= programs and (programs == 0 or y * (z - 1) < programs)


def test_a_spread_axis_keeps_its_mask_in_static_kernels():
    """Programs beyond the last have nothing to do, although the length is a multiple of the block."""
    schedule = tiles(1, 1, static=True)
    divisible = plan(graph((2 * MAX_PROGRAMS_Y + 1, 1)), schedule)
    assert divisible.grid[1] * divisible.grid[2] > 2 * MAX_PROGRAMS_Y + 1 and "ymask" in divisible.source
    assert "mask" not in plan(graph((64, 1)), tiles(1, 8, static=True)).source


def masks(numel: int, block: int) -> str:
    return plan(graph((numel,)), tiles(block, static=True)).source


def test_constant_masks_are_dropped_only_where_every_lane_is_inside():
    for block in (16, 128):
        assert "xmask" not in masks(4 * block, block)
        assert "xmask" in masks(4 * block + 1, block) and "xmask" in masks(4 * block - 1, block)
        assert "xmask" in masks(1, block) and "xmask" not in masks(1, 1)
    assert "xmask" in plan(graph((64,)), tiles(16)).source, "sizes of a dynamic kernel are not known"


def reductions() -> Iterator[tuple[Schedule, tuple[int, int, int]]]:
    yield tiles(4), (3, 1, 1)
    yield tiles(4, reduction="looped", r_block=32), (3, 1, 1)
    yield tiles(4, no_x_dim=True), (10, 1, 1)
    yield tiles(4, reduction="split", r_block=32), (4, 10, 1)
    yield tiles(4, reduction="cooperative", r_block=32, r_split=3), (3, 3, 1)


def test_grids_of_reductions():
    for schedule, expected in reductions():
        assert grid(tiling(graph((10,), 100), schedule), schedule) == expected
        assert plan(graph((10,), 100), schedule).grid == expected
    assert plan(graph((10,), 0), Schedule(reduction="split", r_block=32)).grid == (1, 10, 1)


@each("r", [0, 1, 2, 3, 127, 128, 129, 16384])
def test_persistent_block_holds_the_axis(r: int):
    block = tiling(graph((1,), r), tiles(1)).tiles[-1].block
    assert block == next_power_of_two(r) and block >= max(r, 1) and block < 2 * max(r, 1)


def test_positions_beyond_32_bits_are_counted_in_64():
    assert "tl.int64" in plan(graph((2**31 - 5,)), tiles(1024)).source
    assert "tl.int64" not in plan(graph((2**20,)), tiles(1024)).source


@each("schedule, reason", [
    (tiles(3), "powers of two"), (tiles(1, 1, 1), "outer axes"),
    (tiles(4096, reduction="looped", r_block=1024), "a tile of 4194304 elements"),
    (tiles(1, 2048), "beyond"), (tiles(4, 4, no_x_dim=True), "one x block"),
    (tiles(1, reduction="cooperative", r_split=200), "resident")])
def test_schedules_that_do_not_fit(schedule: Schedule, reason: str):
    subject = graph((10, 4), 100)
    assert reason in str(schedule_problem(subject, schedule))
    with pytest.raises(IllegalGraph, match=reason):
        plan(subject, schedule)


def test_schedules_that_need_a_reduction_axis():
    assert "no_x_dim" in str(schedule_problem(graph((4,)), Schedule(no_x_dim=True)))
    assert "needs a reduction axis" in str(schedule_problem(graph((4,)), Schedule(reduction="cooperative")))
    assert "too long" in str(schedule_problem(graph((4,), 20000), Schedule()))
