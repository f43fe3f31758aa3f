"""A device that does not exist, below Triton's own run time and launcher: what a launch would hand to the GPU is
written down.

The driver is Triton's own class for NVIDIA GPUs; only what its C library does is replaced.
"""

import contextlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import triton
from triton.backends.nvidia import driver as nvidia
from triton.runtime import _allocation

STREAM = 5
REGISTERS = 40
THREADS = 1024
SHARED = {80: 166912, 90: 232448, 100: 232448, 120: 101376}
"""Bytes of shared memory that a block can have (CUDA programming guide, compute capabilities)."""


class Annotation(NamedTuple):
    """Stands in for the C type by which Triton's launcher says what an argument is."""

    nested_tuple: Any
    type: str


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One launch as the driver was asked for it. parameters: of the kernel, each with its type, in order."""

    grid: tuple[int, ...]
    stream: int
    function: str
    cooperative: bool
    dependent: bool
    packed: tuple[Any, ...]
    scratch: tuple[Any, Any]
    parameters: tuple[tuple[str, Any], ...]
    metadata: Any = None


class _Loaded(str):
    """A handle that no other device gives."""


@dataclass
class Bench:
    """What happened on the device. loads: names, bytes of code and of shared memory of loaded kernels; compiled: for
    each compilation whether the cache on disk had it."""

    arch: int
    folder: Path
    launches: list[Seen] = field(default_factory=list)
    loads: list[tuple[str, int, int]] = field(default_factory=list)
    compiled: list[bool] = field(default_factory=list)
    scratch: list[tuple[int, int, int | None]] = field(default_factory=list)
    """Bytes, alignment and stream of the memory that kernels asked for."""
    unloaded: int = 0
    """Kernels that this device had loaded: what a real one did may be collected at any time."""
    module: _Loaded = field(default_factory=lambda: _Loaded("module"))
    max_shared: int = 0
    during: Callable[[], None] = lambda: None
    """What a kernel does, as far as a scene wants it done."""

    def left(self) -> str:
        """What compilations left among temporary files."""
        return " ".join(sorted("".join(one.suffixes) for one in (self.folder / "temporary").iterdir()))

    def allocate(self, size: int, alignment: int, stream: int | None) -> str:
        """Scratch of a kernel."""
        self.scratch.append((size, alignment, stream))
        return "memory"

    # What the C library of the driver offers, as far as launches use it.

    def load_binary(self, name: str, code: bytes, shared: int, device: int) -> tuple[Any, ...]:
        self.loads.append((name, len(code), shared))
        return self.module, f"function {name}", REGISTERS, 0, THREADS

    def unload_module(self, module: object) -> None:
        self.unloaded += module is self.module

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {"max_shared_mem": self.max_shared or SHARED[self.arch], "multiprocessor_count": 132, "warpSize": 32,
                "max_num_regs": 65536, "sm_clock_rate": 1, "mem_clock_rate": 1, "mem_bus_width": 1}

    def build_signature_metadata(self, types: Iterable[str]) -> tuple[str, ...]:
        return tuple(types)

    def fill_tma_descriptor_tiled(self, *about: Any) -> tuple[Any, ...]:
        return "tiled", *about

    def fill_tma_descriptor(self, *about: Any) -> tuple[Any, ...]:
        return "tiled", *about

    def fill_tma_descriptor_im2col(self, *about: Any) -> tuple[Any, ...]:
        return "im2col", *about

    def launch(self, x: int, y: int, z: int, stream: int, function: str, cooperative: bool, dependent: bool,
               packed: Any, metadata: Any, enter: Any, leave: Any, scratch: Any, profile: Any,
               annotations: Sequence[Annotation], types: Sequence[str], arguments: Sequence[Any]) -> None:
        values = list(_kernel_arguments(annotations, arguments))
        self.launched(Seen(
            grid=(x, y, z), stream=stream, function=function, cooperative=cooperative, dependent=dependent,
            packed=tuple(packed), scratch=(scratch, profile), metadata=metadata,
            parameters=tuple(zip(types, values, strict=True))), enter, leave)

    def launched(self, seen: Seen, enter: Any, leave: Any) -> None:
        """Note a launch between the hooks that the launcher calls."""
        if enter is not None:
            enter(seen.metadata)
        self.launches.append(seen)
        self.during()
        if leave is not None:
            leave(seen.metadata)


def _kernel_arguments(annotations: Sequence[Annotation], arguments: Sequence[Any]) -> Iterator[Any]:
    for annotation, argument in zip(annotations, arguments, strict=True):
        if annotation.type == "tuple":
            yield from _kernel_arguments(annotation.nested_tuple, argument)
        elif annotation.type == "kernel":
            yield argument


def _flat(types: Iterable[Any], arguments: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Types with arguments, tuples opened, constants left out: what 3.6's launcher, whose C text takes arguments
    apart, hands over."""
    for kind, argument in zip(types, arguments, strict=True):
        if isinstance(kind, tuple):
            yield from _flat(kind, argument)
        elif kind != "constexpr":
            yield kind, argument


class Device(nvidia.CudaDriver):  # type: ignore[misc]
    """Triton's driver for an architecture, without a GPU."""

    def __init__(self, bench: Bench) -> None:
        self.utils = bench
        self.launcher_cls = nvidia.CudaLauncher if hasattr(nvidia, "annotate_arguments") else _launcher_of_3_6(bench)
        self.get_device_capability = lambda device: (bench.arch // 10, bench.arch % 10)
        self.get_current_stream = lambda device: STREAM
        # Kernels keep what they compiled by the number of the device: each architecture has its own.
        self.get_current_device = lambda: bench.arch
        self.set_current_device = lambda device: None

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: int | None) -> str:
        return "memory of a profiler"


def _launcher_of_3_6(bench: Bench) -> Any:
    """Triton's launcher with its C text not built."""

    class Launcher(nvidia.CudaLauncher):  # type: ignore[misc]
        def __init__(self, source: Any, metadata: Any) -> None:
            self.types = tuple(source.signature.values())
            super().__init__(source, metadata)

        def __call__(self, x: int, y: int, z: int, stream: int, function: str, *rest: Any) -> None:
            bench.launching = self.types  # type: ignore[attr-defined]
            super().__call__(x, y, z, stream, function, *rest)

    return Launcher


class _Module:
    """Stands in for the module that 3.6 builds of a launcher's C text."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def launch(self, x: int, y: int, z: int, stream: int, function: str, cooperative: bool, dependent: bool,
               scratch: Any, profile: Any, packed: Any, metadata: Any, enter: Any, leave: Any,
               *arguments: Any) -> None:
        types = self._bench.launching  # type: ignore[attr-defined]
        # Its C text takes a descriptor apart, whose parts have no types here.
        plain = not any(isinstance(one, str) and one.startswith("tensordesc") for one in types)
        self._bench.launched(Seen(
            grid=(x, y, z), stream=stream, function=function, cooperative=cooperative, dependent=dependent,
            packed=tuple(packed), scratch=(scratch, profile), metadata=metadata,
            parameters=tuple(_flat(types, arguments) if plain else (("", one) for one in arguments))), enter, leave)


@contextlib.contextmanager
def bench(arch: int = 90) -> Iterator[Bench]:
    """A device of an architecture as Triton's active one, with an empty cache on disk; everything is as it was
    afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="tridiff-launch-"))
    made = Bench(arch=arch, folder=folder)
    config = triton.runtime.driver
    active, temporary = config._active, tempfile.tempdir
    replaced = {"PyKernelArg": Annotation, "ARG_CONSTEXPR": "constexpr", "ARG_KERNEL": "kernel", "ARG_TUPLE": "tuple",
                "compile_module_from_src": lambda **about: _Module(made), "library_dirs": list}
    kept = {name: getattr(nvidia, name) for name in replaced if hasattr(nvidia, name)}
    knobs = triton.knobs
    listener = knobs.compilation.listener
    # Chains of hooks belong to the class, which no scope of knobs keeps.
    chains = [(one, [*one.calls]) for one in vars(type(knobs.runtime)).values() if hasattr(one, "calls")]
    compiler, loaded = triton.compiler.compiler, weakref.WeakSet[Any]()
    compiled_kernel = compiler.CompiledKernel
    # Where a driver has no scratch for profilers of its own, a launch asks the allocator for it.
    allocators = [_allocation._allocator]
    if not hasattr(_allocation, "has_profile_allocator"):
        allocators.append(_allocation._profile_allocator)
    allocating = [one.get() for one in allocators]

    class Kernel(compiled_kernel):  # type: ignore[misc, valid-type]
        """Known here: what the device that is not there loaded must not be unloaded by one that is."""

        def __init__(self, *given: Any) -> None:
            loaded.add(self)
            super().__init__(*given)

    try:
        with contextlib.ExitStack() as scopes:
            for one in (knobs.cache, knobs.runtime, knobs.compilation, knobs.nvidia, knobs.language, knobs.autotuning):
                scopes.enter_context(one.scope())
            knobs.cache.dir = str(folder / "cache")
            (folder / "temporary").mkdir()
            tempfile.tempdir = str(folder / "temporary")
            knobs.compilation.listener = lambda **about: made.compiled.append(about["cache_hit"])
            for name in kept:
                setattr(nvidia, name, replaced[name])
            for one in allocators:
                one.set(made.allocate)
            config.set_active(Device(made))
            compiler.CompiledKernel = Kernel
            compiler.max_shared_mem.cache_clear()
            yield made
    finally:
        compiler.CompiledKernel = compiled_kernel
        for one, allocator in zip(allocators, allocating, strict=True):
            one.set(allocator)
        for one in loaded:
            one.module = None
        config._active, tempfile.tempdir = active, temporary
        knobs.compilation.listener = listener
        for chain, calls in chains:
            chain.calls[:] = calls
        compiler.max_shared_mem.cache_clear()
        for name, value in kept.items():
            setattr(nvidia, name, value)
        shutil.rmtree(folder, ignore_errors=True)
