"""Adapters for the helpers of the installed torch whose call differs between its versions.

The rest of `torch._inductor.runtime.triton_helpers` is used as it is.
"""

import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers


@triton.jit
def _bucketize_with_block_shape(
    values, boundaries_ptr, BOUNDARIES_SIZE, BOUNDARIES_UNDERLYING_NUMEL, BOUNDARIES_STRIDE, boundary_indices,
    indexing_dtype: tl.constexpr, right: tl.constexpr, sorter_ptr, SORTER_STRIDE, sorter_indices,
):
    """The 11-argument call, for a helper that wants the shape of values as a 12th (torch 2.6)."""
    return triton_helpers.bucketize_binary_search(
        values, boundaries_ptr, BOUNDARIES_SIZE, BOUNDARIES_UNDERLYING_NUMEL, BOUNDARIES_STRIDE, boundary_indices,
        indexing_dtype, right, sorter_ptr, SORTER_STRIDE, sorter_indices, values.shape,
    )


bucketize_binary_search = (
    _bucketize_with_block_shape
    if "BLOCK_SHAPE" in triton_helpers.bucketize_binary_search.arg_names
    else triton_helpers.bucketize_binary_search
)
