"""Interpreted runs of the random helpers."""

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from tests.kernels.driver_runs import run
from tridiff.kernels.drivers.random import random_integer, random_real
from tridiff.kernels.helpers.mutants_random import MUTANTS
from tridiff.kernels.helpers.random import rand, randint64, randn
from tridiff.oracles.by_exact.rows import philox4x32, randint64 as expected_integers

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
SEEDS = (0, 1, 12345, 2**32, 2**63 - 1, -1)


def integers(
    seeds: list[int], offsets: torch.Tensor, low: list[int], high: list[int], helper: Any = randint64
) -> list[list[int]]:
    """One row per seed: helper over offsets [R, C]."""
    inputs = {"seed": torch.tensor(seeds), "offset": offsets, "low": torch.tensor(low), "high": torch.tensor(high)}
    outputs = {"out": torch.full(offsets.shape, -7)}
    out = run(random_integer, inputs, outputs, cols=offsets.shape[1], HELPER=helper, COL_BLOCK=32)["out"]
    assert out.dtype == np.int64
    return out.tolist()


def reals(seeds: list[int], offsets: torch.Tensor, helper: Any) -> np.ndarray:
    inputs, outputs = {"seed": torch.tensor(seeds), "offset": offsets}, {"out": torch.full(offsets.shape, -7.0)}
    return run(random_real, inputs, outputs, cols=offsets.shape[1], HELPER=helper, COL_BLOCK=32)["out"]


def philox(offset: int, seed: int) -> tuple[int, int, int, int]:
    """The words of one offset, in exact arithmetic."""
    return philox4x32((seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF), (offset, 0, 0, 0))


def expected(seed: int, offsets: Any, low: int, high: int) -> list[int]:
    """randint64 of some offsets, in exact arithmetic."""
    return expected_integers(seed, np.asarray(offsets), np.int64(low), np.int64(high)).tolist()


def uniform(word: int) -> np.float32:
    """A 32-bit word to [0, 1): the sign bit folded away by complement, then scaled by just under 2^-31."""
    folded = word ^ 0xFFFFFFFF if word >> 31 else word
    return np.float32(folded) * np.float32(4.6566127342e-10)


def check_randint64_equals_the_definition():
    ranges = [
        (0, 10), (-5, 5), (0, 1), (7, 8), (INT64_MIN, INT64_MAX), (INT64_MIN, 0), (-1, INT64_MAX), (0, 2**32 + 1),
        (-(2**62), 2**62 + 5), (INT64_MAX - 1, INT64_MAX), (INT64_MIN, INT64_MIN + 3), (0, 2**32 - 1)]
    offsets = torch.tensor([*range(33), 2**31 - 1, 2**31, 2**32 - 1]).expand(len(ranges), -1)
    for seed in SEEDS:
        got = integers([seed] * len(ranges), offsets, [r[0] for r in ranges], [r[1] for r in ranges])
        for (low, high), row in zip(ranges, got, strict=True):
            assert row == expected(seed, offsets[0], low, high), (seed, low, high)
            assert all(low <= value < high for value in row)


def check_empty_ranges_give_low_and_inverted_ones_do_not_trap():
    offsets = torch.arange(8)[None].expand(3, -1)
    got = integers([1, 1, 1], offsets, [5, INT64_MAX, 9], [5, INT64_MAX, 3])
    assert got[0] == [5] * 8 and got[1] == [INT64_MAX] * 8


def check_offsets_are_32_bits_whatever_their_type():
    offsets = torch.tensor([[0, 1, 2, 2**31 + 5, 2**32 - 1]])
    for helper in (randint64, rand, randn):
        def values(o: torch.Tensor, helper: Any = helper) -> Any:
            return integers([3], o, [0], [10**12], helper) if helper is randint64 else reals([3], o, helper).tolist()
        wanted = values(offsets)
        assert values(offsets + 2**32) == wanted
        assert values(offsets - 2**40) == wanted
        assert values(offsets.to(torch.uint32)) == wanted
        assert values(offsets.to(torch.uint32).view(torch.int32)) == wanted


@triton.jit
def literal_arguments_kernel(out_ptr, N: tl.constexpr):
    lane = tl.arange(0, N)
    tl.store(out_ptr + lane, randint64(12345, lane, -9223372036854775808, 9223372036854775807))
    tl.store(out_ptr + N + lane, randint64(7, lane, 0, 10))


def check_literals_are_accepted_for_all_arguments():
    out = torch.zeros(2, 8, dtype=torch.int64)
    literal_arguments_kernel[(1,)](out, 8)
    assert out.tolist() == [expected(12345, range(8), INT64_MIN, INT64_MAX), expected(7, range(8), 0, 10)]


def check_rand_equals_the_definition_and_stays_below_one():
    rand_equals_the_definition(200)


def rand_equals_the_definition(count: int) -> None:
    offsets = torch.arange(count)[None].expand(len(SEEDS), -1)
    got = reals(list(SEEDS), offsets, rand)
    wanted = np.array([[uniform(philox(o, seed)[0]) for o in range(count)] for seed in SEEDS])
    assert got.dtype == np.float32 and np.array_equal(got, wanted)
    assert uniform(0x7FFFFFFF) == uniform(0x80000000) == np.float32(0.99999994)
    assert (got >= 0).all() and (got < 1).all()


def check_randn_equals_box_muller():
    randn_equals_box_muller(600)


def randn_equals_box_muller(count: int) -> None:
    offsets = torch.arange(count)[None].expand(2, -1)
    got = reals([11, 2**40], offsets, randn)
    for seed, row in zip((11, 2**40), got, strict=True):
        words = [philox(o, seed) for o in range(count)]
        u1 = np.maximum(np.float32(1e-7), np.array([uniform(w[0]) for w in words])).astype(np.float64)
        u2 = np.array([uniform(w[1]) for w in words]).astype(np.float64)
        exact = np.sqrt(-2 * np.log(u1)) * np.cos(2 * np.pi * u2)
        # The fp32 angle is off by up to 2^-23 of 2 pi, and the radius multiplies what that makes of the
        # cosine.
        assert np.abs(row - exact).max() < 6 * 2 * np.pi * 2.0**-22
    assert np.abs(got).max() <= 5.68
    assert abs(got.mean()) < 4 / np.sqrt(got.size) and abs(got.std() - 1) < 4 / np.sqrt(2 * got.size)


def check_every_mutant_differs_where_its_docstring_says():
    few, wide = torch.arange(64)[None], torch.tensor([[2**32, 2**32 + 1]])
    integer_runs: dict[str, tuple[list[int], torch.Tensor, int, int]] = {
        "high_included": ([5], few, 0, 1), "low_ignored": ([5], few, -5, 5), "halves_reduced_apart": ([5], few, 0, 10),
        "halves_swapped": ([5], few, 0, 10), "upper_half_dropped": ([5], few, 0, 2**62),
        "seed_and_offset_swapped": ([5], few, 0, 1000), "seven_rounds": ([5], few, 0, 1000),
        "wide_offset_kept": ([5], wide, 0, 1000), "signed_remainder": ([5], few, 0, 10)}
    assert set(integer_runs) == set(MUTANTS["randint64"])
    for name, (seeds, offsets, low, high) in integer_runs.items():
        right = [expected(seeds[0], offsets[0], low, high)]
        assert integers(seeds, offsets, [low], [high]) == right
        wrong = integers(seeds, offsets, [low], [high], MUTANTS["randint64"][name])
        assert wrong != right, name
        if name == "high_included":
            assert 16 < sum(wrong[0]) < 48
        if name == "halves_reduced_apart":
            assert sum(value > 2**32 for value in wrong[0]) > 48
        if name == "signed_remainder":
            assert 16 < sum(value < 0 for value in wrong[0]) < 48
    for helper, wanted in (("rand", rand), ("randn", randn)):
        for name, mutant in MUTANTS[helper].items():
            seed = 2**32 if name == "seed_truncated" else 9
            assert not np.array_equal(reals([seed], few, mutant), reals([seed], few, wanted)), (helper, name)
            if name == "signed":
                assert (reals([seed], few, mutant) < 0).any()
