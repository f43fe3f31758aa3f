"""What the IR of a plan's kernel must contain: operations, and the registers that its partitions ask for."""

import re

from tridiff.fuzz.kinds.plans.cases import plan_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.verdicts import Refuted
from tridiff.kernels.pipelines.plan import Dot, Plan, TmaStore, even_share, needs_barrier


def operations(plan: Plan) -> frozenset[str]:
    """Operations that the plan must bring into the IR."""
    copies = {source.copy for source in plan.sources}
    found = {"ttg.local_alloc"}
    if plan.tiles:
        found |= {"ttg.memdesc_index"}
    if any(needs_barrier(plan, number) for number in range(len(plan.sources))):
        found |= {"ttng.init_barrier", "ttng.wait_barrier", "ttng.inval_barrier"}
    if any(copy.startswith("cp_") for copy in copies):
        found.add("ttg.async_copy_global_to_local")
    if "cp_async" in copies:
        found |= {"ttg.async_commit_group", "ttg.async_wait"}
    if copies & {"cp_arrive", "cp_arrive_counted"}:
        found.add("ttng.async_copy_mbarrier_arrive")
    if "tma" in copies:
        found |= {"ttng.barrier_expect", "ttng.async_tma_copy_global_to_local"}
    if "registers" in copies:
        found.add("ttg.local_store")
    sink = plan.sink
    if isinstance(sink, TmaStore):
        found |= {"ttng.async_tma_store_wait", "ttng.fence_async_shared", "ttg.local_store",
                  "ttng.async_tma_reduce" if sink.reduce else "ttng.async_tma_copy_local_to_global"}
    if "tma" in copies or isinstance(sink, TmaStore):
        found |= {"ttg.global_scratch_alloc", "ttng.tensormap_create"}
    if isinstance(sink, Dot):
        found.add("ttng.warp_group_dot")
        found |= {"ttng.warp_group_dot_wait"} if sink.asynchronous else set()
    if plan.workers:
        found |= {"ttg.warp_specialize", "ttg.warp_yield", "ttg.warp_return"}
        # Slots come back once `depth` later multiplications have been issued, which few tiles never see.
        found |= {"ttng.arrive_barrier"} if plan.tiles > getattr(sink, "depth", 0) else set()
    if plan.tiles and not (isinstance(sink, Dot) and not sink.registers):
        found.add("ttg.local_load")
    if not plan.tiles:
        return frozenset()
    # Loops without iterations disappear, and everything in them.
    return frozenset(found) if plan.tiles > max(plan.ahead, 0) or (plan.loop == "range" and plan.tiles != 1) else (
        frozenset({"ttg.local_alloc"}))


def expected_ir(case: Case) -> frozenset[str]:
    """`operations` of the case's plan."""
    return operations(plan_of(case))


def check_registers(plan: Plan, ttgir: str) -> None:
    """Raise Refuted unless the IR asks for as many registers as the plan.

    ttgir: text of the compiled kernel; "" (a kernel that was compiled before) is not looked at.
    """
    if not ttgir:
        return
    asked = [worker.registers for worker in plan.workers]
    found = re.search(r"requestedRegisters = array<i32: ([\d, ]+)>", ttgir)
    given = [int(one) for one in found[1].split(",")] if found else []
    # Left to the compiler, which a version that wants requests is not: it is asked for even shares.
    wanted = (asked,) if None not in asked else ([], [even_share(plan)] * len(asked))
    # Partitions without a tile may have nothing in them, and be gone.
    kept = plan.tiles or "ttg.warp_specialize" in ttgir
    if plan.workers and kept and given not in wanted:
        raise Refuted("register_request", "ttgir", f"asked for {asked} registers, the IR asks for {given}")
