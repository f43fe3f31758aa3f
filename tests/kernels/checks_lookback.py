"""Interpreted runs of the look-back scans."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor
from torch._inductor.runtime import triton_helpers as inductor

from tests.kernels.driver_runs import run
from tests.kernels.interleavings import IN_TURN, affine
from tridiff.kernels.drivers import lookback_scan as driver
from tridiff.kernels.helpers import lookback
from tridiff.kernels.helpers.lookback import pack_value_flag, unpack_flag, unpack_value
from tridiff.kernels.helpers.mutants_lookback import MUTANTS
from tridiff.kernels.simulator import lookback as protocol
from tridiff.kernels.simulator.interpreted import simulate_kernel
from tridiff.kernels.simulator.scheduling import Choices, Newest, Oldest, Random, Run, simulate

PACKED, WIDE = "exclusive_scan_decoupled_lookback", "exclusive_scan_decoupled_lookback_64"
BOTH = ((32, PACKED), (64, WIDE))
UINT = {16: tl.uint16, 32: tl.uint32, 64: tl.uint64}
SCRATCH = {16: torch.uint32, 32: torch.uint64, 64: torch.uint64}
UNSIGNED = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def launch_arguments(values: Tensor, *, combine: Any, index: Any, helper: Any) -> tuple[Any, dict[str, Any]]:
    """The driver for the width of the values, and everything it takes apart from the arrays."""
    bits = 8 * values.element_size()
    shared = {"HELPER": helper, "COMBINE": combine, "INDEX_DTYPE": index, "FAULT": "", "DELAY": "",
              "programs": values.shape[1], "scans": values.shape[0]}
    if bits == 64:
        return driver.lookback_scan_64, shared
    return driver.lookback_scan, {**shared, "VALUE_AS_UINT": UINT[bits], "PACK": UINT[2 * bits]}


def own(values: Tensor) -> Any:
    return getattr(lookback, WIDE if values.element_size() == 8 else PACKED)


def new_scratch(values: Tensor) -> Tensor:
    bits = 8 * values.element_size()
    return torch.zeros(values.numel() * (3 if bits == 64 else 1), dtype=SCRATCH[bits])


def scan(values: Tensor, combine: Any, *, index: Any = tl.int32, helper: Any = None) -> Tensor:
    """Exclusive prefixes [S, P] of values [S, P], programs one after the other."""
    scratch, prefix = new_scratch(values), torch.full_like(values, 77)
    which, constants = launch_arguments(values, combine=combine, index=index, helper=helper or own(values))
    run(which, {"values": values, "scratch": scratch}, {"prefix": prefix}, **constants)
    return prefix


def bits(x: Tensor) -> list[list[int]]:
    array = x.view(torch.int16).numpy() if x.dtype == torch.bfloat16 else x.numpy()
    result: list[list[int]] = array.view(UNSIGNED[array.itemsize]).tolist()
    return result


def left_folds(rows: list[list[int]], combine: Callable[[int, int], int]) -> list[list[int]]:
    return [list(protocol.exclusive_prefixes(row, combine)) for row in rows]


DTYPES = (torch.int16, torch.uint16, torch.float16, torch.bfloat16, torch.int32, torch.uint32, torch.float32,
          torch.int64, torch.uint64, torch.float64)


def patterns(dtype: torch.dtype, shape: tuple[int, int], seed: int) -> Tensor:
    """Arbitrary bit patterns: NaNs of all payloads, infinities and both zeros among the floats."""
    words = np.random.default_rng(seed).integers(0, 2**64, shape, dtype=np.uint64)
    words[:, ::5] = np.array([0, 1 << (8 * dtype.itemsize - 1)], np.uint64)[np.arange(words[:, ::5].shape[1]) % 2]
    narrow = words.astype(UNSIGNED[dtype.itemsize])
    return torch.from_numpy(narrow).view(dtype)


def check_projections_move_every_bit_pattern():
    for dtype in DTYPES:
        values = patterns(dtype, (2, 11), seed=dtype.itemsize)
        for index in (tl.int32, tl.int64, tl.uint32) if dtype == torch.float32 else (tl.int32,):
            assert bits(scan(values, driver.second, index=index)) == left_folds(bits(values), lambda a, b: b), dtype
            assert bits(scan(values, driver.first, index=index)) == left_folds(bits(values), lambda a, b: a), dtype


def check_affine_maps_are_composed_left_to_right():
    for dtype, half in ((torch.uint16, 8), (torch.uint32, 16), (torch.uint64, 32)):
        for programs in (1, 2, 3, 20):
            values = patterns(dtype, (2, programs), seed=programs)
            assert bits(scan(values, driver.affine)) == left_folds(bits(values), affine(half)), (dtype, programs)


def check_sums_of_one_to_a_hundred_programs():
    sums({torch.int32: (1, 2, 3, 100), torch.int64: (1, 2, 33)})


def sums(programs_of: dict[torch.dtype, tuple[int, ...]]) -> None:
    for dtype, counts in programs_of.items():
        for programs in counts:
            values = torch.randint(-1000, 1000, (1, programs), dtype=dtype)
            got = scan(values, driver.add, index=tl.int64)
            assert torch.equal(got, values.cumsum(1).to(dtype) - values), (programs, dtype)


def check_floats_are_added_in_order():
    for dtype in (torch.float16, torch.float32, torch.float64):
        values = (torch.randn(3, 20, generator=torch.Generator().manual_seed(4)) * 100).to(dtype)
        values[1, 7], values[2, 9] = float("inf"), float("nan")
        expected = np.zeros_like(values.numpy())
        np.add.accumulate(values.numpy()[:, :-1], axis=1, out=expected[:, 1:], dtype=expected.dtype)
        assert np.array_equal(scan(values, driver.add).numpy(), expected, equal_nan=True), dtype


@triton.jit
def pack_kernel(
    value_ptr, flag_ptr, pack_ptr, out_ptr, out_flag_ptr,
    N: tl.constexpr, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr,
):
    lane = tl.arange(0, N)
    value = tl.load(value_ptr + lane)
    flag = tl.load(flag_ptr + lane)
    word = pack_value_flag(value, flag, VALUE_AS_UINT, PACK)
    tl.store(pack_ptr + lane, word)
    tl.store(out_ptr + lane, unpack_value(word, value.dtype, VALUE_AS_UINT))
    tl.store(out_flag_ptr + lane, unpack_flag(word, VALUE_AS_UINT))


def check_packing_is_exact_for_every_16_bit_pattern_and_many_32_bit_ones():
    every_half = torch.arange(2**16, dtype=torch.int32).to(torch.uint16)
    some_words = torch.from_numpy(np.random.default_rng(0).integers(0, 2**32, 2**16, dtype=np.uint32))
    for words, dtypes in ((every_half, DTYPES[:4]), (some_words, DTYPES[4:7])):
        width = 8 * words.element_size()
        flags = torch.from_numpy(np.random.default_rng(1).integers(0, 3, 2**16).astype(words.numpy().dtype))
        for dtype in dtypes:
            value = words.view(dtype)
            packed = torch.zeros(2**16, dtype=SCRATCH[width])
            out, out_flag = torch.zeros_like(value), torch.zeros_like(flags)
            pack_kernel[(1,)](value, flags, packed, out, out_flag, 2**16, UINT[width], UINT[2 * width])
            expected = flags.numpy().astype(np.uint64) | words.numpy().astype(np.uint64) << np.uint64(width)
            assert np.array_equal(packed.numpy().astype(np.uint64), expected)
            assert bits(out[None]) == bits(value[None]) and torch.equal(out_flag, flags)


# ---- interleaved: the real kernels under the step-wise scheduler ----


def interleaved(
    values: Sequence[int], width: int, combine: Any, choices: Choices, *, helper: Any,
    dirt: Sequence[int] | None = None, index: Any = tl.int32, reorders: bool = False,
) -> tuple[Run[None], tuple[int, ...]]:
    """One scan of unsigned values; (what happened, the prefixes)."""
    tensor = torch.from_numpy(np.array([values], UNSIGNED[width // 8]))
    scratch, prefix = new_scratch(tensor), torch.zeros_like(tensor)
    if dirt is not None:
        scratch.copy_(torch.from_numpy(np.array(dirt, scratch.numpy().dtype)))
    which, constants = launch_arguments(tensor, combine=combine, index=index, helper=helper)
    arguments = {
        **constants, "values_ptr": tensor, "values_stride_row": len(values), "values_stride_col": 1,
        "scratch_ptr": scratch, "prefix_ptr": prefix, "prefix_stride_row": len(values), "prefix_stride_col": 1}
    happened = simulate_kernel(
        which.kernel, (len(values), 1, 1), arguments, shared={"scratch": scratch}, choices=choices, reorders=reorders)
    assert tuple(scratch.tolist()) == happened.words["scratch"]
    return happened, tuple(prefix[0].tolist())


VALUES = (5, 7, 2**15 + 1, 1, 9)


def compare_with_protocol(
    helper: Any, width: int, *, wrong: str = "", programs: Sequence[int] = (1, 2, 5), index: Any = tl.int32,
    policies: Sequence[Callable[[], Choices]] = IN_TURN,
) -> None:
    """The kernel and the protocol make the same accesses, get the same answers, and return the same prefixes."""
    for count in programs:
        for number, policy in enumerate(policies):
            values, reorders = VALUES[:count], number % 2 == 0
            real, prefixes = interleaved(
                values, width, driver.affine, policy(), helper=helper, reorders=reorders, index=index)
            model = simulate(
                protocol.scan_programs(values, affine(width // 2), bits=width, wrong=wrong),
                protocol.scan_memory(count, bits=width, reorders=reorders), choices=policy())
            assert real.steps == model.steps, (helper.__name__, width, count)
            assert real.outcome == model.outcome == "finished"
            assert prefixes == model.results, (helper.__name__, width, count)


def check_the_kernels_are_the_simulated_protocols():
    kernels_are_protocols(IN_TURN)


def kernels_are_protocols(policies: Sequence[Callable[[], Choices]]) -> None:
    for width, name in ((16, PACKED), *BOTH):
        compare_with_protocol(getattr(lookback, name), width, policies=policies)
    compare_with_protocol(lookback.exclusive_scan_decoupled_lookback, 32, index=tl.int64, policies=policies[:4])


def check_the_broken_kernels_are_the_broken_protocols():
    broken_kernels_are_protocols(IN_TURN)


def broken_kernels_are_protocols(policies: Sequence[Callable[[], Choices]]) -> None:
    assert set(MUTANTS[PACKED]) == set(protocol.FAULTS) and set(MUTANTS[WIDE]) == set(protocol.FAULTS_64)
    for width, name in BOTH:
        for wrong, mutant in MUTANTS[name].items():
            compare_with_protocol(mutant, width, wrong=wrong, programs=(3,), policies=policies)


def check_inductors_kernels_are_the_same_protocols():
    for width, name in ((16, PACKED), *BOTH):
        compare_with_protocol(getattr(inductor, name), width)


def check_every_mutant_is_found_by_running_its_kernel():
    in_order = {"block_on_the_left", "inclusive_returned", "exclusive_published", "walk_passes_prefix",
                "first_program_adds_zeros", "one_slot_for_both"}
    combines = {"carry_on_the_right": driver.second, "block_on_the_left": driver.second,
                "first_program_adds_zeros": driver.maximum}
    folds = {driver.second: lambda a, b: b, driver.add: lambda a, b: a + b, driver.maximum: max}
    for width, name in BOTH:
        for wrong, mutant in MUTANTS[name].items():
            combine = combines.get(wrong, driver.add)
            values: tuple[int, ...] = (3, 5, 9)
            expected = protocol.exclusive_prefixes(values, folds[combine])
            if wrong == "first_program_adds_zeros":
                check_zeros_are_no_identity(mutant, width)
                continue
            _, ascending = interleaved(values, width, combine, Oldest(), helper=mutant)
            assert (ascending != expected) == (wrong in in_order), (width, wrong)
            orders = (Random(seed, staleness=0.5) for seed in range(60))
            results = (interleaved(values, width, combine, o, helper=mutant, reorders=True)[1] for o in orders)
            assert any(result != expected for result in results), (width, wrong)


def check_zeros_are_no_identity(mutant: Any = None, width: int = 32) -> None:
    signed = torch.tensor([[-1, -3, -5]], dtype=torch.int32 if width == 32 else torch.int64)
    assert scan(signed, driver.maximum).tolist() == [[0, -1, -1]]
    if mutant is not None:
        assert scan(signed, driver.maximum, helper=mutant).tolist() == [[0, 0, 0]]


def check_dirty_scratch_is_seen_only_out_of_order():
    for width, name in BOTH:
        helper = getattr(lookback, name)
        used, _ = interleaved((1, 2, 3, 4), width, driver.add, Oldest(), helper=helper)
        dirt, expected = used.words["scratch"], (0, 10, 30, 60)
        _, ascending = interleaved((10, 20, 30, 40), width, driver.add, Oldest(), helper=helper, dirt=dirt)
        assert ascending == expected
        _, descending = interleaved((10, 20, 30, 40), width, driver.add, Newest(), helper=helper, dirt=dirt)
        assert descending == (0, 1, 3, 6), "the prefixes of the launch before"
