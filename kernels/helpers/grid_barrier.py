"""Barrier across the programs of a grid row (contract: helpers.md §13, x_grid_barrier).

`kernels/simulator/grid_barrier.py` states the same protocol as sequences of memory operations.
"""

import triton
import triton.language as tl


@triton.jit
def x_grid_barrier(sem):
    """Returns once every program with the same y and z ids has entered; contract: helpers.md §13.

    sem: pointer to the one uint32 of this (y, z), initially 0 or 0x80000000. It needs no reset between uses:
    the P arrivals of one use add up to 2^31, so each use toggles the top bit and restores the rest.
    Everything written by any of the programs before the barrier is visible to all of them after it.

    All x programs must be resident at once (launch option `launch_cooperative_grid=True`), otherwise this
    never returns. The interpreter runs programs one after the other: there it returns only when the grid has
    one.
    """
    # All threads of the program must have written before its one arriving thread releases.
    tl.debug_barrier()
    others = tl.cast(tl.num_programs(0) - 1, tl.uint32)
    top_bit = tl.full([], 0x80000000, tl.uint32)
    arrival = tl.where(tl.program_id(0) == 0, top_bit - others, tl.full([], 1, tl.uint32))
    before = tl.atomic_add(sem, arrival, sem="release")
    now = before
    while ((before ^ now) & top_bit) == 0:
        # Also polled at least once by the last to arrive: its addition releases but does not acquire.
        now = tl.atomic_add(sem, 0, sem="acquire")
    # One thread has acquired; no other thread may run ahead of it.
    tl.debug_barrier()
