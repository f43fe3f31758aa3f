"""Pipelined Gluon kernels: rings of asynchronous copies, TMA, mbarriers, tensor cores, warp specialisation."""

from tridiff.fuzz.kinds.plans.targets import FAULTS, pipeline_target

_MOVABLE = ("i8", "i16", "i32", "i64", "u32", "fp16", "bf16", "fp32")

TARGETS = (
    pipeline_target(
        "async.copy_ring", "copy_ring", dtypes=_MOVABLE,
        summary="cp.async groups into a ring of buffers, then a chain of operations",
        contract="ttg_ops.md §3 (async_copy_global_to_local, async_commit_group, async_wait)",
        faults=("missing_wait", "wait_one_too_shallow", "missing_commit", "read_one_stage_early", "predicate_dropped")),
    pipeline_target(
        "tma.load_store", "tma", dtypes=tuple(d for d in _MOVABLE if d != "i64"),
        summary="TMA loads counted on mbarriers, TMA stores from staging buffers, boxes over the edge",
        contract="ttg_ops.md §4 (async_tma_copy_global_to_local, async_tma_copy_local_to_global)",
        faults=("missing_wait", "wrong_phase", "arrive_count_one_too_high", "missing_proxy_fence",
                "read_one_stage_early", "expect_half_the_bytes", "expect_twice_the_bytes", "store_wait_missing",
                "store_wait_one_too_shallow", "predicate_dropped")),
    pipeline_target(
        "tma.reduce", "reduce", dtypes=("i32", "u32", "fp32", "fp16", "bf16"),
        summary="TMA reductions of many programs into one matrix", contract="ttg_ops.md §4 (async_tma_reduce)",
        faults=("missing_proxy_fence", "store_wait_missing", "store_wait_one_too_shallow")),
    pipeline_target(
        "mbarrier.phases", "phases", dtypes=_MOVABLE,
        summary="slots guarded by mbarriers: bytes, copies of every thread, several arrivals",
        contract="ttg_ops.md §4 (init_barrier, barrier_expect, wait_barrier, async_copy_mbarrier_arrive)",
        faults=("missing_wait", "wrong_phase", "arrive_count_one_too_high", "arrive_count_one_too_low",
                "missing_arrive", "read_one_stage_early", "released_before_read")),
    pipeline_target(
        "wgmma.chain", "dot", dtypes=("fp16", "bf16", "i8", "fp32", "fp8e5", "fp8e4nv"),
        summary="warp-group multiplications in flight over a ring of operands",
        contract="ttg_ops.md §4 (warp_group_dot, warp_group_dot_wait); oracles.md §4",
        faults=("missing_wait", "wait_one_too_shallow", "missing_commit", "wrong_phase", "missing_proxy_fence",
                "read_one_stage_early", "reused_before_dot_wait")),
    pipeline_target(
        "warp_specialize.ring", "specialised", dtypes=_MOVABLE,
        summary="partitions of warps that load, compute and store, passing tiles through rings",
        contract="ttg_ops.md §3 (warp_specialize, warp_yield, warp_return)",
        faults=tuple(fault for fault in FAULTS if fault != "reused_before_dot_wait")),
)
