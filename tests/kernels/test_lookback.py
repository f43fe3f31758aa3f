"""Look-back scans: compilation and memory ordering for sm_90; delayed programs."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import pytest
import triton.language as tl

from tests.kernels.driver_runs import compile_ahead
from tests.kernels.errors import error_of
from tests.kernels.ptx import memory_instructions
from tridiff.fuzz.backends.delay import built_in, text, with_pause
from tridiff.fuzz.records import Delay
from tridiff.kernels.drivers import lookback_scan as driver
from tridiff.kernels.helpers.lookback import exclusive_scan_decoupled_lookback, exclusive_scan_decoupled_lookback_64
from tridiff.kernels.helpers.mutants_lookback import MUTANTS
from tridiff.kernels.simulator import lookback as protocol
from tridiff.kernels.simulator.scheduling import Choices, RoundRobin, simulate

each = pytest.mark.parametrize
PACKED, WIDE = (MUTANTS["exclusive_scan_decoupled_lookback" + width] for width in ("", "_64"))
UINT = {8: tl.uint8, 16: tl.uint16, 32: tl.uint32, 64: tl.uint64}


def build(
    dtype: str, *, helper: Any = exclusive_scan_decoupled_lookback, index: tl.dtype = tl.int32,
    combine: Any = driver.second, pack: tl.dtype | None = None,
) -> Mapping[str, str]:
    width = {"bf16": 16, "fp16": 16, "fp32": 32}.get(dtype) or int(dtype[1:])
    pack = pack or UINT[2 * width]
    constexprs = {
        "HELPER": helper, "COMBINE": combine, "INDEX_DTYPE": index, "VALUE_AS_UINT": UINT[width], "PACK": pack}
    scratch = f"u{pack.int_bitwidth}"
    return compile_ahead(driver.lookback_scan, dtype, pointers={"scratch": scratch}, constexprs=constexprs).asm


def build_64(
    dtype: str, *, helper: Any = exclusive_scan_decoupled_lookback_64, index: tl.dtype = tl.int32,
    delay: Delay | None = None,
) -> Mapping[str, str]:
    constexprs = {"HELPER": helper, "COMBINE": driver.add, "INDEX_DTYPE": index, "DELAY": text(delay)}
    with built_in(delay):
        return compile_ahead(driver.lookback_scan_64, dtype, pointers={"scratch": "u64"}, constexprs=constexprs).asm


def without_barriers(instructions: Sequence[str]) -> list[str]:
    return [one for one in instructions if not one.startswith("bar")]


INDEX_TYPES = [tl.int32, tl.int64, tl.uint32]


@each("index", INDEX_TYPES, ids=str)
@each("dtype", ["i16", "u16", "fp16", "bf16", "i32", "u32", "fp32"])
def test_packed_scan_is_relaxed_exchanges_and_relaxed_polls(dtype: str, index: tl.dtype):
    # Value in, own total out, poll the neighbour, poll further left, own prefix out, result out. Value and
    # flag share a word, so no order between words is needed.
    accesses = without_barriers(memory_instructions(build(dtype, index=index)["ptx"]))
    assert accesses == ["ld", "exch.relaxed", "ld.relaxed", "ld.relaxed", "exch.relaxed", "st"]


@each("index", INDEX_TYPES, ids=str)
@each("dtype", ["i64", "u64", "fp64"])
def test_wide_scan_releases_the_flag_behind_the_value_and_acquires_it_before(dtype: str, index: tl.dtype):
    found = memory_instructions(build_64(dtype, index=index)["ptx"])
    accesses = without_barriers(found)
    publish, look = ["st", "exch.release"], ["ld.acquire", "ld"]
    assert accesses == ["ld", *publish, *look, *look, *publish, "st"]
    # The barrier makes the order hold between the threads of a program, of which only one has the ordered
    # access.
    for before, after in (("st", "exch.release"), ("ld.acquire", "ld")):
        positions = [k for k, access in enumerate(found) if access == before]
        for k in positions:
            rest = found[k + 1 :]
            if after in rest:
                assert "bar.sync" in rest[: rest.index(after)], (before, after, found)


def test_wrong_widths_are_refused():
    assert "look-back packs 16 and 32-bit values" in error_of(lambda: build("i8"))
    assert "PACK must be twice as wide" in error_of(lambda: build("i32", pack=tl.uint32))
    assert "the _64 variant scans 64-bit values" in error_of(lambda: build_64("fp32"))


def test_inductor_refuses_a_64_bit_index_in_the_packed_scan():
    from torch._inductor.runtime import triton_helpers as inductor  # seconds, which collecting need not take

    # The reason why the walk counts in int64 here. When this fails, upstream has been fixed: drop the remark.
    assert "target" in error_of(
        lambda: build("fp32", helper=inductor.exclusive_scan_decoupled_lookback, index=tl.int64))


@each("combine", [driver.add, driver.maximum, driver.first, driver.affine], ids=lambda f: f.__name__)
def test_every_combine_compiles(combine: Any):
    assert build("u32", combine=combine)["ptx"]


@each("name", sorted(PACKED))
def test_packed_mutants_compile(name: str):
    assert build("fp32", helper=PACKED[name], index=tl.int64)["ptx"]


@each("name", sorted(WIDE))
def test_wide_mutants_compile(name: str):
    mutant = WIDE[name]
    accesses = memory_instructions(build_64("fp64", helper=mutant)["ptx"])
    assert ("exch.release" in accesses) == (name != "flag_without_release")
    assert ("ld.acquire" in accesses) == (name != "poll_without_acquire")


class OneDelayed(RoundRobin):
    """All in turn; from its access number `access` on, one program moves only when nobody else can."""

    def __init__(self, delay: Delay) -> None:
        super().__init__()
        self._program, self._left = delay.number, delay.access

    def program(self, runnable: Sequence[int]) -> int:
        others = [one for one in runnable if one != self._program]
        chosen = super().program(runnable if self._left or not others else others)
        self._left -= chosen == self._program and self._left > 0
        return chosen


def shows(fault: str, bits: int, programs: int, choices: Choices) -> bool:
    """Whether programs with the values 3, 5, 9 give wrong prefixes."""
    dirt = [2] * programs * (3 if bits == 64 else 1) if fault == "dirty_scratch" else None
    values, wrong = (3, 5, 9)[:programs], "" if dirt else fault
    return any(
        simulate(protocol.scan_programs(values, combine, bits=bits, wrong=wrong),
                 protocol.scan_memory(programs, bits=bits, dirt=dirt), choices=copy(choices),
                 ).results != protocol.exclusive_prefixes(values, combine)
        for combine in (int.__add__, lambda a, b: b, lambda a, b: a))


@each("bits, faults", [(32, protocol.FAULTS), (64, protocol.FAULTS_64)])
def test_three_programs_one_of_them_delayed_show_every_fault_that_memory_keeps_in_order(
    bits: int, faults: tuple[str, ...]
):
    delays = [(count, OneDelayed(Delay(of="program", number=program, access=access)))
             for count in (2, 3) for program in range(count) for access in range(8)]
    shown = {fault for fault in ("", *faults, "dirty_scratch") if any(shows(fault, bits, *one) for one in delays)}
    assert shown == {*faults, "dirty_scratch"} - {"flag_without_release", "poll_without_acquire"}
    # Everybody prompt is not enough.
    assert {fault for fault in shown if not shows(fault, bits, 3, RoundRobin())} == {"dirty_scratch"} | (
        {"flag_before_value"} if bits == 64 else
        {"block_on_the_left", "exclusive_published", "walk_passes_prefix", "unpublished_word_accepted"})


def test_a_pause_stands_before_its_access_and_changes_nothing_else():
    mutant = WIDE["flag_before_value"]
    prompt, delayed = (build_64("fp64", helper=mutant, delay=delay) for delay in (
        None, Delay(of="program", number=1, access=2)))
    assert memory_instructions(delayed["ptx"]) == memory_instructions(prompt["ptx"])
    assert delayed["cubin"] != prompt["cubin"]
    before = memory_instructions(delayed["ptx"].partition("%clock64")[0])
    assert without_barriers(before) == ["ld", "exch.release"], "between flag and value"
    assert with_pause(prompt["ptx"], Delay(of="program", number=0, access=99)) == prompt["ptx"]
