"""Drivers for counter-based random numbers: one seed, and for integers one range, per row of offsets.

offset and out are (rows, cols); seed, low and high have one entry per row, which every program reads as a
scalar. `rows` is for the grid alone: every program has a row.
"""

from collections.abc import Mapping

import triton
import triton.language as tl

from tridiff.kernels.drivers.record import Driver, Grid, cdiv
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def random_real_kernel(
    seed_ptr, seed_stride_row, offset_ptr, offset_stride_row, offset_stride_col,
    out_ptr, out_stride_row, out_stride_col, rows, cols,
    HELPER: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(seed, offset): `rand` or `randn`."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1).to(tl.int64) * COL_BLOCK + tl.arange(0, COL_BLOCK)
    mask = col < cols
    seed = tl.load(seed_ptr + row * seed_stride_row)
    offset = tl.load(offset_ptr + row * offset_stride_row + col * offset_stride_col, mask=mask, other=0)
    result = inject_fault(HELPER(seed, offset), offset, offset, mask, FAULT)
    tl.store(out_ptr + row * out_stride_row + col * out_stride_col, result, mask=mask)


@triton.jit
def random_integer_kernel(
    seed_ptr, seed_stride_row, offset_ptr, offset_stride_row, offset_stride_col, low_ptr, low_stride_row,
    high_ptr, high_stride_row, out_ptr, out_stride_row, out_stride_col, rows, cols,
    HELPER: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(seed, offset, low, high): `randint64`."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1).to(tl.int64) * COL_BLOCK + tl.arange(0, COL_BLOCK)
    mask = col < cols
    seed = tl.load(seed_ptr + row * seed_stride_row)
    low = tl.load(low_ptr + row * low_stride_row)
    high = tl.load(high_ptr + row * high_stride_row)
    offset = tl.load(offset_ptr + row * offset_stride_row + col * offset_stride_col, mask=mask, other=0)
    result = inject_fault(HELPER(seed, offset, low, high), offset, offset, mask, FAULT)
    tl.store(out_ptr + row * out_stride_row + col * out_stride_col, result, mask=mask)


def row_grid(sizes: Mapping[str, int]) -> Grid:
    """One program per row and COL_BLOCK offsets."""
    return sizes["rows"], cdiv(sizes["cols"], sizes["COL_BLOCK"]), 1



random_real = Driver.of(random_real_kernel, "out", grid=row_grid)
random_integer = Driver.of(random_integer_kernel, "out", grid=row_grid)
