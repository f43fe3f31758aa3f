"""Driver for the barrier across the x programs of a grid: consecutive barriers, each checked by counters.

In every round each program marks its own word, passes the barrier, and counts how many programs of its group
have marked theirs. A barrier that works yields the number of x programs in every round. A group is one (y,
z).

All x programs of all groups must be resident at once, or the launch never ends: launch with COOPERATIVE,
which makes the driver refuse a grid that does not fit instead of hanging. (Option `launch_cooperative_grid`
of Triton 3.6.0 and 3.9.0.)
"""

from collections.abc import Mapping
from types import MappingProxyType

import triton
import triton.language as tl

from tridiff.kernels.drivers.record import Driver, Grid
from tridiff.kernels.helpers.fault_hook import inject_fault

COOPERATIVE: Mapping[str, bool] = MappingProxyType({"launch_cooperative_grid": True})


@triton.jit
def grid_barrier_kernel(
    sem_ptr, marks_ptr, seen_ptr, x_programs, y_programs, z_programs, rounds,
    HELPER: tl.constexpr, PROGRAM_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """seen[round, group, x] = how many of marks[round, group, :] are set behind HELPER(sem + group).

    sem: one uint32 per group, 0 or 0x80000000. marks, seen: int32, contiguous, rounds * groups * x_programs
    elements; marks must be 0. PROGRAM_BLOCK: a power of two that reaches x_programs.
    """
    x = tl.program_id(0)
    group = tl.program_id(1) + tl.program_id(2) * y_programs
    lane = tl.arange(0, PROGRAM_BLOCK)
    done = 0
    while done < rounds:
        start = (done.to(tl.int64) * y_programs * z_programs + group) * x_programs  # type: ignore[attr-defined]  # tensor
        tl.store(marks_ptr + start + x, 1)
        HELPER(sem_ptr + group)
        marks = tl.load(marks_ptr + start + lane, mask=lane < x_programs, other=0)
        seen = tl.sum(marks, axis=0)
        tl.store(seen_ptr + start + x, inject_fault(seen, x, x, x < x_programs, FAULT))
        done = done + 1


def barrier_grid(sizes: Mapping[str, int]) -> Grid:
    """The three grid axes as given. Raises ValueError if PROGRAM_BLOCK cannot hold one mark per x program."""
    if sizes["PROGRAM_BLOCK"] < sizes["x_programs"]:
        raise ValueError(
            f"PROGRAM_BLOCK={sizes['PROGRAM_BLOCK']} is smaller than x_programs={sizes['x_programs']}: "
            "choose a power of two that reaches it"
        )
    return sizes["x_programs"], sizes["y_programs"], sizes["z_programs"]


grid_barrier = Driver.of(grid_barrier_kernel, "seen", grid=barrier_grid)
