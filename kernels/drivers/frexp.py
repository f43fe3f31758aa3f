"""Driver for frexp: one array in, mantissas and exponents out, tile by tile."""

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import load_operand, store_result, tile_grid, tile_indices
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def frexp_kernel(
    a_ptr, a_stride_row, a_stride_col, mantissa_ptr, mantissa_stride_row, mantissa_stride_col,
    exponent_ptr, exponent_stride_row, exponent_stride_col, rows, cols, HELPER: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """mantissa, exponent = HELPER(a). FAULT concerns the mantissa."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 0, False)
    mantissa, exponent = HELPER(a)
    mantissa = inject_fault(mantissa, a, a, mask, FAULT)
    store_result(mantissa_ptr + row * mantissa_stride_row + col * mantissa_stride_col, mantissa, mask)
    tl.store(exponent_ptr + row * exponent_stride_row + col * exponent_stride_col, exponent, mask=mask)


frexp = Driver.of(frexp_kernel, "mantissa", "exponent", grid=tile_grid)
