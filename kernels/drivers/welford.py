"""Drivers for Welford's algorithm: whole rows, one merge per element, and a merge of given states along an axis.

States are three arrays: mean, m2, weight. FAULT concerns the mean. Values of any float type are converted to
ACCUMULATOR (fp32 or fp64) on loading; the state arrays have that type.
"""

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import store_result, tile_grid, tile_indices
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.drivers.reduce_rows import reduction_grid, reduction_indices, row_grid
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def welford_rows_kernel(
    a_ptr, a_stride_row, a_stride_col, mean_ptr, mean_stride_row, mean_stride_col, m2_ptr, m2_stride_row, m2_stride_col,
    weight_ptr, weight_stride_row, weight_stride_col, rows, cols, HELPER: tl.constexpr, MERGE: tl.constexpr,
    ACCUMULATOR: tl.constexpr, PEELED: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    FAULT: tl.constexpr,
):
    """The state of every row, at [row, 0]. HELPER is a welford_reduce, MERGE a welford.

    Lane c of a row collects columns c, c + COL_BLOCK, ...; MERGE then unites the lanes. PEELED: the first round runs
    before the loop, with first_iteration known at compile time; otherwise it is a run-time value.
    """
    row = tl.program_id(0).to(tl.int64) * ROW_BLOCK + tl.arange(0, ROW_BLOCK)
    lane = tl.arange(0, COL_BLOCK)[None, :].to(tl.int64)
    a_row = a_ptr + row[:, None] * a_stride_row
    mean = tl.zeros([ROW_BLOCK, COL_BLOCK], ACCUMULATOR)
    m2 = tl.zeros([ROW_BLOCK, COL_BLOCK], ACCUMULATOR)
    weight = tl.zeros([ROW_BLOCK, COL_BLOCK], ACCUMULATOR)
    first_in_loop = 0
    if PEELED:
        mask = (row[:, None] < rows) & (lane < cols)
        value = tl.load(a_row + lane * a_stride_col, mask=mask, other=0).to(ACCUMULATOR)
        new_mean, new_m2, new_weight = HELPER(value, mean, m2, weight, True)
        mean = tl.where(mask, new_mean, mean)
        m2 = tl.where(mask, new_m2, m2)
        weight = tl.where(mask, new_weight, weight)
        first_in_loop = COL_BLOCK
    for start in range(first_in_loop, cols, COL_BLOCK):
        col = start + lane
        mask = (row[:, None] < rows) & (col < cols)
        value = tl.load(a_row + col * a_stride_col, mask=mask, other=0).to(ACCUMULATOR)
        if PEELED:
            new_mean, new_m2, new_weight = HELPER(value, mean, m2, weight, False)
        else:
            new_mean, new_m2, new_weight = HELPER(value, mean, m2, weight, start == 0)
        # Lanes without a column in this round keep their state.
        mean = tl.where(mask, new_mean, mean)
        m2 = tl.where(mask, new_m2, m2)
        weight = tl.where(mask, new_weight, weight)
    row_mean, row_m2, row_weight = MERGE(mean, m2, weight, 1)
    # Mean and m2 are both 0 exactly where all finite inputs are.
    row_mean = inject_fault(row_mean, row_mean, row_m2, row < rows, FAULT)
    store_result(mean_ptr + row * mean_stride_row, row_mean, row < rows)
    store_result(m2_ptr + row * m2_stride_row, row_m2, row < rows)
    store_result(weight_ptr + row * weight_stride_row, row_weight, row < rows)


@triton.jit
def welford_step_kernel(
    value_ptr, value_stride_row, value_stride_col, mean_ptr, mean_stride_row, mean_stride_col,
    m2_ptr, m2_stride_row, m2_stride_col, weight_ptr, weight_stride_row, weight_stride_col,
    out_mean_ptr, out_mean_stride_row, out_mean_stride_col, out_m2_ptr, out_m2_stride_row, out_m2_stride_col,
    out_weight_ptr, out_weight_stride_row, out_weight_stride_col, rows, cols, first_iteration,
    HELPER: tl.constexpr, FIRST: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """Element-wise (out_mean, out_m2, out_weight) = HELPER(value, mean, m2, weight, first_iteration).

    FIRST is the constexpr first_iteration (True or False), or None for the run-time int, of which 0 is False.
    """
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    value = tl.load(value_ptr + row * value_stride_row + col * value_stride_col, mask=mask, other=0)
    mean = tl.load(mean_ptr + row * mean_stride_row + col * mean_stride_col, mask=mask, other=0)
    m2 = tl.load(m2_ptr + row * m2_stride_row + col * m2_stride_col, mask=mask, other=0)
    weight = tl.load(weight_ptr + row * weight_stride_row + col * weight_stride_col, mask=mask, other=0)
    if FIRST is None:
        new_mean, new_m2, new_weight = HELPER(value, mean, m2, weight, first_iteration != 0)
    else:
        new_mean, new_m2, new_weight = HELPER(value, mean, m2, weight, FIRST)
    new_mean = inject_fault(new_mean, value, value, mask, FAULT)
    store_result(out_mean_ptr + row * out_mean_stride_row + col * out_mean_stride_col, new_mean, mask)
    store_result(out_m2_ptr + row * out_m2_stride_row + col * out_m2_stride_col, new_m2, mask)
    store_result(out_weight_ptr + row * out_weight_stride_row + col * out_weight_stride_col, new_weight, mask)


@triton.jit
def welford_pairs_kernel(
    a_mean_ptr, a_mean_stride_row, a_mean_stride_col, a_m2_ptr, a_m2_stride_row, a_m2_stride_col,
    a_weight_ptr, a_weight_stride_row, a_weight_stride_col, b_mean_ptr, b_mean_stride_row, b_mean_stride_col,
    b_m2_ptr, b_m2_stride_row, b_m2_stride_col, b_weight_ptr, b_weight_stride_row, b_weight_stride_col,
    mean_ptr, mean_stride_row, mean_stride_col, m2_ptr, m2_stride_row, m2_stride_col,
    weight_ptr, weight_stride_row, weight_stride_col, rows, cols, HELPER: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """Element-wise (mean, m2, weight) = HELPER(state a, state b); HELPER is a welford_combine."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    a_mean = tl.load(a_mean_ptr + row * a_mean_stride_row + col * a_mean_stride_col, mask=mask, other=0)
    a_m2 = tl.load(a_m2_ptr + row * a_m2_stride_row + col * a_m2_stride_col, mask=mask, other=0)
    a_weight = tl.load(a_weight_ptr + row * a_weight_stride_row + col * a_weight_stride_col, mask=mask, other=1)
    b_mean = tl.load(b_mean_ptr + row * b_mean_stride_row + col * b_mean_stride_col, mask=mask, other=0)
    b_m2 = tl.load(b_m2_ptr + row * b_m2_stride_row + col * b_m2_stride_col, mask=mask, other=0)
    b_weight = tl.load(b_weight_ptr + row * b_weight_stride_row + col * b_weight_stride_col, mask=mask, other=1)
    mean, m2, weight = HELPER(a_mean, a_m2, a_weight, b_mean, b_m2, b_weight)
    mean = inject_fault(mean, a_mean, b_mean, mask, FAULT)
    store_result(mean_ptr + row * mean_stride_row + col * mean_stride_col, mean, mask)
    store_result(m2_ptr + row * m2_stride_row + col * m2_stride_col, m2, mask)
    store_result(weight_ptr + row * weight_stride_row + col * weight_stride_col, weight, mask)


@triton.jit
def welford_states_kernel(
    a_mean_ptr, a_mean_stride_row, a_mean_stride_col, a_m2_ptr, a_m2_stride_row, a_m2_stride_col,
    a_weight_ptr, a_weight_stride_row, a_weight_stride_col, mean_ptr, mean_stride_row, mean_stride_col,
    m2_ptr, m2_stride_row, m2_stride_col, weight_ptr, weight_stride_row, weight_stride_col, rows, cols,
    HELPER: tl.constexpr, AXIS: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """(mean, m2, weight) = HELPER(a_mean, a_m2, a_weight, AXIS); HELPER is a welford. Padding is empty: (0, 0, 0)."""
    row, col, kept = reduction_indices(rows, cols, AXIS, ROW_BLOCK, COL_BLOCK)
    mask = (row < rows) & (col < cols)
    a_mean = tl.load(a_mean_ptr + row * a_mean_stride_row + col * a_mean_stride_col, mask=mask, other=0)
    a_m2 = tl.load(a_m2_ptr + row * a_m2_stride_row + col * a_m2_stride_col, mask=mask, other=0)
    a_weight = tl.load(a_weight_ptr + row * a_weight_stride_row + col * a_weight_stride_col, mask=mask, other=0)
    mean, m2, weight = HELPER(a_mean, a_m2, a_weight, AXIS)
    mean = inject_fault(mean, a_mean, a_mean, mask, FAULT)
    if AXIS == 1:
        store_result(mean_ptr + kept * mean_stride_row, mean, kept < rows)
        store_result(m2_ptr + kept * m2_stride_row, m2, kept < rows)
        store_result(weight_ptr + kept * weight_stride_row, weight, kept < rows)
    else:
        store_result(mean_ptr + kept * mean_stride_col, mean, kept < cols)
        store_result(m2_ptr + kept * m2_stride_col, m2, kept < cols)
        store_result(weight_ptr + kept * weight_stride_col, weight, kept < cols)



welford_rows = Driver.of(welford_rows_kernel, "mean", "m2", "weight", grid=row_grid)
welford_step = Driver.of(welford_step_kernel, "out_mean", "out_m2", "out_weight", grid=tile_grid)
welford_pairs = Driver.of(welford_pairs_kernel, "mean", "m2", "weight", grid=tile_grid)
welford_states = Driver.of(welford_states_kernel, "mean", "m2", "weight", grid=reduction_grid)
