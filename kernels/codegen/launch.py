"""From a graph and a schedule to a kernel and how to launch it.

    kernel = plan(graph, graph.schedules[0])
    module = tridiff.kernels.generated.load(kernel.source, name=kernel.name)
    launch.run(getattr(module, kernel.name), kernel.grid, arguments)     # arguments by kernel.arguments
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from tridiff.kernels.codegen.dialect import has_block_pointers
from tridiff.kernels.codegen.domains import Analysis, R
from tridiff.kernels.codegen.geometry import grid
from tridiff.kernels.codegen.graph import Buffer, Graph, Schedule, Store
from tridiff.kernels.codegen.imports import import_lines
from tridiff.kernels.codegen.kernel import Argument, Kernel
from tridiff.kernels.codegen.kernel_text import emit_body
from tridiff.kernels.codegen.legality import IllegalGraph, check, schedule_problem
from tridiff.kernels.codegen.mutants import FAULTS, check_faults, planted
from tridiff.kernels.codegen.names import PLACEHOLDER, descriptive, digest, named
from tridiff.kernels.codegen.state import Emitter
from tridiff.kernels.codegen.tiles import Tile

__all__ = ["Argument", "IllegalGraph", "Kernel", "check", "plan", "schedule_problem"]


def plan(graph: Graph, schedule: Schedule, *, faults: Iterable[str] = (), checked: bool = False,
         aligned: Iterable[str] = (), block_pointers: bool | None = None) -> Kernel:
    """The kernel that computes `graph` as `schedule` says.

    aligned: buffers whose pointers will be 16-byte aligned; only those are accessed through tensor descriptors.
    faults: names of planted faults (kernels.codegen.mutants.FAULTS). checked: the caller has run `check(graph)` on this
    graph already. block_pointers: whether they may be used; None: if the installed Triton has them. Raises IllegalGraph
    with one line for a graph or schedule that is not legal.
    """
    wrong = check_faults(faults)
    analysis = Analysis(graph) if checked else check(graph)
    problem = schedule_problem(graph, schedule)
    if problem:
        raise IllegalGraph(problem)
    if schedule.access == "block_pointers" and not (has_block_pointers() if block_pointers is None else block_pointers):
        schedule = replace(schedule, access="pointers")
    emitter = emit_body(analysis, schedule, aligned=frozenset(aligned))
    arguments = _arguments(emitter)
    text = planted(_module_text(emitter, arguments), wrong)
    name, source = named(text, descriptive(graph, schedule))
    programs = grid(emitter.tiling, schedule)
    if any(FAULTS[name].fewer_programs for name in wrong):
        programs = (max(programs[0] - 1, 0), *programs[1:])
    return Kernel(
        source=source, name=name, grid=programs, arguments=arguments, workspaces=tuple(emitter.workspaces),
        mutated=(*dict.fromkeys(node.buffer for node in graph.nodes if isinstance(node, Store)),
                 *(one.name for one in emitter.workspaces)), finite_check="check_finite" if schedule.nan_check else "",
        cooperative=schedule.reduction == "cooperative", descriptors=bool(emitter.descriptors),
        aligned=tuple(emitter.aligned), num_warps=_warps(emitter),
        key=digest(source, programs, arguments, emitter.workspaces))


FINITE_CHECK = '''\
def check_finite(**tensors):
    """AssertionError if a floating-point tensor holds NaN or infinity; torch tensors by name."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point():
            wide = tensor.double()
            assert not wide.isnan().any().item(), f"{name} holds NaN"
            assert not wide.isinf().any().item(), f"{name} holds an infinity"
'''


def _pointer_order(emitter: Emitter) -> list[Buffer]:
    return [buffer for buffer in emitter.graph.buffers if buffer.name in emitter.pointers]


def _arguments(emitter: Emitter) -> tuple[Argument, ...]:
    found = [Argument(name=f"{buffer.name}_ptr", kind="buffer", value=buffer.name)
             for buffer in _pointer_order(emitter)]
    found += [Argument(name=f"{one.name}_ptr", kind="workspace", value=one.name) for one in emitter.workspaces]
    found += [Argument(name=name, kind="size", value=value) for name, value in sorted(emitter.sizes.items())]
    found += [Argument(name=tile.block_name, kind="constexpr", value=tile.block) for tile in _block_parameters(emitter)]
    if emitter.schedule.reduction == "cooperative":
        found.append(Argument(name="RSPLIT", kind="constexpr", value=emitter.schedule.r_split))
    return tuple(found)


def _persistent(emitter: Emitter, tile: Tile) -> bool:
    return tile.name == R and emitter.schedule.reduction == "persistent"


def _block_parameters(emitter: Emitter) -> list[Tile]:
    """Tiles whose block is chosen at the launch."""
    return [tile for tile in emitter.tiling.tiles if tile.place is not None and not _persistent(emitter, tile)]


def _module_text(emitter: Emitter, arguments: tuple[Argument, ...]) -> str:
    """The source, with a placeholder for the kernel's name."""
    lines = import_lines(emitter.used)
    for helper in emitter.helpers.values():
        lines += ["", "", *helper.rstrip().split("\n")]
    lines += ["", "", _decorator(emitter)]
    parameters = [one.name + (": tl.constexpr" if one.kind == "constexpr" else "") for one in arguments]
    one_line = f"def {PLACEHOLDER}({', '.join(parameters)}):"
    if len(one_line) <= 100:
        lines.append(one_line)
    else:
        lines += [f"def {PLACEHOLDER}(", *(f"    {parameter}," for parameter in parameters), "):"]
    body = list(emitter.top.lines)
    for tile in emitter.tiling.tiles:
        if _persistent(emitter, tile):
            body.insert(0, f"RBLOCK: tl.constexpr = {tile.block}")
    lines += [f"    {line}" for line in body] or ["    pass"]
    if emitter.schedule.nan_check:
        lines += ["", "", *FINITE_CHECK.rstrip().split("\n")]
    return "\n".join(lines) + "\n"


def _decorator(emitter: Emitter) -> str:
    if not emitter.schedule.unspecialised or not emitter.sizes:
        return "@triton.jit"
    names = ", ".join(f'"{name}"' for name in sorted(emitter.sizes))
    return f"@triton.jit(do_not_specialize=[{names}])"


def _warps(emitter: Emitter) -> int:
    elements = 1
    for tile in emitter.tiling.tiles:
        elements *= tile.block
    return max(1, min(8, elements // 256))
