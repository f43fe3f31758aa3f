"""The hello world of Triton: out = a + b on vectors, with strides, offsets and a masked tail."""

from collections.abc import Mapping

import triton
import triton.language as tl

from tridiff.kernels.drivers.record import Driver, Grid, cdiv
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def vector_add_kernel(
    a_ptr, a_stride_col, b_ptr, b_stride_col, out_ptr, out_stride_col, a_offset, b_offset, out_offset, cols,
    BLOCK: tl.constexpr, FAULT: tl.constexpr,
):
    """out[out_offset + k * out_stride_col] = a[...] + b[...] for k < cols; strides and offsets count elements."""
    # Every program runs this same code; only its id differs. Program 3 with BLOCK = 128 handles 384 .. 511.
    position = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    # BLOCK is a power of two and cols need not be: the last program switches off the lanes beyond the end.
    mask = position < cols
    a = tl.load(a_ptr + a_offset + position * a_stride_col, mask=mask, other=0)
    b = tl.load(b_ptr + b_offset + position * b_stride_col, mask=mask, other=0)
    result = inject_fault(a + b, a, b, mask, FAULT)
    tl.store(out_ptr + out_offset + position * out_stride_col, result, mask=mask)


def vector_grid(sizes: Mapping[str, int]) -> Grid:
    """One program per BLOCK elements."""
    return cdiv(sizes["cols"], sizes["BLOCK"]), 1, 1


vector_add = Driver.of(vector_add_kernel, "out", grid=vector_grid)
