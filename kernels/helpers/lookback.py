"""Exclusive scan across programs by decoupled look-back (contract: helpers.md §11).

Each program publishes its block total, walks left over what its neighbours have published until it meets an
inclusive prefix, and then publishes its own. A program waits only for programs with a smaller index, so the
scan finishes when indices start in ascending order or when all programs are resident; the programming model
promises neither, callers do.

The walk counts in int64 whatever the type of `index`. The reference implementations let the loop variable
take the type of `index` on one path and int32 on another, which does not compile for int64. A published word
with an impossible flag (scratch that was not cleared) is treated as a block total and never used as an
offset, so dirty scratch gives wrong values but no wild access.

`kernels/simulator/lookback.py` states the same protocol as sequences of memory operations, for every
interleaving.
"""

import triton
import triton.language as tl


@triton.jit
def pack_value_flag(value, flag, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr):
    """flag | (bits of value << width) as PACK, the unsigned type twice as wide as VALUE_AS_UINT."""
    bits = value.to(VALUE_AS_UINT, bitcast=True).to(PACK)
    return tl.cast(flag, PACK) | (bits << VALUE_AS_UINT.primitive_bitwidth)


@triton.jit
def unpack_value(pack, VALUE: tl.constexpr, VALUE_AS_UINT: tl.constexpr):
    """The value of a `pack_value_flag` word, bit for bit."""
    return (pack >> VALUE_AS_UINT.primitive_bitwidth).to(VALUE_AS_UINT).to(VALUE, bitcast=True)


@triton.jit
def unpack_flag(pack, FLAG: tl.constexpr):
    """The flag of a `pack_value_flag` word; FLAG is the unsigned type of the value's width."""
    return pack.to(FLAG)


@triton.jit
def _wait_for_word(word_ptr, VALUE: tl.constexpr, VALUE_AS_UINT: tl.constexpr):
    """Polls one packed word until something is published; (flag, value)."""
    flag = tl.zeros([], VALUE_AS_UINT)
    value = tl.zeros([], VALUE)
    while flag == 0:
        # An atomic addition of zero: Triton 3.6.0 has no atomic load; the backend emits ld.relaxed.gpu for
        # it.
        word = tl.atomic_add(word_ptr, 0, sem="relaxed")
        flag = unpack_flag(word, VALUE_AS_UINT)
        value = unpack_value(word, VALUE, VALUE_AS_UINT)
    return flag, value


@triton.jit
def exclusive_scan_decoupled_lookback(
    scratch_base, block_value, index, combine_fn: tl.constexpr, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr,
):
    """Left fold of the block values of programs 0..index-1; contract: helpers.md §11.

    scratch_base: pointer to one PACK word per program, all zero before the launch. block_value: scalar of a
    16 or 32-bit type (8-bit is a compile-time error: there is no 16-bit exchange). index: scalar of any
    integer type, the position of this program in its scan. combine_fn: associative `(left, right) -> value`,
    not necessarily commutative. VALUE_AS_UINT, PACK: unsigned types of the width of the value and of twice
    that width.

    Returns a scalar of the type of block_value; program 0 receives zero bits, which are not the identity of
    combine_fn and must be ignored. Value and flag travel in one word, so relaxed ordering is enough.
    """
    VALUE: tl.constexpr = block_value.dtype
    WIDTH: tl.constexpr = VALUE_AS_UINT.primitive_bitwidth
    tl.static_assert((WIDTH == 16) or (WIDTH == 32), "look-back packs 16 and 32-bit values; use the _64 variant")
    tl.static_assert(VALUE.primitive_bitwidth == WIDTH, "VALUE_AS_UINT must be as wide as the block value")
    tl.static_assert(PACK.primitive_bitwidth == 2 * WIDTH, "PACK must be twice as wide as the block value")
    here = tl.cast(index, tl.int64)
    prefix = tl.zeros([], VALUE)
    inclusive = block_value
    if here > 0:
        tl.atomic_xchg(scratch_base + here, pack_value_flag(block_value, 1, VALUE_AS_UINT, PACK), sem="relaxed")
        flag, prefix = _wait_for_word(scratch_base + here - 1, VALUE, VALUE_AS_UINT)
        target = here - 2
        # Program 0 publishes only prefixes, so the walk ends there; the bound holds for dirty scratch as
        # well.
        while (flag != 2) & (target >= 0):
            flag, value = _wait_for_word(scratch_base + target, VALUE, VALUE_AS_UINT)
            prefix = combine_fn(value, prefix).to(VALUE)
            target = target - 1
        inclusive = combine_fn(prefix, block_value).to(VALUE)
    tl.atomic_xchg(scratch_base + here, pack_value_flag(inclusive, 2, VALUE_AS_UINT, PACK), sem="relaxed")
    return prefix


@triton.jit
def _wait_for_slots(slots_ptr, VALUE: tl.constexpr):
    """Polls the flag of three 64-bit slots (flag, total, prefix) and reads the slot it names; (flag, value)."""
    flag = tl.zeros([], tl.uint64)
    while flag == 0:
        flag = tl.atomic_add(slots_ptr, 0, sem="acquire")
    # One thread acquires; the barrier makes what it acquired visible to the threads that read the slot.
    tl.debug_barrier()
    bits = tl.load(slots_ptr + tl.where(flag == 2, 2, 1))
    return flag, bits.to(VALUE, bitcast=True)


@triton.jit
def _publish_slot(slots_ptr, value, FLAG: tl.constexpr):
    """Writes slot number FLAG, then the flag with release ordering."""
    tl.store(slots_ptr + FLAG, value.to(tl.uint64, bitcast=True))
    # The store and the exchange may be issued by different threads: order them within the program first.
    tl.debug_barrier()
    tl.atomic_xchg(slots_ptr, tl.full([], FLAG, tl.uint64), sem="release")


@triton.jit
def exclusive_scan_decoupled_lookback_64(scratch_base, block_value, index, combine_fn: tl.constexpr):
    """As `exclusive_scan_decoupled_lookback` for 64-bit values; contract: helpers.md §11.

    scratch_base: pointer to three uint64 words per program (flag, block total, inclusive prefix), the flags
    zero before the launch. Values are written before the flag is released and read after it is acquired.
    """
    VALUE: tl.constexpr = block_value.dtype
    tl.static_assert(VALUE.primitive_bitwidth == 64, "the _64 variant scans 64-bit values")
    here = tl.cast(index, tl.int64)
    slots = scratch_base + 3 * here
    prefix = tl.zeros([], VALUE)
    inclusive = block_value
    if here > 0:
        _publish_slot(slots, block_value, 1)
        flag, prefix = _wait_for_slots(slots - 3, VALUE)
        target = here - 2
        while (flag != 2) & (target >= 0):
            flag, value = _wait_for_slots(scratch_base + 3 * target, VALUE)
            prefix = combine_fn(value, prefix).to(VALUE)
            target = target - 1
        inclusive = combine_fn(prefix, block_value).to(VALUE)
    _publish_slot(slots, inclusive, 2)
    return prefix
