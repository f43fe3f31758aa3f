"""The look-back scans as sequences of accesses (contract: helpers.md §11).

These generators make the accesses of `tridiff.kernels.helpers.lookback`, one for one: an exchange, polls (atomic
additions of zero), an exchange for the packed variant; a store before each exchange and a load behind each
successful poll for the 64-bit one. `wrong` plants a fault; the names are those of
`tridiff.kernels.helpers.mutants_lookback`, which plants the same faults in the kernels. Values are the bit patterns
of the block values; `combine` works on such patterns.
"""

from collections.abc import Callable, Generator, Sequence
from functools import partial

from tridiff.kernels.simulator.memory import Access, Buffer, Memory, Order
from tridiff.kernels.simulator.scheduling import Program

Combine = Callable[[int, int], int]
SCRATCH = "scratch"
TOTAL, PREFIX = 1, 2

FAULTS = (
    "carry_on_the_right", "block_on_the_left", "inclusive_returned", "exclusive_published",
    "total_published_as_prefix", "walk_ends_at_total", "walk_passes_prefix", "unpublished_word_accepted",
    "first_program_adds_zeros",
)  # fmt: skip
FAULTS_64 = (
    "carry_on_the_right", "inclusive_returned", "first_program_adds_zeros", "prefix_slot_always", "one_slot_for_both",
    "flag_before_value", "flag_without_release", "poll_without_acquire",
)  # fmt: skip


def packed_scan(index: int, value: int, combine: Combine, *, bits: int = 32, wrong: str = "") -> Program[int]:
    """One program of the packed scan: 2 * bits per scratch word, the flag in its low half. Returns its prefix."""
    _check_fault(wrong, FAULTS)
    prefix, inclusive = 0, value
    if wrong == "first_program_adds_zeros":
        inclusive = combine(0, value)
    if index > 0:
        total_flag = PREFIX if wrong == "total_published_as_prefix" else TOTAL
        yield _exchange(index, total_flag | value << bits)
        flag, prefix = yield from _wait_for_word(index - 1, bits, wrong)
        flag = _misread_flag(flag, wrong, first=True)
        target = index - 2
        while flag != PREFIX and target >= 0:
            flag, found = yield from _wait_for_word(target, bits, wrong)
            prefix = combine(prefix, found) if wrong == "carry_on_the_right" else combine(found, prefix)
            flag = _misread_flag(flag, wrong, first=False)
            target -= 1
        inclusive = combine(value, prefix) if wrong == "block_on_the_left" else combine(prefix, value)
    published = inclusive
    if wrong == "exclusive_published" and index > 0:
        published = prefix
    yield _exchange(index, PREFIX | published << bits)
    return inclusive if wrong == "inclusive_returned" else prefix


def _exchange(index: int, word: int) -> Access:
    return Access("exchange", (SCRATCH, index), word, "relaxed")


def _misread_flag(flag: int, wrong: str, *, first: bool) -> int:
    if wrong == "walk_ends_at_total" and first:
        return PREFIX
    return TOTAL if wrong == "walk_passes_prefix" else flag


def _wait_for_word(index: int, bits: int, wrong: str) -> Generator[Access, int, tuple[int, int]]:
    """(flag, value) of a packed word."""
    while True:
        word = yield Access("add", (SCRATCH, index), 0, "relaxed")
        flag, value = word & (1 << bits) - 1, word >> bits
        if flag or wrong == "unpublished_word_accepted":
            return flag, value


def slot_scan(index: int, value: int, combine: Combine, *, wrong: str = "") -> Program[int]:
    """One program of the 64-bit scan: three words each (flag, total, prefix). Returns its prefix."""
    _check_fault(wrong, FAULTS_64)
    prefix, inclusive = 0, value
    if wrong == "first_program_adds_zeros":
        inclusive = combine(0, value)
    if index > 0:
        yield from _publish_slot(index, value, TOTAL, wrong)
        flag, prefix = yield from _wait_for_slots(index - 1, wrong)
        target = index - 2
        while flag != PREFIX and target >= 0:
            flag, found = yield from _wait_for_slots(target, wrong)
            prefix = combine(prefix, found) if wrong == "carry_on_the_right" else combine(found, prefix)
            target -= 1
        inclusive = combine(prefix, value)
    yield from _publish_slot(index, inclusive, PREFIX, wrong)
    return inclusive if wrong == "inclusive_returned" else prefix


def _publish_slot(index: int, value: int, flag: int, wrong: str) -> Generator[Access, int, None]:
    slot = TOTAL if wrong == "one_slot_for_both" else flag
    write = Access("store", (SCRATCH, 3 * index + slot), value)
    order: Order = "relaxed" if wrong == "flag_without_release" else "release"
    announce = Access("exchange", (SCRATCH, 3 * index), flag, order)
    yield announce if wrong == "flag_before_value" else write
    yield write if wrong == "flag_before_value" else announce


def _wait_for_slots(index: int, wrong: str) -> Generator[Access, int, tuple[int, int]]:
    """(flag, value) of the three words of a program."""
    order: Order = "relaxed" if wrong == "poll_without_acquire" else "acquire"
    flag = 0
    while flag == 0:
        flag = yield Access("add", (SCRATCH, 3 * index), 0, order)
    slot = PREFIX if flag == PREFIX or wrong == "prefix_slot_always" else TOTAL
    value = yield Access("load", (SCRATCH, 3 * index + slot))
    return flag, value


def scan_programs(
    values: Sequence[int], combine: Combine, *, bits: int = 32, wrong: str = ""
) -> list[Callable[[], Program[int]]]:
    """One program per value, for `simulate`. bits: 16 or 32 for the packed scan, 64 for the slots."""
    if bits == 64:
        return [partial(slot_scan, index, value, combine, wrong=wrong) for index, value in enumerate(values)]
    return [partial(packed_scan, index, value, combine, bits=bits, wrong=wrong) for index, value in enumerate(values)]


def scan_memory(programs: int, *, bits: int = 32, dirt: Sequence[int] | None = None, reorders: bool = False) -> Memory:
    """Scratch for that many programs: zeros, or the words in `dirt`, which a careless caller left there."""
    words = 3 * programs if bits == 64 else programs
    content = [0] * words if dirt is None else list(dirt)
    if len(content) != words:
        raise ValueError(f"dirt has {len(content)} words, {programs} programs need {words}")
    width = 64 if bits == 64 else 2 * bits
    return Memory({SCRATCH: Buffer(tuple(content), width)}, reorders=reorders)


def exclusive_prefixes(values: Sequence[int], combine: Combine) -> tuple[int, ...]:
    """What the programs must return: left folds, and 0 for the first."""
    prefixes = [0]
    for value in values[:-1]:
        prefixes.append(combine(prefixes[-1], value) if len(prefixes) > 1 else value)
    return tuple(prefixes[: len(values)])


def _check_fault(wrong: str, known: Sequence[str]) -> None:
    if wrong and wrong not in known:
        raise ValueError(f"unknown fault {wrong!r}; known: {', '.join(known)}")
