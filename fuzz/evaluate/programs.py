"""What a program knows of the grid, assertions, and operations that compute nothing."""

from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import DeviceAssertFailed
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives, means


@means("tt.get_program_id")
def number(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.asarray(machine.program["xyz".index(operation.words[0])], dtype=np.int32)


@means("tt.get_num_programs")
def programs(machine: Any, operation: Operation, values: list[Any]) -> Any:
    return np.asarray(machine.grid["xyz".index(operation.words[0])], dtype=np.int32)


@gives("tt.assert")
def asserted(operation: Operation, condition: Array, *_: Array) -> Any:
    if not np.all(condition):
        raise DeviceAssertFailed(operation.head[:200])


@gives("tt.print", "llvm.intr.assume", "ttg.barrier", "gpu.barrier", "ttg.async_commit_group", "ttg.async_wait",
       "ttg.local_dealloc", "ttng.fence_async_shared", "tt.debug_barrier", "ttg.local_barrier",
       "ttng.inval_barrier", "ttng.async_tma_store_wait", "ttng.tensormap_fenceproxy_acquire",
       "ttng.fence_mbarrier_init_release_cluster", "ttng.cluster_barrier", "ttng.cluster_arrive", "ttng.cluster_wait")
def nothing(operation: Operation, *_: Array) -> Any:
    """Output, hints and order; tokens have no value. What one program does, it does in order, so that nothing is left
    to wait for."""
    return np.asarray(0) if operation.results else None
