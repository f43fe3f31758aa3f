"""Drivers for helpers that reduce a (rows, cols) array along one axis, with and without an index.

AXIS is the axis that disappears: 1 reduces every row, 0 every column. One tile spans that axis, so its block size must
reach the array's size; the other axis is divided over programs. Results lie at out[row, 0] for AXIS 1 and at
out[0, col] for AXIS 0. Lanes beyond the array hold PADDING, which should be neutral: +inf for a minimum, 1 for a
product.
"""

from collections.abc import Mapping

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import load_operand, store_result
from tridiff.kernels.drivers.record import Driver, Grid, cdiv
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def reduction_indices(rows, cols, AXIS: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr):
    """Row indices [R, 1] and column indices [1, C] of this program's tile, and the indices [K] of the kept axis."""
    first = tl.program_id(0).to(tl.int64)
    if AXIS == 1:
        kept = first * ROW_BLOCK + tl.arange(0, ROW_BLOCK)
        return kept[:, None], tl.arange(0, COL_BLOCK)[None, :].to(tl.int64), kept
    else:
        kept = first * COL_BLOCK + tl.arange(0, COL_BLOCK)
        return tl.arange(0, ROW_BLOCK)[:, None].to(tl.int64), kept[None, :], kept


@triton.jit
def reduce_rows_kernel(
    a_ptr, a_stride_row, a_stride_col, out_ptr, out_stride_row, out_stride_col, rows, cols, HELPER: tl.constexpr,
    AXIS: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    PADDING: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(a, AXIS)."""
    row, col, kept = reduction_indices(rows, cols, AXIS, ROW_BLOCK, COL_BLOCK)
    mask = (row < rows) & (col < cols)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, PADDING, BOOL)
    result = inject_fault(HELPER(a, AXIS), a, a, mask, FAULT)
    if AXIS == 1:
        store_result(out_ptr + kept * out_stride_row, result, kept < rows)
    else:
        store_result(out_ptr + kept * out_stride_col, result, kept < cols)


@triton.jit
def reduce_rows_with_index_kernel(
    a_ptr, a_stride_row, a_stride_col, index_ptr, index_stride_row, index_stride_col,
    out_ptr, out_stride_row, out_stride_col, out_index_ptr, out_index_stride_row, out_index_stride_col, rows, cols,
    HELPER: tl.constexpr, AXIS: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    PADDING: tl.constexpr, INDEX_PADDING: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out, out_index = HELPER(a, index, AXIS). INDEX_PADDING should exceed every index, so that padding loses ties."""
    row, col, kept = reduction_indices(rows, cols, AXIS, ROW_BLOCK, COL_BLOCK)
    mask = (row < rows) & (col < cols)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, PADDING, BOOL)
    index = tl.load(index_ptr + row * index_stride_row + col * index_stride_col, mask=mask, other=INDEX_PADDING)
    value, best = HELPER(a, index, AXIS)
    value = inject_fault(value, a, a, mask, FAULT)
    if AXIS == 1:
        store_result(out_ptr + kept * out_stride_row, value, kept < rows)
        tl.store(out_index_ptr + kept * out_index_stride_row, best, mask=kept < rows)
    else:
        store_result(out_ptr + kept * out_stride_col, value, kept < cols)
        tl.store(out_index_ptr + kept * out_index_stride_col, best, mask=kept < cols)


@triton.jit
def reduce_rows_looped_kernel(
    a_ptr, a_stride_row, a_stride_col, out_ptr, out_stride_row, out_stride_col, rows, cols,
    HELPER: tl.constexpr, COMBINE: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    PADDING: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out[row, 0] = HELPER(accumulators, 1), where lane c accumulates columns c, c + COL_BLOCK, ... with COMBINE.

    The form for rows longer than a tile. Accumulators start at PADDING; COMBINE is the element-wise helper, called on
    whole blocks, accumulator first.
    """
    row = tl.program_id(0).to(tl.int64) * ROW_BLOCK + tl.arange(0, ROW_BLOCK)
    lane = tl.arange(0, COL_BLOCK)[None, :].to(tl.int64)
    a_row = a_ptr + row[:, None] * a_stride_row
    # The first tile is loaded here, with its padding, only to have accumulators of the right type.
    first = (row[:, None] < rows) & (lane < cols)
    accumulator = load_operand(a_row + lane * a_stride_col, first, PADDING, BOOL)
    for start in range(COL_BLOCK, cols, COL_BLOCK):
        col = start + lane
        mask = (row[:, None] < rows) & (col < cols)
        a = load_operand(a_row + col * a_stride_col, mask, PADDING, BOOL)
        accumulator = tl.where(mask, COMBINE(accumulator, a), accumulator)
    result = inject_fault(HELPER(accumulator, 1), accumulator, accumulator, first, FAULT)
    store_result(out_ptr + row * out_stride_row, result, row < rows)


@triton.jit
def reduce_rows_looped_with_index_kernel(
    a_ptr, a_stride_row, a_stride_col, index_ptr, index_stride_row, index_stride_col,
    out_ptr, out_stride_row, out_stride_col, out_index_ptr, out_index_stride_row, out_index_stride_col, rows, cols,
    HELPER: tl.constexpr, COMBINE: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    PADDING: tl.constexpr, INDEX_PADDING: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out, out_index = HELPER(accumulators, accumulated indices, 1): `reduce_rows_looped_kernel` with an index."""
    row = tl.program_id(0).to(tl.int64) * ROW_BLOCK + tl.arange(0, ROW_BLOCK)
    lane = tl.arange(0, COL_BLOCK)[None, :].to(tl.int64)
    a_row = a_ptr + row[:, None] * a_stride_row
    index_row = index_ptr + row[:, None] * index_stride_row
    first = (row[:, None] < rows) & (lane < cols)
    value = load_operand(a_row + lane * a_stride_col, first, PADDING, BOOL)
    best = tl.load(index_row + lane * index_stride_col, mask=first, other=INDEX_PADDING)
    for start in range(COL_BLOCK, cols, COL_BLOCK):
        col = start + lane
        mask = (row[:, None] < rows) & (col < cols)
        a = load_operand(a_row + col * a_stride_col, mask, PADDING, BOOL)
        index = tl.load(index_row + col * index_stride_col, mask=mask, other=INDEX_PADDING)
        new_value, new_best = COMBINE(value, best, a, index)
        value = tl.where(mask, new_value, value)
        best = tl.where(mask, new_best, best)
    result, result_index = HELPER(value, best, 1)
    result = inject_fault(result, value, value, first, FAULT)
    store_result(out_ptr + row * out_stride_row, result, row < rows)
    tl.store(out_index_ptr + row * out_index_stride_row, result_index, mask=row < rows)


def row_grid(sizes: Mapping[str, int]) -> Grid:
    """One program per ROW_BLOCK rows, whatever the number of columns."""
    return cdiv(sizes["rows"], sizes["ROW_BLOCK"]), 1, 1


def reduction_grid(sizes: Mapping[str, int]) -> Grid:
    """One program per tile of the kept axis. Raises ValueError if one tile cannot span the reduced axis."""
    reduced, block, kept, kept_block = (
        ("cols", "COL_BLOCK", "rows", "ROW_BLOCK") if sizes["AXIS"] == 1 else ("rows", "ROW_BLOCK", "cols", "COL_BLOCK")
    )
    if sizes[block] < sizes[reduced]:
        raise ValueError(
            f"{block}={sizes[block]} is smaller than {reduced}={sizes[reduced]}: choose a power of two that reaches it"
        )
    return cdiv(sizes[kept], sizes[kept_block]), 1, 1


reduce_rows = Driver.of(reduce_rows_kernel, "out", grid=reduction_grid)
reduce_rows_with_index = Driver.of(reduce_rows_with_index_kernel, "out", "out_index", grid=reduction_grid)
reduce_rows_looped = Driver.of(reduce_rows_looped_kernel, "out", grid=row_grid)
reduce_rows_looped_with_index = Driver.of(reduce_rows_looped_with_index_kernel, "out", "out_index", grid=row_grid)
