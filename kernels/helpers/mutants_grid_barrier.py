"""Faults of `x_grid_barrier`.

Each sentence names the order of execution that shows the fault, P being the number of x programs. Faults marked [hangs]
never return: run them under the step-wise simulator, which reports a deadlock, or with a time limit. Faults marked
[memory] need a memory that reorders.
"""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

_CLOSED = "((before ^ now) & top_bit) == 0"

MUTANTS = mutant_table("grid_barrier", {
    "x_grid_barrier": {
        "nobody_waits": Fault(
            "Arrives and goes on: with P = 2, the first to arrive does not see the mark of the other.",
            (f"while {_CLOSED}:", "if tl.program_id(0) < 0:")),
        "only_program_zero_waits": Fault("With P = 2, program 1 goes on before program 0 has marked.",
                                         (_CLOSED, f"(tl.program_id(0) == 0) & ({_CLOSED})")),
        "lower_bit_watched": Fault(
            "Waits for bit 30, which the arrival of program 0 sets: with P = 2, program 0 goes on alone.",
            (_CLOSED, "((before ^ now) & (top_bit >> 1)) == 0")),
        "one_program_too_few": Fault("Counts P - 1 arrivals as all: with P = 2, program 0 goes on alone.",
                                     ("tl.num_programs(0) - 1", "tl.num_programs(0) - 2")),
        "top_bit_set_means_open": Fault(
            "Waits until the top bit is set, not until it toggles: the second barrier in a row is open at once.",
            ("now = before", "now = before * 0"), (_CLOSED, "(now & top_bit) == 0")),
        "last_program_absent": Fault(
            "[hangs] Program P - 1 adds nothing: the top bit never toggles for P > 1.",
            ("tl.atomic_add(sem, arrival,",
             "tl.atomic_add(sem, tl.where(tl.program_id(0) == tl.num_programs(0) - 1, 0, arrival),")),
        "arrival_without_release": Fault("[memory] What was written before the barrier may be missing behind it.",
                                         ('sem="release"', 'sem="relaxed"')),
        "poll_without_acquire": Fault("[memory] What others wrote before the barrier may be missing behind it.",
                                      ('sem="acquire"', 'sem="relaxed"'))}})
