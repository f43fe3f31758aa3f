"""Names of Gluon's language: where the installed Triton has them, and which targets reach what no row does."""

MODULES = {
    "gl": "triton.experimental.gluon.language",
    "ampere": "triton.experimental.gluon.language.nvidia.ampere",
    "async_copy": "triton.experimental.gluon.language.nvidia.ampere.async_copy",
    "hopper": "triton.experimental.gluon.language.nvidia.hopper",
    "mbarrier": "triton.experimental.gluon.language.nvidia.hopper.mbarrier",
    "tma": "triton.experimental.gluon.language.nvidia.hopper.tma",
    "cluster": "triton.experimental.gluon.language.nvidia.hopper.cluster",
}
"""Short name of each module; those that a version lacks are left out."""

METHODS = ("gl", "shared_memory_descriptor", "smem")
"""Module, class and short name of the class whose methods count."""

TARGETS: dict[str, str] = {
    **dict.fromkeys(("gl.DistributedLinearLayout", "gl.DotOperandLayout", "gl.NVMMADistributedLayout",
                     "gl.convert_layout", "gl.SliceLayout", "gl.BlockedLayout"), "gluon.convert_layout"),
    **dict.fromkeys(("gl.PaddedSharedLayout", "gl.SharedLinearLayout", "gl.SwizzledSharedLayout",
                     "gl.NVMMASharedLayout", "smem.index", "smem.slice", "smem.permute", "smem.reshape",
                     "smem.reinterpret"), "gluon.view_chain"),
    **dict.fromkeys(("gl.allocate_shared_memory", "smem.load", "smem.store", "gl.barrier", "gl.thread_barrier"),
                    "gluon.local_memory"),
    **dict.fromkeys(("smem.gather", "smem.scatter"), "gluon.gather_scatter"),
    **{f"smem.atomic_scatter_{op}": "gluon.atomics" for op in ("add", "and", "max", "min", "or", "xchg", "xor")},
    "gl.constexpr": "every kernel of a call",
    "gl.fp4_to_fp": "gluon.fp4", "gl.warp_specialize": "warp_specialize.ring",
    **dict.fromkeys(("async_copy.async_copy_global_to_shared", "async_copy.async_load", "async_copy.commit_group",
                     "async_copy.wait_group", "async_copy.mbarrier_arrive"), "async.copy_ring"),
    **{f"mbarrier.{name}": "mbarrier.phases"
       for name in ("MBarrierLayout", "allocate_mbarrier", "arrive", "expect", "init", "invalidate", "wait")},
    **{f"hopper.{name}": "wgmma.chain" for name in ("warpgroup_mma", "warpgroup_mma_init", "warpgroup_mma_wait")},
    "hopper.fence_async_shared": "tma.load_store", "hopper.async_store": "cluster.exchange",
    "cluster.barrier": "cluster.exchange",
    # The operations; in 3.8.0 cluster.exchange calls most of these functions.
    **dict.fromkeys(("cluster.arrive", "cluster.wait", "mbarrier.fence_init_release_cluster",
                     "mbarrier.sync_cluster_init"), "ttgir.cluster"),
    **{f"tma.{name}": "tma.load_store" for name in ("async_copy_global_to_shared", "async_copy_shared_to_global",
                                                     "async_load", "async_store", "store_wait")},
    "tma.make_tensor_descriptor": "tma.boxes", "tma.tensor_descriptor": "tma.boxes",
    **dict.fromkeys(("tma.async_load_im2col", "tma.tensor_descriptor_im2col"), "launch.descriptors"),
    **{f"tma.async_atomic_{op}": "tma.reduce" for op in ("add", "and", "max", "min", "or", "xor")},
}
"""Where a name of Gluon is reached that has no row."""

REFUSED: dict[str, str] = {
    **dict.fromkeys(("hopper.warpgroup_mma_accumulator", "hopper.unflatten_ir_values", "ampere.DotOperandLayout",
                     "ampere.NVMMADistributedLayout", "tma.NVMMASharedLayout", "tma.CachePolicy", "hopper.CachePolicy",
                     "hopper.FractionalEvictionPolicy"), "imported there for its own use"),
    "tma.async_copy_global_to_shared_im2col": "gone: the call says so, and names async_load_im2col",
}
"""What is no function of its own, or not any more."""

NO_FUNCTIONS = ("annotations", "builtin", "constexpr_function", "jit", "dataclass", "constexpr_type", "mma_v2",
                "distributed_type", "shared_memory_descriptor", "shared_memory_descriptor_type",
                "warpgroup_mma_accumulator_type", "tensor_descriptor_type", "tensor_descriptor_im2col_type",
                "base_type", "base_value", "tuple", "unflatten_ir_values", "fpsan", "List", "Tuple", "TYPE_CHECKING")
"""Public names that compute nothing, or are another module's."""
