"""Deliberately broken variants of `x_grid_barrier`, to measure whether a test would notice.

Each differs from the helper under the order of execution in its docstring, P being the number of x programs.
Faults marked [hangs] never return: run them under the step-wise simulator, which reports a deadlock, or with
a time limit. Faults marked [memory] need a memory that reorders.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table, variants


@triton.jit
def faulty_barrier(sem, WRONG: tl.constexpr):
    """The barrier with the fault called WRONG."""
    RELEASE: tl.constexpr = "relaxed" if WRONG == "arrival_without_release" else "release"
    ACQUIRE: tl.constexpr = "relaxed" if WRONG == "poll_without_acquire" else "acquire"
    tl.debug_barrier()
    others = tl.cast(tl.num_programs(0) - 1, tl.uint32)
    one = tl.full([], 1, tl.uint32)
    top_bit = tl.full([], 0x80000000, tl.uint32)
    if WRONG == "one_program_too_few":
        others = others - one
    arrival = tl.where(tl.program_id(0) == 0, top_bit - others, one)
    if WRONG == "last_program_absent":
        arrival = tl.where(tl.program_id(0) == tl.num_programs(0) - 1, one - one, arrival)
    before = tl.atomic_add(sem, arrival, sem=RELEASE)
    now = before
    if WRONG == "top_bit_set_means_open":
        before = before * 0
        now = now * 0
    waits = tl.program_id(0) >= 0
    if WRONG == "only_program_zero_waits":
        waits = tl.program_id(0) == 0
    if WRONG == "nobody_waits":
        waits = tl.program_id(0) < 0
    watched = top_bit
    if WRONG == "lower_bit_watched":
        watched = top_bit >> 1
    if waits:
        while ((before ^ now) & watched) == 0:
            now = tl.atomic_add(sem, 0, sem=ACQUIRE)
    tl.debug_barrier()


@triton.jit
def nobody_waits(sem):
    """Arrives and goes on: with P = 2, the first to arrive does not see the mark of the other."""
    faulty_barrier(sem, "nobody_waits")


@triton.jit
def only_program_zero_waits(sem):
    """With P = 2, program 1 goes on before program 0 has marked."""
    faulty_barrier(sem, "only_program_zero_waits")


@triton.jit
def lower_bit_watched(sem):
    """Waits for bit 30, which the arrival of program 0 sets: with P = 2, program 0 goes on alone."""
    faulty_barrier(sem, "lower_bit_watched")


@triton.jit
def one_program_too_few(sem):
    """Counts P - 1 arrivals as all: with P = 2, program 0 goes on alone."""
    faulty_barrier(sem, "one_program_too_few")


@triton.jit
def top_bit_set_means_open(sem):
    """Waits until the top bit is set, not until it toggles: the second barrier in a row is open at once."""
    faulty_barrier(sem, "top_bit_set_means_open")


@triton.jit
def last_program_absent(sem):
    """[hangs] Program P - 1 adds nothing: the top bit never toggles for P > 1."""
    faulty_barrier(sem, "last_program_absent")


@triton.jit
def arrival_without_release(sem):
    """[memory] What was written before the barrier may be missing behind it."""
    faulty_barrier(sem, "arrival_without_release")


@triton.jit
def poll_without_acquire(sem):
    """[memory] What others wrote before the barrier may be missing behind it."""
    faulty_barrier(sem, "poll_without_acquire")


MUTANTS = mutant_table({
    "x_grid_barrier": variants(nobody_waits, only_program_zero_waits, lower_bit_watched, one_program_too_few,
        top_bit_set_means_open, last_program_absent, arrival_without_release, poll_without_acquire)})
