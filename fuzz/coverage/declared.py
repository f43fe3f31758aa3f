"""Operations that the ledger must see, per version, and where those are reached that an H200 cannot run.

Data only (contract: ttg_ops.md §1, §3 and §4). A version is told by what it has, `flavour` says by which word.
"""

from dataclasses import dataclass
from typing import Literal

from tridiff.fuzz.versions import offers

Reach = Literal["run", "passes", "sm_100", "clusters", "absent"]
"""run: a kernel on sm_90. passes: only between two passes of the compiler. sm_100: only compiled, for that chip.
clusters: only in kernels of several blocks. absent: not registered."""


@dataclass(frozen=True)
class Declared:
    """One operation. old, new: how it is reached in the version without and with `gl.barrier` (3.6 and 3.9).
    parameters: whether it has any, so that one cell would say little."""

    name: str
    old: Reach = "run"
    new: Reach = "run"
    parameters: bool = True


TTG = (
    Declared("ttg.async_commit_group", parameters=False),
    Declared("ttg.async_copy_global_to_local"),
    Declared("ttg.async_wait"),
    Declared("ttg.barrier", old="absent", parameters=False),
    Declared("ttg.convert_layout"),
    Declared("ttg.fp4_to_fp"),
    Declared("ttg.global_scratch_alloc"),
    Declared("ttg.local_alloc"),
    Declared("ttg.local_atomic_scatter_rmw", old="absent"),
    Declared("ttg.local_dealloc"),
    Declared("ttg.local_gather", old="absent"),
    Declared("ttg.local_load"),
    Declared("ttg.local_scatter", old="absent"),
    Declared("ttg.local_store"),
    Declared("ttg.mask", old="passes", new="passes"),
    Declared("ttg.mask.return", old="passes", new="passes", parameters=False),
    Declared("ttg.memdesc_index"),
    Declared("ttg.memdesc_reinterpret"),
    Declared("ttg.memdesc_reshape"),
    Declared("ttg.memdesc_subslice"),
    Declared("ttg.memdesc_trans"),
    Declared("ttg.predicate_stage", old="passes", new="passes"),
    Declared("ttg.warp_id", old="absent", parameters=False),
    Declared("ttg.warp_return", parameters=False),
    Declared("ttg.warp_specialize"),
    Declared("ttg.warp_specialize.partitions"),
    Declared("ttg.warp_yield", parameters=False),
)
"""The 27 operations of the dialect."""

OLDER = (
    Declared("gpu.barrier", parameters=False),
    Declared("ttg.local_barrier", new="absent", parameters=False),
    Declared("nvg.warp_id", new="absent", parameters=False),
)
"""What stands in for newer operations in the older version."""

HOPPER = (
    Declared("ttng.init_barrier"),
    Declared("ttng.inval_barrier", parameters=False),
    Declared("ttng.barrier_expect"),
    Declared("ttng.arrive_barrier"),
    Declared("ttng.wait_barrier"),
    Declared("ttng.async_copy_mbarrier_arrive", parameters=False),
    Declared("ttng.async_tma_copy_global_to_local"),
    Declared("ttng.async_tma_copy_local_to_global"),
    Declared("ttng.async_tma_store_wait"),
    Declared("ttng.async_tma_reduce"),
    Declared("ttng.async_tma_gather", old="sm_100", new="sm_100"),
    Declared("ttng.async_tma_scatter", old="sm_100", new="sm_100"),
    Declared("ttng.fence_async_shared"),
    Declared("ttng.warp_group_dot"),
    Declared("ttng.warp_group_dot_wait"),
    Declared("ttng.tensormap_create"),
    Declared("ttng.tensormap_fenceproxy_acquire", parameters=False),
    Declared("ttng.reinterpret_tensor_descriptor"),
    Declared("ttng.cluster_arrive", old="clusters", new="absent"),
    Declared("ttng.cluster_wait", old="clusters", new="absent"),
    Declared("ttng.cluster_barrier", old="absent", new="clusters"),
    Declared("ttng.async_shared_store", old="absent", new="clusters"),
    Declared("ttng.fence_mbarrier_init_release_cluster", old="absent", new="clusters", parameters=False),
    Declared("ttng.map_to_remote_buffer", old="absent", new="absent"),
)
"""Companions of the dialect on Hopper."""

DECLARED = (*TTG, *OLDER, *HOPPER)


def flavour(triton_version: str) -> Literal["old", "new"]:
    """Which column of the table a record of this Triton version belongs to."""
    return "new" if offers(triton_version, "ttg.barrier") else "old"
