"""Branch-free binary search of many values in rows of sorted boundaries (contract: helpers.md §10).

Deviations of the reference implementations that this one does not have:

* A NaN boundary counts as below every value, as in torch. Asking `not (b >= v)` instead of `b < v` gives both
  NaN rules at once: a NaN on either side makes the comparison false, so the boundary counts as below.
* The midpoint cannot overflow. `(low + high) // 2` wraps in int32 once a row has 2^30 boundaries. The
  half-width is taken with a shift because it is never negative: no signed division reaches the compiler.
* The number of probes is the bit length of SIZE, obtained by halving SIZE itself. `SIZE + 1`, the usual
  start, wraps for SIZE = 2^31 - 1 held in int32.
* The address behind a sorter entry is checked, not only the probe, so a corrupt sorter cannot read out of
  bounds.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.extrema import comparable


@triton.jit
def bucketize_binary_search(
    values, boundaries_ptr, BOUNDARIES_SIZE, BOUNDARIES_UNDERLYING_NUMEL, BOUNDARIES_STRIDE, boundary_indices,
    indexing_dtype: tl.constexpr, right: tl.constexpr, sorter_ptr, SORTER_STRIDE, sorter_indices,
):
    """Number of boundaries of the row that are below each value; contract: helpers.md §10.

    values: block of any integer or floating dtype but fp8. boundaries_ptr: pointer to the same dtype.
    BOUNDARIES_SIZE: boundaries per row, 0 allowed. BOUNDARIES_UNDERLYING_NUMEL: elements readable behind the
    pointer. BOUNDARIES_STRIDE: elements between the boundaries of a row, 0 allowed. boundary_indices: block
    shaped like values (or a scalar), element offset of the row of each value. right=False counts b < v,
    right=True counts b <= v; every boundary is below a NaN and every NaN boundary is below everything (NaN
    boundaries belong at the end of the row). sorter_ptr: None, or a pointer to integers; boundary k of the
    row is then boundaries[sorter[k]], with SORTER_STRIDE and sorter_indices playing the roles of stride and
    row offset for the sorter.

    Returns a block of indexing_dtype (tl.int32 or tl.int64, wide enough for SIZE) with the shape of values;
    each entry is in 0..SIZE even when the row is not sorted. A boundary whose address is outside
    0..UNDERLYING_NUMEL-1 is not read and counts as not below.

    The argument order is that of torch 2.13.
    """
    tl.static_assert(
        (indexing_dtype == tl.int32) | (indexing_dtype == tl.int64), "indexing_dtype must be int32 or int64"
    )
    sought = comparable(values)
    low = tl.zeros(values.shape, dtype=indexing_dtype)
    high = tl.full(values.shape, BOUNDARIES_SIZE, dtype=indexing_dtype)
    # Addresses are always 64-bit: the row offset may be, whatever the index type of the result.
    row = tl.cast(boundary_indices, tl.int64)
    stride = tl.cast(BOUNDARIES_STRIDE, tl.int64)

    # Triton 3.6.0 crashes on a loop that it can prove to be dead: a literal SIZE of 0 must not leave one behind.
    if BOUNDARIES_SIZE > 0:
        # An interval of n candidates leaves at most n >> 1, so the bit length of SIZE probes finish every lane. A
        # run-time bound, the same for all lanes: no lane influences another.
        remaining = tl.cast(BOUNDARIES_SIZE, tl.int64)
        while remaining > 0:
            middle = low + ((high - low) >> 1)
            open_lane = low < high
            if sorter_ptr is None:
                position = middle.to(tl.int64)
            else:
                entry = tl.cast(sorter_indices, tl.int64) + tl.cast(SORTER_STRIDE, tl.int64) * middle.to(tl.int64)
                position = tl.load(sorter_ptr + entry, mask=open_lane, other=0).to(tl.int64)
            address = row + stride * position
            readable = open_lane & (address >= 0) & (address < BOUNDARIES_UNDERLYING_NUMEL)
            boundary = comparable(tl.load(boundaries_ptr + address, mask=readable, other=0))
            if right:
                not_below = boundary > sought
            else:
                not_below = boundary >= sought
            below = readable & (not_below ^ True)
            low = tl.where(below, middle + 1, low)
            high = tl.where(below, high, middle)
            remaining = remaining >> 1
    return low
