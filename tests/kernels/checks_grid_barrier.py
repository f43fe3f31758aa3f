"""Interpreted runs of x_grid_barrier, interleaved by the step-wise scheduler; cases of test_grid_barrier.py."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._inductor.runtime import triton_helpers as inductor

from tests.kernels.errors import error_of
from tests.kernels.interleavings import IN_TURN
from tridiff.kernels.drivers.grid_barrier import grid_barrier
from tridiff.kernels.helpers.grid_barrier import x_grid_barrier
from tridiff.kernels.helpers.mutants_grid_barrier import MUTANTS
from tridiff.kernels.simulator import grid_barrier as protocol
from tridiff.kernels.simulator.interpreted import simulate_kernel
from tridiff.kernels.simulator.scheduling import Choices, Oldest, Random, Run, simulate


def barriers(
    grid: tuple[int, int, int], rounds: int, choices: Choices, *, helper: Any = x_grid_barrier, initial: int = 0,
    reorders: bool = False, resident: int | None = None,
) -> tuple[Run[None], torch.Tensor]:
    """Runs the driver; (what happened, counts [rounds, groups, x])."""
    x, y, z = grid
    sem = torch.full((y * z,), initial, dtype=torch.uint32)
    marks = torch.zeros(rounds, y * z, x, dtype=torch.int32)
    seen = torch.zeros_like(marks)
    arguments = {
        "sem_ptr": sem, "marks_ptr": marks, "seen_ptr": seen,
        "x_programs": x, "y_programs": y, "z_programs": z, "rounds": rounds,
        "HELPER": helper, "PROGRAM_BLOCK": 1 << (x - 1).bit_length(), "FAULT": ""}
    assert grid_barrier.grid({name: value for name, value in arguments.items() if isinstance(value, int)}) == grid
    happened = simulate_kernel(
        grid_barrier.kernel, grid, arguments, shared={"sem": sem, "marks": marks}, choices=choices, reorders=reorders,
        resident=resident)
    return happened, seen


def compare_with_protocol(
    helper: Any, wrong: str = "", *, sizes: Sequence[tuple[int, int]] = ((1, 2), (2, 2), (3, 1), (4, 2)),
    policies: Sequence[Callable[[], Choices]] = IN_TURN,
) -> None:
    """The kernel and the protocol make the same accesses, get the same answers, and count the same marks."""
    for programs, rounds in sizes:
        for number, policy in enumerate(policies):
            reorders = number % 2 == 0
            real, seen = barriers((programs, 1, 1), rounds, policy(), helper=helper, reorders=reorders)
            model = simulate(
                protocol.barrier_programs(programs, rounds, wrong=wrong),
                protocol.barrier_memory(programs, rounds, reorders=reorders), choices=policy())
            assert real.steps == model.steps and real.outcome == model.outcome, (wrong, programs, rounds)
            for x, counts in enumerate(model.results):
                assert counts is None or tuple(seen[:, 0, x].tolist()) == counts, (wrong, programs, rounds)


def check_the_kernel_is_the_simulated_protocol():
    compare_with_protocol(x_grid_barrier)


def check_the_broken_kernels_are_the_broken_protocols():
    assert set(MUTANTS["x_grid_barrier"]) == set(protocol.FAULTS)
    for wrong, mutant in MUTANTS["x_grid_barrier"].items():
        compare_with_protocol(mutant, wrong, sizes=((2, 2),))


def check_inductors_kernel_is_the_same_protocol():
    compare_with_protocol(inductor.x_grid_barrier)


def check_consecutive_barriers_of_several_groups():
    for grid in ((1, 1, 1), (2, 1, 1), (3, 2, 1), (4, 1, 2), (5, 2, 2), (8, 1, 1), (9, 1, 1)):
        for initial in (0, protocol.TOP_BIT):
            happened, seen = barriers(grid, 3, Random(7, staleness=0.2), initial=initial, reorders=True)
            assert happened.outcome == "finished"
            assert (seen == grid[0]).all(), (grid, seen)
            assert set(happened.words["sem"]) == {initial ^ protocol.TOP_BIT}


def check_every_mutant_is_found_by_running_its_kernel():
    for wrong, mutant in MUTANTS["x_grid_barrier"].items():
        failures = 0
        for seed in range(15):
            happened, seen = barriers((2, 1, 1), 2, Random(seed, staleness=0.5), helper=mutant, reorders=True)
            failures += happened.outcome != "finished" or not bool((seen == 2).all())
        assert failures, wrong
        if wrong == "last_program_absent":
            assert failures == 15 and happened.outcome == "deadlock"


def check_programs_that_do_not_all_fit_never_pass():
    happened, seen = barriers((3, 1, 1), 1, Oldest(), resident=2)
    assert happened.outcome == "deadlock" and (seen == 0).all()


def check_a_block_size_below_the_grid_is_refused():
    sizes = {"x_programs": 5, "y_programs": 1, "z_programs": 1, "rounds": 1, "PROGRAM_BLOCK": 4}
    assert "choose a power of two that reaches it" in error_of(lambda: grid_barrier.grid(sizes))
