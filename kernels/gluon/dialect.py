"""How the installed Triton spells the Gluon functions whose names changed between 3.6 and 3.9.

Every name is found by looking for it, newest first, because a renamed function may still exist and only raise.
Kernels are written as text with these spellings filled in, so that what is written reads as one version's own
language. A spelling that the version does not offer is "" (contract: ttg_ops.md §6d).
"""

import functools
import importlib
import inspect
from dataclasses import dataclass
from types import ModuleType
from typing import Any

IMPORTS = """\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
"""
"""First lines of every Gluon module; the spellings below presuppose them."""

NVIDIA_IMPORTS = """\
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_init, warpgroup_mma_wait)
"""
"""Further lines for kernels with asynchronous copies or tensor cores; they come after `IMPORTS`."""

GL_DTYPES = {"i1": "gl.int1", "i8": "gl.int8", "i16": "gl.int16", "i32": "gl.int32", "i64": "gl.int64",
             "u8": "gl.uint8", "u16": "gl.uint16", "u32": "gl.uint32", "u64": "gl.uint64",
             "fp8e4nv": "gl.float8e4nv", "fp8e5": "gl.float8e5", "bf16": "gl.bfloat16", "fp16": "gl.float16",
             "fp32": "gl.float32", "fp64": "gl.float64"}
"""Gluon's names of element types."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """Spellings of one version; methods and functions by name, calls with their parentheses.

    barrier: the call that makes all warps of the block wait. cluster_barrier: of all blocks of a cluster.
    reinterpret: method of a shared memory descriptor, called as (dtype, shape, layout) by position.
    keep_alive: method that emits `ttg.local_dealloc`. gathers: whether descriptors have `gather` and `scatter`.
    atomics: whether they have `atomic_scatter_*`, and values broadcast. async_load: function of `async_copy` (smem,
    pointers, mask=...). tma_load: function of `tma` (descriptor, coordinates, barrier, smem, pred=...). tma_store:
    (descriptor, coordinates, smem).
    tma_atomics: whether `tma.async_atomic_*` exist. async_store: store into another block's shared memory.
    register_requests_optional: whether warp_specialize may go without them. initialised: what follows `init` of a
    cluster's mbarriers.
    """

    barrier: str
    cluster_barrier: str
    reinterpret: str
    keep_alive: str
    gathers: bool
    atomics: bool
    async_load: str
    tma_load: str
    tma_store: str
    tma_atomics: bool
    async_store: str
    register_requests_optional: bool
    initialised: tuple[str, ...] = ()


def _first(owner: Any, *names: str) -> str:
    """The first of `names` that `owner` has."""
    return next((name for name in names if hasattr(owner, name)), "")


def _module(path: str) -> ModuleType:
    return importlib.import_module(f"triton.experimental.gluon.{path}")


@functools.cache
def installed() -> Dialect:
    """The dialect of the installed Triton. Imports Triton; workers and tests call it."""
    gl = _module("language")
    copies = _module("language.nvidia.ampere.async_copy")
    hopper = _module("language.nvidia.hopper")
    descriptor = gl.shared_memory_descriptor
    registers = inspect.signature(gl.warp_specialize).parameters["worker_num_regs"]
    new_barrier = hasattr(gl, "barrier")
    return Dialect(
        barrier="gl.barrier()" if new_barrier else "gl.thread_barrier()",
        cluster_barrier="gl.barrier(cluster=True)" if new_barrier else "",
        reinterpret=_first(descriptor, "reinterpret", "_reinterpret"), keep_alive=_first(descriptor, "_keep_alive"),
        gathers=hasattr(descriptor, "gather"), atomics=hasattr(descriptor, "atomic_scatter_add"),
        async_load=_first(copies, "async_load", "async_copy_global_to_shared"),
        tma_load=_first(hopper.tma, "async_load", "async_copy_global_to_shared"),
        tma_store=_first(hopper.tma, "async_store", "async_copy_shared_to_global"),
        tma_atomics=hasattr(hopper.tma, "async_atomic_add"), async_store=_first(hopper, "async_store"),
        register_requests_optional=registers.default is not inspect.Parameter.empty,
        initialised=("mbarrier.fence_init_release_cluster()", "hopper.cluster.arrive(relaxed=True)",
                     "hopper.cluster.wait()") if hasattr(hopper.mbarrier, "fence_init_release_cluster") else (),
    )


@dataclass(frozen=True, kw_only=True)
class TextDialect:
    """Spellings in TTGIR text. barrier: an operation that makes all warps wait. warp_id: a statement without its
    result, typed i32. descriptor: a tensor descriptor type with {shape}, {dtype} and {layout} to fill in.
    local_barrier: whether `ttg.local_barrier` parses (the newer version has `ttg.barrier` with a list of memories).
    cluster_barrier: whether `ttng.cluster_barrier` parses (older versions have an arrival and a wait).
    """

    barrier: str
    warp_id: str
    descriptor: str
    local_barrier: bool
    cluster_barrier: bool


@functools.cache
def installed_text() -> TextDialect:
    """The text dialect of the installed Triton, decided by Gluon's functions: its barrier, and that of clusters."""
    new = hasattr(_module("language"), "barrier")
    try:
        clusters = hasattr(_module("language.nvidia.hopper.cluster"), "barrier")
    except ModuleNotFoundError:
        clusters = False
    return TextDialect(
        barrier="ttg.barrier all" if new else "gpu.barrier",
        warp_id="ttg.warp_id" if new else '"nvg.warp_id"() : () -> i32',
        descriptor="!tt.tensordesc<{shape}x{dtype}, {layout}>" if new else
                   "!tt.tensordesc<tensor<{shape}x{dtype}, {layout}>>", local_barrier=not new,
        cluster_barrier=clusters)
