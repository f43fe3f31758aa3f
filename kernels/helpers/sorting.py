"""Bitonic sort of (key, index) pairs along the last axis (contract: helpers.md §13).

The network works on whole pairs: the axis is viewed as [.., 2, STRIDE], both halves are split off, compared
once and joined again. Nothing is computed on keys or indices, they are only selected; so every dtype moves
bit for bit (NaN payloads, -0.0, 8 and 16-bit keys, bool), the index dtype is kept, and overflow checks have
nothing to trip over. One comparison decides for both halves, so a pair cannot be torn.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.extrema import comparable, is_nan
from tridiff.kernels.helpers.host_drivers import _log2


@triton.jit
def comes_after(left, right, left_index, right_index, rnumel, stable: tl.constexpr, descending: tl.constexpr):
    """True where left must stand behind right: the strict order that `sort_with_index` sorts by.

    Valid before padded, then the key with NaN as the largest, then (stable) the index. The order is the same
    for both positions of a pair, whatever the direction of the sort: `descending` reverses the keys, never
    padding or ties.
    """
    left_key = comparable(left)
    right_key = comparable(right)
    left_above = (left_key > right_key) | (is_nan(left_key) & (is_nan(right_key) ^ True))
    right_above = (left_key < right_key) | (is_nan(right_key) & (is_nan(left_key) ^ True))
    if descending:
        after = right_above
        before = left_above
    else:
        after = left_above
        before = right_above
    if stable:
        after = after | (((after | before) ^ True) & (left_index > right_index))
    if rnumel is not None:
        left_valid = left_index < rnumel
        right_valid = right_index < rnumel
        after = ((left_valid ^ True) & right_valid) | ((left_valid == right_valid) & after)
    return after


@triton.jit
def split_pairs(x, STRIDE: tl.constexpr):
    """x viewed as pairs of elements STRIDE apart: (first of each pair, second), both [numel / (2 STRIDE), STRIDE]."""
    pairs = tl.reshape(x, (x.numel // (2 * STRIDE), 2, STRIDE))
    return tl.split(tl.permute(pairs, (0, 2, 1)))


@triton.jit
def join_pairs(first, second, SHAPE: tl.constexpr):
    """Inverse of `split_pairs`."""
    return tl.reshape(tl.permute(tl.join(first, second), (0, 2, 1)), SHAPE)


@triton.jit
def _compare_and_swap_with_index(
    x, idxs, rnumel, flip: tl.constexpr, i: tl.constexpr, n_dims: tl.constexpr, stable: tl.constexpr,
    descending: tl.constexpr,
):
    """One layer of comparators between elements 2^(n_dims - 1 - i) apart on rows of length 2^n_dims.

    flip: length of the runs that are ordered alternately forwards and backwards, or 0 for all forwards.
    """
    STRIDE: tl.constexpr = 2 ** (n_dims - 1 - i)
    left, right = split_pairs(x, STRIDE)
    left_index, right_index = split_pairs(idxs, STRIDE)
    swap = comes_after(left, right, left_index, right_index, rnumel, stable, descending)
    if flip > 0:
        start_of_pair = tl.arange(0, x.numel // (2 * STRIDE))[:, None] * (2 * STRIDE)
        backwards = ((start_of_pair // flip) & 1) != 0
        swap = swap ^ backwards
    x = join_pairs(tl.where(swap, right, left), tl.where(swap, left, right), x.shape)
    idxs = join_pairs(tl.where(swap, right_index, left_index), tl.where(swap, left_index, right_index), idxs.shape)
    return x, idxs


@triton.jit
def _bitonic_merge_with_index(
    x, idxs, rnumel, stage: tl.constexpr, alternating: tl.constexpr, n_dims: tl.constexpr, stable: tl.constexpr,
    descending: tl.constexpr,
):
    """Merges bitonic runs of length 2^stage into sorted ones, alternately up and down when `alternating`."""
    flip: tl.constexpr = 2**stage if alternating else 0
    for i in tl.static_range(stage):
        x, idxs = _compare_and_swap_with_index(x, idxs, rnumel, flip, i + (n_dims - stage), n_dims, stable, descending)
    return x, idxs


@triton.jit
def sort_with_index(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False,
):
    """Sorts the last axis of x and carries idxs along; contract: helpers.md §13.

    x: block of any dtype but fp8; its last axis is a power of two. idxs: i16, i32 or i64 block that
    broadcasts against x and holds the initial positions 0..N-1. rnumel: None, or the number of valid
    elements: those with an index >= rnumel sort behind all others in either direction. dim: None or the last
    axis, anything else is a compile-time error.

    Order: ascending with NaN last or descending with NaN first, +0 and -0 equal. stable keeps equal keys (all
    NaNs are equal) in ascending index order in both directions; otherwise their order is unspecified. Returns
    (keys, indices) in the dtypes of the arguments, a permutation of the pairs.
    """
    x, idxs = tl.broadcast(x, idxs)
    LAST: tl.constexpr = len(x.shape) - 1
    tl.static_assert(
        (dim is None) or (dim == LAST) or (dim == -1), "sort_with_index sorts only the last axis: pass dim=None"
    )
    n_dims: tl.constexpr = _log2(x.shape[LAST])
    for stage in tl.static_range(1, n_dims + 1):
        x, idxs = _bitonic_merge_with_index(x, idxs, rnumel, stage, stage < n_dims, n_dims, stable, descending)
    return x, idxs
