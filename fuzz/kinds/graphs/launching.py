"""Launch the kernel that the own generator makes of a case's program."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tridiff.fuzz.backends import FOR_CHIPS, kind, lacking_type
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.backends.libdevice import amd_lacks
from tridiff.fuzz.kinds.graphs.arrays import after, dim_of, graph_of
from tridiff.fuzz.kinds.graphs.faults import hooked
from tridiff.fuzz.kinds.graphs.workspaces import Place, places
from tridiff.fuzz.records import ArraySpec, Bits
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels.codegen.graph import Asm, Cast, Constant, Graph
from tridiff.kernels.codegen.kernel import Kernel
from tridiff.kernels.codegen.launch import plan
from tridiff.kernels.codegen.mutants import FAULTS
from tridiff.kernels.generated import load
from tridiff.oracles.dtypes import dtype as dtype_info


def launch_graph(launch: Launch) -> None:
    """Generate, load and run the schedule that the launch asks for; buffers written in place are copied to their
    outputs afterwards."""
    graph = graph_of(launch.case)
    lacking = lacking_on(launch.backend, graph)
    if lacking:
        raise Declined(lacking)
    schedule = graph.schedules[launch.schedule]
    faults = hooked(launch.fault) or tuple(name for name in (launch.planted,) if name in FAULTS)
    aligned = [spec.name for spec in launch.case.arrays if _aligned(spec)]
    kernel = plan(graph, schedule, faults=faults, aligned=aligned)
    if absent := amd_lacks(kernel.source, launch.backend):
        raise Declined(absent)
    module = load(kernel.source, name=kernel.name)
    if kernel.cooperative:
        launch.options = replace(launch.options, launch_cooperative_grid=True)
    scratch = places(graph) if kernel.workspaces else {}
    if launch.backend.startswith("compile"):
        launch.run(getattr(module, kernel.name), kernel.grid, _arguments(launch, kernel, scratch))
        return
    import torch

    truths = [launch.pointer(name)[:launch.case.sizes[dim_of(name)]].view(torch.uint8) for name in wild_truths(launch)]
    for truth in truths:
        truth.copy_((truth << 1) | (truth >> 7))
    launch.run(getattr(module, kernel.name), kernel.grid, _arguments(launch, kernel, scratch))
    for truth in truths:
        # Back as it was, so that a byte which the kernel wrote is still seen.
        truth.copy_((truth >> 1) | (truth << 7))
    for buffer in graph.buffers:
        if buffer.role == "inout":
            target, source = launch.pointer(after(buffer.name)), launch.pointer(buffer.name)
            target[:buffer.length].copy_(source[:buffer.length])


def lacking_on(backend: str, graph: Graph) -> str:
    """What an architecture that is compiled for lacks of a program, "" if nothing: inline assembly is PTX."""
    if kind(backend) not in FOR_CHIPS:
        return ""
    arch = backend.partition(":")[2]
    if not arch.startswith("sm_") and any(isinstance(node, Asm) for node in graph.nodes):
        return f"inline assembly in PTX is not for {arch}"
    return lacking_type(backend, {*(one.dtype for one in graph.buffers), *(
        node.dtype for node in graph.nodes if isinstance(node, Cast | Constant))})


def wild_truths(launch: Launch) -> list[str]:
    """Boolean inputs in which true is the byte 2 during the launch (codegen.md §2: any byte but 0 is true). The content
    terms know 0 and 1 only, so the bits of every byte are rotated before the launch and back after it."""
    specs = {spec.name: spec for spec in launch.case.arrays}
    return [buffer.name for buffer in graph_of(launch.case).buffers
            if buffer.role == "in" and buffer.dtype == "i1" and (content := specs[buffer.name].content) is not None
            and isinstance(content.base, Bits)]


def _aligned(spec: ArraySpec) -> bool:
    """Whether element 0 lies at a multiple of 16 bytes, as tensor descriptors need it."""
    return spec.layout.offset * dtype_info(spec.dtype).itemsize % 16 == 0


def _arguments(launch: Launch, kernel: Kernel, scratch: Mapping[tuple[int, str], Place]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for one in kernel.arguments:
        if one.kind == "buffer":
            arguments[one.name] = launch.pointer(str(one.value))
        elif one.kind == "workspace":
            place = scratch[launch.schedule, str(one.value)]
            pointer = launch.pointer(place.array)
            arguments[one.name] = pointer if launch.backend.startswith("compile") else pointer[place.offset:]
        else:
            arguments[one.name] = one.value
    return arguments
