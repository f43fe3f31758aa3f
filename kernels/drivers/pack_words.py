"""Drivers for the packed words of the look-back: pack a value and a flag, take a word apart again."""

import triton
import triton.language as tl

from tridiff.kernels.drivers.elementwise import store_result, tile_grid, tile_indices
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def pack_words_kernel(
    value_ptr, value_stride_row, value_stride_col, flag_ptr, flag_stride_row, flag_stride_col,
    out_ptr, out_stride_row, out_stride_col, rows, cols,
    HELPER: tl.constexpr, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(value, flag, VALUE_AS_UINT, PACK)."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    value = tl.load(value_ptr + row * value_stride_row + col * value_stride_col, mask=mask, other=0)
    flag = tl.load(flag_ptr + row * flag_stride_row + col * flag_stride_col, mask=mask, other=0)
    word = inject_fault(HELPER(value, flag, VALUE_AS_UINT, PACK), flag, flag, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, word, mask)


@triton.jit
def unpack_value_kernel(
    pack_ptr, pack_stride_row, pack_stride_col, out_ptr, out_stride_row, out_stride_col, rows, cols,
    HELPER: tl.constexpr, VALUE: tl.constexpr, VALUE_AS_UINT: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(pack, VALUE, VALUE_AS_UINT)."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    pack = tl.load(pack_ptr + row * pack_stride_row + col * pack_stride_col, mask=mask, other=0)
    value = inject_fault(HELPER(pack, VALUE, VALUE_AS_UINT), pack, pack, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, value, mask)


@triton.jit
def unpack_flag_kernel(
    pack_ptr, pack_stride_row, pack_stride_col, out_ptr, out_stride_row, out_stride_col, rows, cols,
    HELPER: tl.constexpr, FLAG: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(pack, FLAG)."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    pack = tl.load(pack_ptr + row * pack_stride_row + col * pack_stride_col, mask=mask, other=0)
    flag = inject_fault(HELPER(pack, FLAG), pack, pack, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, flag, mask)



pack_words = Driver.of(pack_words_kernel, "out", grid=tile_grid)
unpack_value = Driver.of(unpack_value_kernel, "out", grid=tile_grid)
unpack_flag = Driver.of(unpack_flag_kernel, "out", grid=tile_grid)
