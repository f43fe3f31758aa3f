"""Deliberately broken variants of `bucketize_binary_search`, to measure whether a test would notice.

The search is written once, with the place of every fault marked; each variant has the helper's signature and
differs from it on the input in its docstring.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table, variants


@triton.jit
def faulty_search(
    values, boundaries_ptr, BOUNDARIES_SIZE, BOUNDARIES_UNDERLYING_NUMEL, BOUNDARIES_STRIDE, boundary_indices,
    indexing_dtype: tl.constexpr, right: tl.constexpr, sorter_ptr, SORTER_STRIDE, sorter_indices, WRONG: tl.constexpr,
):
    """The search with the fault called WRONG."""
    low = tl.zeros(values.shape, dtype=indexing_dtype)
    high = tl.full(values.shape, BOUNDARIES_SIZE, dtype=indexing_dtype)
    if WRONG == "last_boundary_skipped":
        high = tl.maximum(high - 1, 0)
    row = tl.cast(boundary_indices, tl.int64)
    stride = tl.cast(BOUNDARIES_STRIDE, tl.int64)
    if WRONG == "row_offset_ignored":
        row = row * 0
    if WRONG == "stride_ignored":
        stride = stride * 0 + 1
    if BOUNDARIES_SIZE > 0:
        remaining = tl.cast(BOUNDARIES_SIZE, tl.int64)
        if WRONG == "one_probe_too_few":
            remaining = remaining >> 1
        while remaining > 0:
            if WRONG == "midpoint_overflow":
                middle = (low + high) // 2
            else:
                middle = low + ((high - low) >> 1)
            open_lane = low < high
            position = middle.to(tl.int64)
            if (sorter_ptr is not None) and (WRONG != "sorter_ignored"):
                entry = tl.cast(sorter_indices, tl.int64) + tl.cast(SORTER_STRIDE, tl.int64) * position
                position = tl.load(sorter_ptr + entry, mask=open_lane & (middle >= 0), other=0).to(tl.int64)
            address = row + stride * position
            readable = open_lane & (address >= 0) & (address < BOUNDARIES_UNDERLYING_NUMEL)
            boundary = tl.load(boundaries_ptr + address, mask=readable, other=0)
            if WRONG == "sides_swapped":
                not_below = (boundary >= values) if right else (boundary > values)
            elif WRONG == "nan_boundary_on_top":
                if right:
                    not_below = (boundary <= values) ^ True
                else:
                    not_below = (boundary < values) ^ True
                not_below = not_below & (values == values)
            elif right:
                not_below = boundary > values
            else:
                not_below = boundary >= values
            if WRONG == "nan_value_at_bottom":
                not_below = not_below | (values != values)
            below = readable & (not_below ^ True)
            low = tl.where(below, middle + 1, low)
            high = tl.where(below, high, middle)
            remaining = remaining >> 1
    return low


@triton.jit
def sides_swapped(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """>= for > and the reverse: 2 in [1, 2, 3] gives 2 for right=False instead of 1."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "sides_swapped")


@triton.jit
def last_boundary_skipped(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """Starts at SIZE - 1: 5 in [1, 2, 3] gives 2 instead of 3."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "last_boundary_skipped")


@triton.jit
def one_probe_too_few(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """Probes log2(SIZE) times: 5 in [1] gives 0 instead of 1."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "one_probe_too_few")


@triton.jit
def midpoint_overflow(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """(low + high) // 2 in the index type: 1 in 2^31 - 1 zeros (stride 0), int32, is below SIZE."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "midpoint_overflow")


@triton.jit
def nan_boundary_on_top(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """numpy's rule, NaN above every number: 5 in [1, 2, NaN] gives 2 instead of 3."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "nan_boundary_on_top")


@triton.jit
def nan_value_at_bottom(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """NaN below every boundary: NaN in [1] gives 0 instead of 1."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "nan_value_at_bottom")


@triton.jit
def stride_ignored(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """Boundaries one element apart: 3 in every other element of [0, 9, 2, 9] gives 1 instead of 2."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "stride_ignored")


@triton.jit
def row_offset_ignored(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """Always the first row: 5 in the second of the rows [1], [9] gives 1 instead of 0."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "row_offset_ignored")


@triton.jit
def sorter_ignored(v, b, SIZE, NUMEL, STRIDE, row, index: tl.constexpr, right: tl.constexpr, s, S_STRIDE, s_row):
    """Takes the boundaries for sorted: 5 in [9, 1] with sorter [1, 0] gives 2 instead of 1."""
    return faulty_search(v, b, SIZE, NUMEL, STRIDE, row, index, right, s, S_STRIDE, s_row, "sorter_ignored")


MUTANTS = mutant_table({
    "bucketize_binary_search": variants(sides_swapped, last_boundary_skipped, one_probe_too_few, midpoint_overflow,
        nan_boundary_on_top, nan_value_at_bottom, stride_ignored, row_offset_ignored, sorter_ignored)})
