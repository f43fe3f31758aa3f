"""Driver in which a quotient or remainder computed from a contiguous run becomes an address.

If the compiler wrongly believes that the results are contiguous, it merges the loads of several lanes into one wide
load and reads the neighbours of the first lane's element. Triton 3.6.0 to 3.9.0 do so for a bare `%` below zero: of
`(arange(0, 512) - 256) % 16`, which is 0, -15, -14, ..., -1, 0, -15, ..., lanes 1 to 3 read elements 1, 2 and 3.
"""

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import ramp_grid
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def ramp_gather_kernel(
    table_ptr, out_ptr, start, divisor, count, origin, HELPER: tl.constexpr, BLOCK: tl.constexpr,
    START: tl.constexpr, DIVISOR: tl.constexpr, FAULT: tl.constexpr,
):
    """out[k] = table[origin + HELPER(k + start, divisor)] for k < count, in 32-bit integers.

    START and DIVISOR are constexprs, or None for the run-time `start` and `divisor`. table and out are contiguous. The
    caller makes the table reach wherever the right index goes; a wrong one may go up to 3 elements further, or trap.
    """
    position = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = position < count
    if START is None:
        numerator = position + start
    else:
        numerator = position + START
    if DIVISOR is None:
        index = HELPER(numerator, divisor)
    else:
        index = HELPER(numerator, DIVISOR)
    element = tl.load(table_ptr + origin + index, mask=mask, other=0)
    tl.store(out_ptr + position, inject_fault(element, element, element, mask, FAULT), mask=mask)


ramp_gather = Driver.of(ramp_gather_kernel, "out", grid=ramp_grid, scalars=("divisor",))
