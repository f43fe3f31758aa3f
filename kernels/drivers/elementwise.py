"""Drivers for element-wise helpers: one to three operands, one and a scalar, two (value, index) pairs, integer ramps.

All arrays are (rows, cols) with element strides. Program (i, j) handles one ROW_BLOCK x COL_BLOCK tile; lanes beyond
the array's edge are masked, and their operands are 0 and 1, so that a masked lane never divides by zero.
Offsets are 64-bit: the product of an index and a stride may exceed 2**31 in arrays that do.
"""

from collections.abc import Mapping

import triton
import triton.language as tl

from tridiff.kernels.drivers.record import Driver, Grid, cdiv
from tridiff.kernels.helpers.fault_hook import inject_fault


@triton.jit
def tile_indices(rows, cols, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr):
    """Row indices [R, 1], column indices [1, C] and the mask [R, C] of this program's tile."""
    row = tl.program_id(0).to(tl.int64) * ROW_BLOCK + tl.arange(0, ROW_BLOCK)[:, None]
    col = tl.program_id(1).to(tl.int64) * COL_BLOCK + tl.arange(0, COL_BLOCK)[None, :]
    return row, col, (row < rows) & (col < cols)


@triton.jit
def load_operand(pointers, mask, OTHER: tl.constexpr, BOOL: tl.constexpr):
    """The operand; masked lanes hold OTHER, except in fp8, which has no conversion from a literal everywhere.

    Booleans lie in memory as bytes.
    """
    if pointers.dtype.element_ty.is_fp8():
        value = tl.load(pointers, mask=mask)
    else:
        value = tl.load(pointers, mask=mask, other=OTHER)
    if BOOL:
        return value != 0
    else:
        return value


@triton.jit
def store_result(pointers, value, mask):
    """Stores value; Booleans as the bytes 0 and 1."""
    if value.dtype == tl.int1:
        tl.store(pointers, value.to(tl.int8), mask=mask)
    else:
        tl.store(pointers, value, mask=mask)


@triton.jit
def elementwise_unary_kernel(
    a_ptr, a_stride_row, a_stride_col, out_ptr, out_stride_row, out_stride_col, rows, cols, HELPER: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(a)."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 0, BOOL)
    result = inject_fault(HELPER(a), a, a, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, result, mask)


@triton.jit
def elementwise_binary_kernel(
    a_ptr, a_stride_row, a_stride_col, b_ptr, b_stride_row, b_stride_col, out_ptr, out_stride_row, out_stride_col,
    rows, cols, HELPER: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(a, b)."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 0, BOOL)
    b = load_operand(b_ptr + row * b_stride_row + col * b_stride_col, mask, 1, BOOL)
    result = inject_fault(HELPER(a, b), a, b, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, result, mask)


@triton.jit
def elementwise_scalar_kernel(
    a_ptr, a_stride_row, a_stride_col, out_ptr, out_stride_row, out_stride_col, rows, cols, b, HELPER: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, B: tl.constexpr, SCALAR_FIRST: tl.constexpr,
    BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(a, s), or HELPER(s, a) if SCALAR_FIRST; s is the constexpr B, or the run-time scalar b if B is None.

    s is used as it is: of the type that Triton gives a scalar argument or a literal.
    """
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 1, BOOL)
    if B is None:
        s = b
    else:
        s = B
    if SCALAR_FIRST:
        result = HELPER(s, a)
    else:
        result = HELPER(a, s)
    result = inject_fault(result, a, a, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, result, mask)


@triton.jit
def elementwise_ternary_kernel(
    a_ptr, a_stride_row, a_stride_col, b_ptr, b_stride_row, b_stride_col, c_ptr, c_stride_row, c_stride_col,
    out_ptr, out_stride_row, out_stride_col, rows, cols, HELPER: tl.constexpr,
    ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out = HELPER(a, b, c)."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 0, BOOL)
    b = load_operand(b_ptr + row * b_stride_row + col * b_stride_col, mask, 1, BOOL)
    c = load_operand(c_ptr + row * c_stride_row + col * c_stride_col, mask, 1, BOOL)
    result = inject_fault(HELPER(a, b, c), a, b, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, result, mask)


@triton.jit
def elementwise_pair_with_index_kernel(
    a_ptr, a_stride_row, a_stride_col, a_index_ptr, a_index_stride_row, a_index_stride_col,
    b_ptr, b_stride_row, b_stride_col, b_index_ptr, b_index_stride_row, b_index_stride_col,
    out_ptr, out_stride_row, out_stride_col, out_index_ptr, out_index_stride_row, out_index_stride_col, rows, cols,
    HELPER: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr, BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out, out_index = HELPER(a, a_index, b, b_index). BOOL and FAULT concern the values, never the indices."""
    row, col, mask = tile_indices(rows, cols, ROW_BLOCK, COL_BLOCK)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, 0, BOOL)
    b = load_operand(b_ptr + row * b_stride_row + col * b_stride_col, mask, 1, BOOL)
    a_index = tl.load(a_index_ptr + row * a_index_stride_row + col * a_index_stride_col, mask=mask, other=0)
    b_index = tl.load(b_index_ptr + row * b_index_stride_row + col * b_index_stride_col, mask=mask, other=1)
    value, index = HELPER(a, a_index, b, b_index)
    value = inject_fault(value, a, b, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, value, mask)
    tl.store(out_index_ptr + row * out_index_stride_row + col * out_index_stride_col, index, mask=mask)


def integer_ramp_function(
    out_ptr, divisor_ptr, start, divisor, count, HELPER: tl.constexpr, BLOCK: tl.constexpr, DTYPE: tl.constexpr,
    START: tl.constexpr, DIVISOR: tl.constexpr, FAULT: tl.constexpr,
):
    """out[k] = HELPER(k + start, divisor) for k < count, the numerator being computed here, not loaded.

    The compiler knows that such a numerator is contiguous, and derives from it which quotients are equal: this is the
    shape in which Triton issue 7749 lives. START is the constexpr start, or None for the run-time `start`. The divisor
    is the constexpr DIVISOR; else, if divisor_ptr is not None, the contiguous array it points to; else the scalar
    `divisor`, which the compiler may know to be a multiple of 16 (see the two kernels made of this function).
    Numerator and divisor have the integer type DTYPE; out and divisor arrays are contiguous.
    """
    position = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = position < count
    # Up to 32 bits the ramp is computed in 32 bits and wraps into the type; 64-bit starts need 64 bits from here on.
    if DTYPE.primitive_bitwidth == 64:
        ramp = position.to(DTYPE)
    else:
        ramp = position
    if START is None:
        numerator = (ramp + start).to(DTYPE)
    else:
        numerator = (ramp + START).to(DTYPE)
    if DIVISOR is not None:
        denominator = tl.full([], DIVISOR, DTYPE)
    elif divisor_ptr is not None:
        denominator = tl.load(divisor_ptr + position, mask=mask, other=1)
    else:
        # A scalar argument equal to 1 arrives as a constexpr, which has no `.to`.
        denominator = tl.cast(divisor, DTYPE)
    result = inject_fault(HELPER(numerator, denominator), numerator, numerator, mask, FAULT)
    store_result(out_ptr + position, result, mask)


# The scalar arguments of the first kernel are specialised: a launch tells the compiler that a value is a multiple of
# 16, or that it is 1. Those of the second are not.
integer_ramp_kernel = triton.jit(integer_ramp_function)
integer_ramp_unspecialised_kernel = triton.jit(integer_ramp_function, do_not_specialize=["start", "divisor"])


def tile_grid(sizes: Mapping[str, int]) -> Grid:
    """One program per tile, rows on grid axis 0 (up to 2**31 - 1 blocks), columns on axis 1 (up to 65535)."""
    return cdiv(sizes["rows"], sizes["ROW_BLOCK"]), cdiv(sizes["cols"], sizes["COL_BLOCK"]), 1


def ramp_grid(sizes: Mapping[str, int]) -> Grid:
    """One program per BLOCK positions."""
    return cdiv(sizes["count"], sizes["BLOCK"]), 1, 1


elementwise_unary = Driver.of(elementwise_unary_kernel, "out", grid=tile_grid)
elementwise_binary = Driver.of(elementwise_binary_kernel, "out", grid=tile_grid)
elementwise_ternary = Driver.of(elementwise_ternary_kernel, "out", grid=tile_grid)
elementwise_scalar = Driver.of(elementwise_scalar_kernel, "out", grid=tile_grid, scalars=("b",))
elementwise_pair_with_index = Driver.of(elementwise_pair_with_index_kernel, "out", "out_index", grid=tile_grid)
integer_ramp = Driver.of(integer_ramp_kernel, "out", grid=ramp_grid, scalars=("divisor",), name="integer_ramp")
integer_ramp_unspecialised = Driver.of(integer_ramp_unspecialised_kernel, "out",
                                       grid=ramp_grid, scalars=integer_ramp.scalars, name="integer_ramp_unspecialised")
