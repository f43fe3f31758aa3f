"""Search, sort, look-back, barrier and random helpers on a GPU: what an interpreter cannot show."""

from typing import Any

import numpy as np
import pytest
import torch
import triton.language as tl

from tests.kernels.driver_runs import launch
from tests.kernels.interleavings import affine
from tridiff.kernels.drivers import lookback_scan as scans
from tridiff.kernels.drivers.bucketize import bucketize
from tridiff.kernels.drivers.grid_barrier import COOPERATIVE, grid_barrier
from tridiff.kernels.drivers.random import random_integer
from tridiff.kernels.drivers.sort_rows import sort_all_zero_one_rows, sort_rows
from tridiff.kernels.helpers import lookback
from tridiff.kernels.helpers.bucketize import bucketize_binary_search
from tridiff.kernels.helpers.grid_barrier import x_grid_barrier
from tridiff.kernels.helpers.mutants_grid_barrier import MUTANTS as BARRIER_MUTANTS
from tridiff.kernels.helpers.random import randint64
from tridiff.kernels.helpers.sorting import sort_with_index
from tridiff.kernels.simulator.lookback import exclusive_prefixes
from tridiff.oracles.by_exact.rows import randint64 as expected_integers

each = pytest.mark.parametrize

pytestmark = pytest.mark.gpu

DEVICE = "cuda"
TOP_BIT = 2**31
UINT = {16: tl.uint16, 32: tl.uint32, 64: tl.uint64}
UNSIGNED = {16: torch.uint16, 32: torch.uint32, 64: torch.uint64}


# ---- look-back ----


def run_scan(values: torch.Tensor, combine: Any, *, index: tl.dtype = tl.int32, dirt: int = 0) -> list[list[int]]:
    """Exclusive prefixes of unsigned values [S, P]; dirt: what every scratch word holds before the launch."""
    bits = 8 * values.element_size()
    rows, programs = values.shape
    width = 64 if bits == 64 else 2 * bits
    content = np.full(rows * programs * (3 if bits == 64 else 1), dirt, f"u{width // 8}")
    scratch = torch.from_numpy(content).to(DEVICE)
    prefix = torch.zeros_like(values)
    arrays = {"values": values, "scratch": scratch, "prefix": prefix}
    shared = {"programs": programs, "scans": rows, "COMBINE": combine, "INDEX_DTYPE": index}
    if bits == 64:
        helper: Any = lookback.exclusive_scan_decoupled_lookback_64
        launch(scans.lookback_scan_64, arrays, HELPER=helper, **shared)
    else:
        helper = lookback.exclusive_scan_decoupled_lookback
        launch(scans.lookback_scan, arrays, HELPER=helper, VALUE_AS_UINT=UINT[bits], PACK=UINT[2 * bits], **shared)
    result: list[list[int]] = prefix.cpu().tolist()
    return result


def random_words(shape: tuple[int, int], bits: int, seed: int) -> torch.Tensor:
    words = np.random.default_rng(seed).integers(0, 2**bits, shape, dtype=f"u{bits // 8}")
    return torch.from_numpy(words)


@each("programs", [1, 2, 33, 1000, 10_000])
@each("bits", [16, 32, 64])
def test_scans_that_do_not_commute(bits: int, programs: int):
    values = random_words((2, programs), bits, seed=programs)
    rows = values.tolist()
    for index in (tl.int32, tl.int64):
        for _ in range(3):
            on_device = values.to(DEVICE)
            folded = [list(exclusive_prefixes(row, lambda a, b: b)) for row in rows]
            assert run_scan(on_device, scans.second, index=index) == folded
            composed = [list(exclusive_prefixes(row, affine(bits // 2))) for row in rows]
            assert run_scan(on_device, scans.affine, index=index) == composed


@each("bits", [32, 64])
def test_scratch_that_was_not_cleared_shows(bits: int):
    values = random_words((1, 4000), bits, seed=1)
    expected = [list(exclusive_prefixes(row, lambda a, b: b)) for row in values.tolist()]
    # Flag 2, value 0: a prefix that nobody has published.
    assert any(run_scan(values.to(DEVICE), scans.second, dirt=2) != expected for _ in range(5))


# ---- barrier ----


def run_barriers(
    grid: tuple[int, int, int], rounds: int, *, helper: Any, initial: int
) -> tuple[torch.Tensor, list[int]]:
    """Counts [rounds, groups, x] and the semaphores afterwards."""
    x, y, z = grid
    sem = torch.from_numpy(np.full(y * z, initial, np.uint32)).to(DEVICE)
    marks = torch.zeros(rounds, y * z, x, dtype=torch.int32, device=DEVICE)
    seen = torch.zeros_like(marks)
    launch(
        grid_barrier, {"sem": sem, "marks": marks, "seen": seen}, options=COOPERATIVE,
        x_programs=x, y_programs=y, z_programs=z, rounds=rounds, HELPER=helper, PROGRAM_BLOCK=1 << (x - 1).bit_length(),
    )
    return seen.cpu(), sem.cpu().tolist()


@each("initial", [0, TOP_BIT])
@each("grid", [(1, 1, 1), (2, 1, 1), (3, 5, 2), (31, 2, 2), (132, 1, 3), (513, 1, 1)])
def test_fifty_barriers_in_a_row(grid: tuple[int, int, int], initial: int):
    for rounds in (1, 50):
        seen, sem = run_barriers(grid, rounds, helper=x_grid_barrier, initial=initial)
        assert (seen == grid[0]).all()
        assert sem == [initial ^ (TOP_BIT * (rounds % 2))] * (grid[1] * grid[2])


@each("name", ["nobody_waits", "only_program_zero_waits"])
def test_the_counts_show_barriers_that_do_not_hold(name: str):
    """Mutants that always end; `lower_bit_watched` may wait for a bit that was set and cleared between two looks, so
    that `tridiff faults` and the simulator have it."""
    helper = BARRIER_MUTANTS["x_grid_barrier"][name]
    wrong = [bool((run_barriers((264, 1, 1), 50, helper=helper, initial=0)[0] != 264).any()) for _ in range(3)]
    assert any(wrong)


# ---- sort, search, random ----


@each("descending", [False, True])
@each("length", [2, 3, 8, 16])
def test_the_compiled_network_sorts_every_row_of_zeros_and_ones(length: int, descending: bool):
    for stable in (False, True):
        report = sort_all_zero_one_rows(
            length=length, helper=sort_with_index, descending=descending, stable=stable, device=DEVICE)
        assert report.rows == 2**length and report.wrong_rows == 0, report


@each("descending", [False, True])
@each(
    "dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
              torch.float32, torch.float64], ids=str)
def test_stable_sort_equals_torch(dtype: torch.dtype, descending: bool):
    for length in (5, 64, 512):
        keys = torch.randint(0 if dtype == torch.uint8 else -9, 9, (64, length)).to(dtype)
        if dtype.is_floating_point:
            keys[torch.rand(keys.shape) < 0.2] = float("nan")
            keys[torch.rand(keys.shape) < 0.1] = -0.0
        a = keys.to(DEVICE)
        out, order = torch.empty_like(a), torch.empty(a.shape, dtype=torch.int16, device=DEVICE)
        block = 1 << (length - 1).bit_length()
        launch(
            sort_rows, {"a": a, "out": out, "out_index": order}, rnumel=length, HELPER=sort_with_index,
            INDEX_DTYPE=tl.int16, STABLE=True, DESCENDING=descending, VALIDITY=True, PADDING=0, ROW_BLOCK=4,
            COL_BLOCK=block)
        expected = torch.sort(keys, dim=1, stable=True, descending=descending).indices
        assert torch.equal(order.cpu().long(), expected)
        # Gathered as integers: torch's gather on the CPU rewrites the bits of bf16 NaNs.
        bits = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[keys.element_size()]
        assert torch.equal(out.cpu().view(bits), keys.view(bits).gather(1, expected))


def test_search_equals_torch_and_does_not_overflow():
    values = torch.randn(8, 1000, dtype=torch.float64).to(DEVICE)
    values[0, :50] = float("nan")
    boundaries = torch.randn(1, 777, dtype=torch.float64).sort(dim=1).values.to(DEVICE)
    boundaries[0, -3:] = float("nan")
    for right in (False, True):
        for index, dtype in ((tl.int32, torch.int32), (tl.int64, torch.int64)):
            out = torch.full(values.shape, -7, dtype=dtype, device=DEVICE)
            shared = {"HELPER": bucketize_binary_search, "INDEX_DTYPE": index, "RIGHT": right, "ROW_BLOCK": 2,
                      "COL_BLOCK": 128}
            arrays = {"values": values, "boundary_row": torch.zeros_like(out), "boundaries": boundaries, "sorter": None,
                      "out": out}
            launch(bucketize, arrays, boundaries_size=777, boundaries_numel=777, **shared)
            expected = torch.bucketize(values.cpu(), boundaries[0].cpu(), right=right)
            assert torch.equal(out.cpu().long(), expected)
            one = torch.full((1, 1), -100.0, dtype=torch.float64, device=DEVICE).expand(1, 2)
            launch(bucketize, {**arrays, "boundaries": one}, boundaries_size=2**31 - 1, boundaries_numel=1, **shared)
            assert (out.cpu() == 2**31 - 1).all()


def test_random_integers_of_compiled_and_python_arithmetic():
    ranges = [(0, 10), (-(2**63), 2**63 - 1), (-5, 2**40)]
    offsets = torch.arange(256, device=DEVICE).expand(len(ranges), -1)
    low, high = (torch.tensor([pair[k] for pair in ranges], device=DEVICE) for k in (0, 1))
    out = torch.zeros(len(ranges), 256, dtype=torch.int64, device=DEVICE)
    seeds = torch.full((len(ranges),), 2**40 + 7, device=DEVICE)
    arrays = {"seed": seeds, "offset": offsets, "low": low, "high": high, "out": out}
    launch(random_integer, arrays, cols=256, HELPER=randint64, COL_BLOCK=64)
    for pair, row in zip(ranges, out.cpu().tolist(), strict=True):
        assert row == expected_integers(2**40 + 7, np.arange(256), *map(np.int64, pair)).tolist()
