"""Drivers for the type probes, whose answers are types as much as values.

A store converts silently to the pointer's type, so memory cannot show a wrong result type. These kernels therefore
write what the compiler knows about the result into the array `facts`, along column 0 of rows 0, 1, 2.
"""

from collections.abc import Mapping

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import load_operand, store_result, tile_indices
from tridiff.kernels.drivers.record import Driver, Grid
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def promote_kernel(
    a_ptr, a_stride_row, a_stride_col, out_ptr, out_stride_row, out_stride_col,
    facts_ptr, facts_stride_row, facts_stride_col, rows, cols, HELPER: tl.constexpr, SCALAR: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(a) in one program; facts = (1 if the dtype is a's, the rank, the bit width), as int32.

    SCALAR: a is a (1, 1) array, and the helper gets its element as a scalar rather than a [ROW_BLOCK, COL_BLOCK] block.
    """
    if SCALAR:
        a = load_operand(a_ptr, rows > 0, 0, BOOL)
        result = HELPER(a)
        inside = (tl.arange(0, 1) < rows) & (tl.arange(0, 1) < cols)
        store_result(out_ptr + tl.arange(0, 1), inject_fault(result, a, a, rows > 0, FAULT), inside)
    else:
        row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
        a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 0, BOOL)
        result = HELPER(a)
        outcome = inject_fault(result, a, a, mask, FAULT)
        store_result(out_ptr + row * out_stride_row + col * out_stride_col, outcome, mask)
    same_dtype: tl.constexpr = 1 if result.dtype == a.dtype else 0
    rank: tl.constexpr = len(result.shape)
    tl.store(facts_ptr, same_dtype)
    tl.store(facts_ptr + facts_stride_row, rank)
    tl.store(facts_ptr + 2 * facts_stride_row, result.dtype.primitive_bitwidth)


@triton.jit
def classify_kernel(
    a_ptr, a_stride_row, a_stride_col, out_ptr, out_stride_row, out_stride_col, rows, cols, HELPER: tl.constexpr,
    SCALAR: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out[0, 0] = 1 if HELPER(a) is True at compile time, else 0; SCALAR as in `promote_kernel`."""
    if SCALAR:
        a = load_operand(a_ptr, rows > 0, 0, BOOL)
        mask = rows > 0
    else:
        row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
        a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 0, BOOL)
    # A branch on the answer compiles to one of its sides only if the answer is a compile-time constant.
    if HELPER(a):
        answer = tl.full([], 1, tl.int8)
    else:
        answer = tl.full([], 0, tl.int8)
    tl.store(out_ptr, inject_fault(answer, a, a, mask, FAULT))


def one_program(sizes: Mapping[str, int]) -> Grid:
    """One program. Raises ValueError if one tile cannot hold the array."""
    for size, block in (("rows", "ROW_BLOCK"), ("cols", "COL_BLOCK")):
        if sizes[block] < sizes[size]:
            raise ValueError(f"{block}={sizes[block]} is smaller than {size}={sizes[size]}: one tile holds the array")
    return 1, 1, 1


promote = Driver.of(promote_kernel, "out", "facts", grid=one_program)
classify = Driver.of(classify_kernel, "out", grid=one_program)
