"""Driver for the binary search of values in rows of boundaries.

values, boundary_row and out are (rows, cols); boundaries and sorter are (row, col) arrays of their own, of
which every value names the row it is looked up in; without an array boundary_row that is the row of the
value. Stride 0 shares one row, or one boundary, among all.
"""

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import store_result, tile_grid, tile_indices
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def bucketize_kernel(
    values_ptr, values_stride_row, values_stride_col,
    boundary_row_ptr, boundary_row_stride_row, boundary_row_stride_col,
    boundaries_ptr, boundaries_stride_row, boundaries_stride_col, sorter_ptr, sorter_stride_row, sorter_stride_col,
    out_ptr, out_stride_row, out_stride_col, rows, cols, boundaries_size, boundaries_numel, HELPER: tl.constexpr,
    INDEX_DTYPE: tl.constexpr, RIGHT: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    FAULT: tl.constexpr,
):
    """out = HELPER(values, boundaries, ...) in the 11-argument order of torch 2.13.

    boundaries_size: boundaries per row. boundaries_numel: elements readable behind boundaries_ptr.
    sorter_ptr: an integer array, or None; its strides are then ignored. INDEX_DTYPE: tl.int32 or tl.int64,
    the dtype of out.
    """
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    values = tl.load(values_ptr + row * values_stride_row + col * values_stride_col, mask=mask, other=0)
    if boundary_row_ptr is None:
        # Masked lanes search row 0: their own row may not exist.
        boundary_row = tl.where(mask, row, 0)
    else:
        boundary_row = tl.load(
            boundary_row_ptr + row * boundary_row_stride_row + col * boundary_row_stride_col, mask=mask, other=0
        ).to(tl.int64)
    found = HELPER(
        values, boundaries_ptr, boundaries_size, boundaries_numel, boundaries_stride_col,
        boundary_row * boundaries_stride_row, INDEX_DTYPE, RIGHT, sorter_ptr, sorter_stride_col,
        boundary_row * sorter_stride_row,
    )
    found = inject_fault(found, values, values, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, found, mask)


bucketize = Driver.of(bucketize_kernel, "out", grid=tile_grid)
