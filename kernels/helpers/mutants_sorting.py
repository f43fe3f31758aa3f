"""Deliberately broken variants of `sort_with_index`, to measure whether a test would notice.

The network is the helper's, with the place of every fault marked; each variant has the helper's signature and
differs from it on the row in its docstring (ascending, unstable, no padding, unless it says otherwise).
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.extrema import comparable, is_nan
from tridiff.kernels.helpers.host_drivers import _log2
from tridiff.kernels.helpers.mutant_table import mutant_table, variants
from tridiff.kernels.helpers.sorting import join_pairs, split_pairs


@triton.jit
def faulty_order(
    left, right, left_index, right_index, rnumel, stable: tl.constexpr, descending: tl.constexpr, WRONG: tl.constexpr,
):
    """The order of the pairs with the fault called WRONG."""
    if WRONG == "keys_rounded_to_fp32":
        left_key = left.to(tl.float32)
        right_key = right.to(tl.float32)
    else:
        left_key = comparable(left)
        right_key = comparable(right)
    left_nan = is_nan(left_key)
    right_nan = is_nan(right_key)
    if WRONG == "nan_unordered":
        left_nan = left_nan & False
        right_nan = right_nan & False
    NAN_SMALLEST: tl.constexpr = (WRONG == "nan_first") or (descending and WRONG == "nan_last_when_descending")
    left_above = left_nan & (right_nan ^ True)
    right_above = right_nan & (left_nan ^ True)
    if NAN_SMALLEST:
        left_above, right_above = right_above, left_above
    if descending:
        after = (left_key < right_key) | right_above
        before = (left_key > right_key) | left_above
    else:
        after = (left_key > right_key) | left_above
        before = (left_key < right_key) | right_above
    if stable and WRONG != "ties_left_alone":
        tied = (after | before) ^ True
        if WRONG == "ties_reversed" or (WRONG == "ties_reversed_when_descending" and descending):
            after = after | (tied & (left_index < right_index))
        else:
            after = after | (tied & (left_index > right_index))
    if rnumel is not None and WRONG != "padding_valid":
        left_valid = left_index < rnumel
        right_valid = right_index < rnumel
        padding_after = (left_valid ^ True) & right_valid
        if WRONG == "padding_first_when_descending" and descending:
            padding_after = left_valid & (right_valid ^ True)
        after = padding_after | ((left_valid == right_valid) & after)
    return after


@triton.jit
def faulty_layer(
    x, idxs, rnumel, stage: tl.constexpr, step: tl.constexpr, n_dims: tl.constexpr,
    stable: tl.constexpr, descending: tl.constexpr, WRONG: tl.constexpr,
):
    """One layer of comparators with the fault called WRONG."""
    STRIDE: tl.constexpr = 2 ** (stage - 1 - step)
    left, right = split_pairs(x, STRIDE)
    left_index, right_index = split_pairs(idxs, STRIDE)
    swap = faulty_order(left, right, left_index, right_index, rnumel, stable, descending, WRONG)
    if stage < n_dims and WRONG != "runs_not_alternating":
        start = tl.arange(0, x.numel // (2 * STRIDE))[:, None] * (2 * STRIDE)
        swap = swap ^ (((start >> stage) & 1) != 0)
    if (stage == n_dims and step == stage - 1) and WRONG == "last_layer_missing":
        swap = swap & False
    x = join_pairs(tl.where(swap, right, left), tl.where(swap, left, right), x.shape)
    if WRONG != "index_stays":
        first_index = tl.where(swap, right_index, left_index)
        idxs = join_pairs(first_index, tl.where(swap, left_index, right_index), idxs.shape)
    return x, idxs


@triton.jit
def faulty_sort(
    x, idxs, rnumel, dim: tl.constexpr, stable: tl.constexpr, descending: tl.constexpr, WRONG: tl.constexpr
):
    """The network with the fault called WRONG."""
    x, idxs = tl.broadcast(x, idxs)
    n_dims: tl.constexpr = _log2(x.shape[len(x.shape) - 1])
    for stage in tl.static_range(1, n_dims + 1):
        for step in tl.static_range(stage):
            x, idxs = faulty_layer(x, idxs, rnumel, stage, step, n_dims, stable, descending, WRONG)
    return x, idxs


@triton.jit
def nan_first(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """NaN smaller than every number: [NaN, 1] stays instead of giving [1, NaN]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "nan_first")


@triton.jit
def nan_unordered(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """Every comparison with NaN is false: [NaN, 1] stays instead of giving [1, NaN]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "nan_unordered")


@triton.jit
def nan_last_when_descending(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """NaN last in both directions: [1, NaN] descending stays instead of giving [NaN, 1]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "nan_last_when_descending")


@triton.jit
def ties_left_alone(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """The stable flag has no effect: [0, 0, 0, 0] stable gives the indices [0, 1, 3, 2]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "ties_left_alone")


@triton.jit
def ties_reversed(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """Equal keys in descending index order: [0, 0] stable gives the indices [1, 0] instead of [0, 1]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "ties_reversed")


@triton.jit
def ties_reversed_when_descending(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """A descending sort made by reversing an ascending one: [0, 0] stable descending gives the indices [1, 0]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "ties_reversed_when_descending")


@triton.jit
def padding_valid(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """Padding takes part as a value: [1, 2, 3] padded with 0 gives [0, 1, 2] instead of [1, 2, 3]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "padding_valid")


@triton.jit
def padding_first_when_descending(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """Validity reversed with the keys: [1, 2, 3] padded with 0, descending, gives [0, 3, 2]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "padding_first_when_descending")


@triton.jit
def index_stays(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """Keys move, indices do not: [2, 1] gives the indices [0, 1] instead of [1, 0]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "index_stays")


@triton.jit
def runs_not_alternating(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """All runs ordered the same way, so the merge has nothing bitonic: [1, 0, 0, 1] gives [0, 1, 0, 1]."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "runs_not_alternating")


@triton.jit
def last_layer_missing(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """The last layer of comparators never swaps: [2, 1] stays."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "last_layer_missing")


@triton.jit
def keys_rounded_to_fp32(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False
):
    """Compares in fp32: the int32 or fp64 row [2^24 + 1, 2^24] stays."""
    return faulty_sort(x, idxs, rnumel, dim, stable, descending, "keys_rounded_to_fp32")


MUTANTS = mutant_table({
    "sort_with_index": variants(nan_first, nan_unordered, nan_last_when_descending, ties_left_alone, ties_reversed,
        ties_reversed_when_descending, padding_valid, padding_first_when_descending, index_stays, runs_not_alternating,
        last_layer_missing, keys_rounded_to_fp32)})
