"""Driver for select_one: picks from every row (AXIS 1) or column (AXIS 0) the element that a mask marks."""

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import load_operand, store_result
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.drivers.reduce_rows import reduction_grid, reduction_indices
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def select_rows_kernel(
    a_ptr, a_stride_row, a_stride_col, mask_ptr, mask_stride_row, mask_stride_col,
    out_ptr, out_stride_row, out_stride_col, rows, cols, HELPER: tl.constexpr,
    AXIS: tl.constexpr, KEEP_DIMS: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(a, mask, AXIS, KEEP_DIMS), stored without the axis either way.

    The mask array is Boolean, one byte per element. Lanes beyond the array are False in it.
    """
    row, col, kept = reduction_indices(rows, cols, AXIS, ROW_BLOCK, COL_BLOCK)
    inside = (row < rows) & (col < cols)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, inside, 0, BOOL)
    mask = load_operand(mask_ptr + row * mask_stride_row + col * mask_stride_col, inside, 0, True)
    result = HELPER(a, mask, AXIS, KEEP_DIMS)
    if KEEP_DIMS:
        result = tl.reshape(result, [kept.shape[0]])
    result = inject_fault(result, a, a, inside, FAULT)
    if AXIS == 1:
        store_result(out_ptr + kept * out_stride_row, result, kept < rows)
    else:
        store_result(out_ptr + kept * out_stride_col, result, kept < cols)


select_rows = Driver.of(select_rows_kernel, "out", grid=reduction_grid)
