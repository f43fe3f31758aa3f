"""Deliberately broken variants of the look-back scans, to measure whether a test would notice.

Both protocols are written once, with the place of every fault marked; each variant has its helper's
signature. Values v0, v1, ... belong to the programs. Faults marked [order] agree with the helper when
programs run one after the other in ascending order, as the interpreter runs them; the docstring names an
order of execution that shows them, and the step-wise simulator finds one. Faults marked [memory] need a
memory that reorders.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.lookback import pack_value_flag, unpack_flag, unpack_value
from tridiff.kernels.helpers.mutant_table import mutant_table


@triton.jit
def read_word(word_ptr, VALUE: tl.constexpr, VALUE_AS_UINT: tl.constexpr, WRONG: tl.constexpr):
    """(flag, value) of a packed word; waits for it unless WRONG says otherwise."""
    word = tl.atomic_add(word_ptr, 0, sem="relaxed")
    if WRONG == "unpublished_word_accepted":
        flag = unpack_flag(word, VALUE_AS_UINT)
    else:
        flag = unpack_flag(word, VALUE_AS_UINT)
        while flag == 0:
            word = tl.atomic_add(word_ptr, 0, sem="relaxed")
            flag = unpack_flag(word, VALUE_AS_UINT)
    return flag, unpack_value(word, VALUE, VALUE_AS_UINT)


@triton.jit
def faulty_scan(
    scratch_base, block_value, index,
    combine_fn: tl.constexpr, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr, WRONG: tl.constexpr,
):  # fmt: skip
    """The packed scan with the fault called WRONG."""
    VALUE: tl.constexpr = block_value.dtype
    here = tl.cast(index, tl.int64)
    prefix = tl.zeros([], VALUE)
    inclusive = block_value
    if WRONG == "first_program_adds_zeros":
        inclusive = combine_fn(prefix, block_value).to(VALUE)
    if here > 0:
        TOTAL: tl.constexpr = 2 if WRONG == "total_published_as_prefix" else 1
        tl.atomic_xchg(scratch_base + here, pack_value_flag(block_value, TOTAL, VALUE_AS_UINT, PACK), sem="relaxed")
        flag, prefix = read_word(scratch_base + here - 1, VALUE, VALUE_AS_UINT, WRONG)
        if WRONG == "walk_ends_at_total":
            flag = flag * 0 + 2
        if WRONG == "walk_passes_prefix":
            flag = flag * 0 + 1
        target = here - 2
        while (flag != 2) & (target >= 0):
            flag, value = read_word(scratch_base + target, VALUE, VALUE_AS_UINT, WRONG)
            if WRONG == "carry_on_the_right":
                prefix = combine_fn(prefix, value).to(VALUE)
            else:
                prefix = combine_fn(value, prefix).to(VALUE)
            if WRONG == "walk_passes_prefix":
                flag = flag * 0 + 1
            target = target - 1
        if WRONG == "block_on_the_left":
            inclusive = combine_fn(block_value, prefix).to(VALUE)
        else:
            inclusive = combine_fn(prefix, block_value).to(VALUE)
    published = inclusive
    if WRONG == "exclusive_published":
        published = tl.where(here > 0, prefix, block_value).to(VALUE)
    tl.atomic_xchg(scratch_base + here, pack_value_flag(published, 2, VALUE_AS_UINT, PACK), sem="relaxed")
    if WRONG == "inclusive_returned":
        prefix = inclusive
    return prefix


@triton.jit
def carry_on_the_right(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Walks left but combines on the right. [order] All of 0, 1, 2 publish totals before 2 walks: f(v1, v0)."""
    return faulty_scan(base, value, index, f, UINT, PACK, "carry_on_the_right")


@triton.jit
def block_on_the_left(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Publishes f(block, prefix): with three programs and f(a, b) = b, program 2 receives v0 instead of v1."""
    return faulty_scan(base, value, index, f, UINT, PACK, "block_on_the_left")


@triton.jit
def inclusive_returned(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Hands back the inclusive prefix: with two programs, program 1 receives f(v0, v1) instead of v0."""
    return faulty_scan(base, value, index, f, UINT, PACK, "inclusive_returned")


@triton.jit
def exclusive_published(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Publishes its exclusive prefix: with three programs and addition, program 2 receives v0 instead of v0 + v1."""
    return faulty_scan(base, value, index, f, UINT, PACK, "exclusive_published")


@triton.jit
def total_published_as_prefix(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Flags its block total as a prefix. [order] Program 1 has published only its total when 2 reads: v1."""
    return faulty_scan(base, value, index, f, UINT, PACK, "total_published_as_prefix")


@triton.jit
def walk_ends_at_total(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Takes the neighbour's word for a prefix. [order] Program 1 has published only its total when 2 reads: v1."""
    return faulty_scan(base, value, index, f, UINT, PACK, "walk_ends_at_total")


@triton.jit
def walk_passes_prefix(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Walks to program 0 whatever it meets: with three programs and addition, 2 receives 2 v0 + v1."""
    return faulty_scan(base, value, index, f, UINT, PACK, "walk_passes_prefix")


@triton.jit
def unpublished_word_accepted(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Does not wait. [order] Program 1 reads before 0 has published: zero bits instead of v0."""
    return faulty_scan(base, value, index, f, UINT, PACK, "unpublished_word_accepted")


@triton.jit
def first_program_adds_zeros(base, value, index, f: tl.constexpr, UINT: tl.constexpr, PACK: tl.constexpr):
    """Takes zero for the identity: with two programs, v0 = -1 and f = maximum, program 1 receives 0."""
    return faulty_scan(base, value, index, f, UINT, PACK, "first_program_adds_zeros")


@triton.jit
def read_slots(slots_ptr, VALUE: tl.constexpr, WRONG: tl.constexpr):
    """(flag, value) of a slot triple, with the fault called WRONG."""
    ACQUIRE: tl.constexpr = "relaxed" if WRONG == "poll_without_acquire" else "acquire"
    flag = tl.zeros([], tl.uint64)
    while flag == 0:
        flag = tl.atomic_add(slots_ptr, 0, sem=ACQUIRE)
    tl.debug_barrier()
    if WRONG == "prefix_slot_always":
        bits = tl.load(slots_ptr + 2)
    else:
        bits = tl.load(slots_ptr + tl.where(flag == 2, 2, 1))
    return flag, bits.to(VALUE, bitcast=True)


@triton.jit
def publish_slot(slots_ptr, value, FLAG: tl.constexpr, WRONG: tl.constexpr):
    """Writes value and flag, with the fault called WRONG."""
    RELEASE: tl.constexpr = "relaxed" if WRONG == "flag_without_release" else "release"
    SLOT: tl.constexpr = 1 if WRONG == "one_slot_for_both" else FLAG
    bits = value.to(tl.uint64, bitcast=True)
    if WRONG == "flag_before_value":
        tl.atomic_xchg(slots_ptr, tl.full([], FLAG, tl.uint64), sem=RELEASE)
        tl.debug_barrier()
        tl.store(slots_ptr + SLOT, bits)
    else:
        tl.store(slots_ptr + SLOT, bits)
        tl.debug_barrier()
        tl.atomic_xchg(slots_ptr, tl.full([], FLAG, tl.uint64), sem=RELEASE)


@triton.jit
def faulty_scan_64(scratch_base, block_value, index, combine_fn: tl.constexpr, WRONG: tl.constexpr):
    """The 64-bit scan with the fault called WRONG."""
    VALUE: tl.constexpr = block_value.dtype
    here = tl.cast(index, tl.int64)
    slots = scratch_base + 3 * here
    prefix = tl.zeros([], VALUE)
    inclusive = block_value
    if WRONG == "first_program_adds_zeros":
        inclusive = combine_fn(prefix, block_value).to(VALUE)
    if here > 0:
        publish_slot(slots, block_value, 1, WRONG)
        flag, prefix = read_slots(slots - 3, VALUE, WRONG)
        target = here - 2
        while (flag != 2) & (target >= 0):
            flag, value = read_slots(scratch_base + 3 * target, VALUE, WRONG)
            if WRONG == "carry_on_the_right":
                prefix = combine_fn(prefix, value).to(VALUE)
            else:
                prefix = combine_fn(value, prefix).to(VALUE)
            target = target - 1
        inclusive = combine_fn(prefix, block_value).to(VALUE)
    publish_slot(slots, inclusive, 2, WRONG)
    if WRONG == "inclusive_returned":
        prefix = inclusive
    return prefix


@triton.jit
def carry_on_the_right_64(base, value, index, f: tl.constexpr):
    """Walks left but combines on the right. [order] All of 0, 1, 2 publish totals before 2 walks: f(v1, v0)."""
    return faulty_scan_64(base, value, index, f, "carry_on_the_right")


@triton.jit
def inclusive_returned_64(base, value, index, f: tl.constexpr):
    """Hands back the inclusive prefix: with two programs, program 1 receives f(v0, v1) instead of v0."""
    return faulty_scan_64(base, value, index, f, "inclusive_returned")


@triton.jit
def first_program_adds_zeros_64(base, value, index, f: tl.constexpr):
    """Takes zero for the identity: with two programs, v0 = -1 and f = maximum, program 1 receives 0."""
    return faulty_scan_64(base, value, index, f, "first_program_adds_zeros")


@triton.jit
def prefix_slot_always_64(base, value, index, f: tl.constexpr):
    """Reads the prefix slot always. [order] Program 1 has published only its total when 2 reads: zero bits."""
    return faulty_scan_64(base, value, index, f, "prefix_slot_always")


@triton.jit
def one_slot_for_both_64(base, value, index, f: tl.constexpr):
    """Writes totals and prefixes to one slot, so prefixes are read from an empty one: program 1 gets zero bits."""
    return faulty_scan_64(base, value, index, f, "one_slot_for_both")


@triton.jit
def flag_before_value_64(base, value, index, f: tl.constexpr):
    """Publishes, then writes. [order] Program 1 reads between the flag and the value of program 0: zero bits."""
    return faulty_scan_64(base, value, index, f, "flag_before_value")


@triton.jit
def flag_without_release_64(base, value, index, f: tl.constexpr):
    """Relaxed exchange. [memory] The flag of program 0 becomes visible before its value: zero bits."""
    return faulty_scan_64(base, value, index, f, "flag_without_release")


@triton.jit
def poll_without_acquire_64(base, value, index, f: tl.constexpr):
    """Relaxed poll. [memory] Program 1 reads the value before the flag it was polled with: zero bits."""
    return faulty_scan_64(base, value, index, f, "poll_without_acquire")


MUTANTS = mutant_table(
    {
        "exclusive_scan_decoupled_lookback": {
            "carry_on_the_right": carry_on_the_right,
            "block_on_the_left": block_on_the_left,
            "inclusive_returned": inclusive_returned,
            "exclusive_published": exclusive_published,
            "total_published_as_prefix": total_published_as_prefix,
            "walk_ends_at_total": walk_ends_at_total,
            "walk_passes_prefix": walk_passes_prefix,
            "unpublished_word_accepted": unpublished_word_accepted,
            "first_program_adds_zeros": first_program_adds_zeros,
        },
        "exclusive_scan_decoupled_lookback_64": {
            "carry_on_the_right": carry_on_the_right_64,
            "inclusive_returned": inclusive_returned_64,
            "first_program_adds_zeros": first_program_adds_zeros_64,
            "prefix_slot_always": prefix_slot_always_64,
            "one_slot_for_both": one_slot_for_both_64,
            "flag_before_value": flag_before_value_64,
            "flag_without_release": flag_without_release_64,
            "poll_without_acquire": poll_without_acquire_64,
        },
    }
)
