"""Driver for device_assert_then: asserts one array element-wise and passes another one through."""

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import load_operand, store_result, tile_grid, tile_indices
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def assert_then_kernel(
    condition_ptr, condition_stride_row, condition_stride_col, a_ptr, a_stride_row, a_stride_col,
    out_ptr, out_stride_row, out_stride_col, rows, cols, HELPER: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(condition, "condition is False", a). The condition is Boolean, one byte per element.

    It is loaded with False in the lanes beyond the array, which are then excused, as every caller must do: what is
    False only there must not fail the launch.
    """
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    condition = load_operand(condition_ptr + row * condition_stride_row + col * condition_stride_col, mask, 0, True)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 0, BOOL)
    result = inject_fault(HELPER(condition | (mask ^ True), "condition is False", a), a, a, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, result, mask)


assert_then = Driver.of(assert_then_kernel, "out", grid=tile_grid)
