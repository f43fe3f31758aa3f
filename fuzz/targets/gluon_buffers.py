"""Gluon kernels that move data through shared memory."""

from functools import partial

from tridiff.fuzz.kinds.chains.buffers import atomic_chains, buffer_chains, gather_chains
from tridiff.fuzz.kinds.chains.target import chain_target, indexed_memory
from tridiff.fuzz.kinds.chains.views import view_chains
from tridiff.fuzz.known.chains.features import feature

TARGETS = (
    chain_target(
        name="gluon.view_chain", label=feature, chains=view_chains,
        contract="ttg_ops.md §3 and §5, memdesc views",
        summary="a buffer written and read through index, slice, transpose, reshape, reinterpret",
        faults=("subslice_shifted", "stale_slot", "swizzle_mismatch", "load_mask_dropped", "order_not_transposed",
                "store_missing")),
    chain_target(
        name="gluon.local_memory", label=feature, chains=buffer_chains,
        contract="ttg_ops.md §3, local_alloc to local_dealloc",
        summary="buffers that live beside and after one another, and rings filled ahead in loops",
        faults=("ring_slot_off_by_one", "swizzle_mismatch", "load_mask_dropped", "store_missing")),
    chain_target(
        name="gluon.gather_scatter", label=feature, chains=gather_chains, lacking=indexed_memory,
        contract="ttg_ops.md §3, local_gather and local_scatter",
        summary="elements of a buffer by index along an axis, read and written",
        faults=("gather_axis_swapped", "indices_shifted", "subslice_shifted", "swizzle_mismatch")),
    chain_target(
        name="gluon.atomics", label=feature, chains=atomic_chains,
        lacking=partial(indexed_memory, feature="shared-memory atomics"),
        contract="ttg_ops.md §3, local_atomic_scatter_rmw",
        summary="atomic updates of a buffer through colliding indices, and what they return",
        faults=("scatter_mask_dropped", "atomic_kind_swapped", "indices_shifted", "gather_axis_swapped")),
)
