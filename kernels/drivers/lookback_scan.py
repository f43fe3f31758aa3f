"""Drivers for the exclusive scan across programs: one value per program, independent scans in rows.

values and prefix are (scan, program). Program (p, s) publishes values[s, p] and stores what the helper hands
back: the left fold of values[s, 0..p-1], and zero bits for p = 0. Scratch is contiguous, scan after scan: one
word of twice the value's width per program, or three uint64 in the 64-bit driver. It must be zero before
every launch; passing dirty scratch is how a harness shows that it would notice.

Progress needs the programs of a scan to start in ascending order of grid axis 0, or to be resident all at
once.
"""

from collections.abc import Mapping

import triton
import triton.language as tl

from tridiff.kernels.drivers.record import Array, Driver, Grid
from tridiff.kernels.helpers.fault_hook import inject_fault

MOST_SCANS = 65535


@triton.jit
def add(left, right):
    """left + right."""
    return left + right


@triton.jit
def maximum(left, right):
    """The larger, right in a tie; commutative, but zero is no identity."""
    return tl.where(left > right, left, right)


@triton.jit
def second(left, right):
    """The right operand: associative, not commutative; a fold yields its last element."""
    return right


@triton.jit
def first(left, right):
    """The left operand: associative, not commutative; a fold yields its first element."""
    return left


@triton.jit
def affine(left, right):
    """Composition of affine maps, left applied first: associative, not commutative.

    An unsigned word of 2h bits holds the map t -> scale * t + shift modulo 2^h: scale in the low half, shift
    in the high half. The identity is scale 1, shift 0; the zero word is the constant map to 0.
    """
    HALF: tl.constexpr = left.dtype.primitive_bitwidth // 2
    LOW: tl.constexpr = 2 ** (left.dtype.primitive_bitwidth // 2) - 1
    tl.static_assert(left.dtype.is_int_unsigned(), "affine maps are packed into unsigned words")
    word: tl.constexpr = left.dtype
    right_scale = right & LOW
    scale = tl.mul(left & LOW, right_scale, sanitize_overflow=False) & LOW
    moved = tl.mul(left >> HALF, right_scale, sanitize_overflow=False)
    shift = tl.add(moved, right >> HALF, sanitize_overflow=False) & LOW
    return (scale | (shift << HALF)).to(word)


@triton.jit
def lookback_scan_kernel(
    values_ptr, values_stride_row, values_stride_col, scratch_ptr, prefix_ptr, prefix_stride_row, prefix_stride_col,
    programs, scans, HELPER: tl.constexpr, COMBINE: tl.constexpr, INDEX_DTYPE: tl.constexpr,
    VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr, FAULT: tl.constexpr, DELAY: tl.constexpr = "",
):  # fmt: skip
    """prefix = HELPER(scratch, value, program, COMBINE, VALUE_AS_UINT, PACK) for 16 and 32-bit values.

    scratch: scans * programs PACK words. INDEX_DTYPE: the type in which the helper gets the program number.
    DELAY: the pause that is compiled into this kernel (fuzz/backends/delay.py), by which caches tell it apart.
    """
    program = tl.program_id(0)
    scan = tl.program_id(1).to(tl.int64)
    value = tl.load(values_ptr + scan * values_stride_row + program.to(tl.int64) * values_stride_col)
    result = HELPER(scratch_ptr + scan * programs, value, program.to(INDEX_DTYPE), COMBINE, VALUE_AS_UINT, PACK)
    result = inject_fault(result, value, value, program < programs, FAULT)
    tl.store(prefix_ptr + scan * prefix_stride_row + program.to(tl.int64) * prefix_stride_col, result)


@triton.jit
def lookback_scan_64_kernel(
    values_ptr, values_stride_row, values_stride_col, scratch_ptr, prefix_ptr, prefix_stride_row, prefix_stride_col,
    programs, scans, HELPER: tl.constexpr, COMBINE: tl.constexpr, INDEX_DTYPE: tl.constexpr, FAULT: tl.constexpr,
    DELAY: tl.constexpr = "",
):  # fmt: skip
    """prefix = HELPER(scratch, value, program, COMBINE) for 64-bit values.

    scratch: 3 * scans * programs uint64 words.
    """
    program = tl.program_id(0)
    scan = tl.program_id(1).to(tl.int64)
    value = tl.load(values_ptr + scan * values_stride_row + program.to(tl.int64) * values_stride_col)
    result = HELPER(scratch_ptr + scan * programs * 3, value, program.to(INDEX_DTYPE), COMBINE)
    result = inject_fault(result, value, value, program < programs, FAULT)
    tl.store(prefix_ptr + scan * prefix_stride_row + program.to(tl.int64) * prefix_stride_col, result)


def scan_grid(sizes: Mapping[str, int]) -> Grid:
    """One program per value: programs on axis 0, which starts in ascending order, scans on axis 1."""
    if sizes["scans"] > MOST_SCANS:
        raise ValueError(f"scans={sizes['scans']} exceeds grid axis 1: split them into launches of {MOST_SCANS}")
    return sizes["programs"], sizes["scans"], 1


_INPUTS = (Array(name="values"), Array(name="scratch", axes=()))

lookback_scan = Driver(
    name="lookback_scan",
    kernel=lookback_scan_kernel,
    inputs=_INPUTS,
    outputs=(Array(name="prefix"),),
    integers=("programs", "scans"),
    constexprs=("HELPER", "COMBINE", "INDEX_DTYPE", "VALUE_AS_UINT", "PACK", "FAULT", "DELAY"),
    grid=scan_grid,
)

lookback_scan_64 = Driver(
    name="lookback_scan_64",
    kernel=lookback_scan_64_kernel,
    inputs=_INPUTS,
    outputs=(Array(name="prefix"),),
    integers=("programs", "scans"),
    constexprs=("HELPER", "COMBINE", "INDEX_DTYPE", "FAULT", "DELAY"),
    grid=scan_grid,
)
