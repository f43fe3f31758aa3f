"""Combo kernels: several graphs in one launch, dispatched by program id (contract: codegen.md §12)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from msgspec.structs import replace

from tridiff.kernels.codegen.graph import Graph, Schedule
from tridiff.kernels.codegen.kernel import Argument, Kernel, Workspace
from tridiff.kernels.codegen.launch import plan
from tridiff.kernels.codegen.legality import IllegalGraph
from tridiff.kernels.codegen.names import PLACEHOLDER, digest, named


def combine(parts: Sequence[tuple[Graph, Schedule]]) -> Kernel:
    """One kernel that does what a launch of each part would do; results equal those of separate launches.

    Names of part k are prefixed: argument `k1_in0_ptr` has the value "k1.in0", the buffer in0 of part 1. The grid has
    one axis. Raises IllegalGraph for an illegal part, or a cooperative one, whose programs must all be resident.
    """
    if not parts or any(schedule.reduction == "cooperative" for _, schedule in parts):
        raise IllegalGraph("a combo kernel takes one or more parts, none of them cooperative")
    kernels = [plan(graph, replace(schedule, nan_check=False)) for graph, schedule in parts]
    imports: dict[str, None] = {}
    functions: dict[str, None] = {}
    dispatch = ["program = tl.program_id(0)"]
    arguments: list[Argument] = []
    workspaces: list[Workspace] = []
    start = 0
    for number, kernel in enumerate(kernels):
        head, *defined = kernel.source.rstrip("\n").split("\n\n\n")
        imports.update(dict.fromkeys(head.split("\n")))
        *helpers, body = defined
        functions.update(dict.fromkeys(helpers))
        functions[_part(body, number, kernel)] = None
        own = [_prefixed(one, number) for one in kernel.arguments]
        arguments += own
        workspaces += [Workspace(name=f"k{number}.{one.name}", dtype=one.dtype, length=one.length)
                       for one in kernel.workspaces]
        programs = math.prod(kernel.grid)
        if programs:
            call = ", ".join([f"program - {start}", *(one.name for one in own)])
            dispatch += [f"{'if' if start == 0 else 'elif'} program < {start + programs}:", f"    part{number}({call})"]
        start += programs
    parameters = [one.name + (": tl.constexpr" if one.kind == "constexpr" else "") for one in arguments]
    main = [f"@triton.jit\ndef {PLACEHOLDER}(", *(f"    {one}," for one in parameters), "):",
            *(f"    {line}" for line in dispatch)]
    text = "\n\n\n".join([_sorted_imports(imports), *functions, "\n".join(main)]) + "\n"
    name, source = named(text, f"triton_combo_{len(kernels)}")
    return Kernel(
        source=source, name=name, grid=(start, 1, 1), arguments=tuple(arguments), workspaces=tuple(workspaces),
        mutated=tuple(f"k{number}.{one}" for number, kernel in enumerate(kernels) for one in kernel.mutated),
        num_warps=max(kernel.num_warps for kernel in kernels), key=digest(source, start, arguments, workspaces))


def _prefixed(argument: Argument, number: int) -> Argument:
    value = f"k{number}.{argument.value}" if argument.kind in ("buffer", "workspace") else argument.value
    return Argument(name=f"k{number}_{argument.name}", kind=argument.kind, value=value)


def _part(body: str, number: int, kernel: Kernel) -> str:
    """The kernel as a device function that is told which of its programs it is."""
    x, y, z = kernel.grid
    body = re.sub(rf"def {kernel.name}\(\s*", f"def part{number}(\n    program,\n    ", body, count=1)
    body = re.sub(r"@triton\.jit\(.*\)", "@triton.jit", body, count=1)
    for axis, text in enumerate((f"(program % {x})", f"(program // {x} % {y})", f"(program // {x * y})")):
        body = body.replace(f"tl.program_id({axis})", text)
    for axis, count in enumerate((x, y, z)):
        body = body.replace(f"tl.num_programs({axis})", str(count))
    return body


def _sorted_imports(lines: dict[str, None]) -> str:
    """The import lines of all parts, one statement per module."""
    names: dict[str, set[str]] = {}
    plain = []
    for line in lines:
        found = re.match(r"from (\S+) import (.*)$", line)
        if found and " as " not in line:
            names.setdefault(found[1], set()).update(found[2].split(", "))
        elif line:
            plain.append(line)
    froms = [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(names.items())]
    return "\n".join(["import triton", "import triton.language as tl", "", *froms,
                      *sorted(set(plain) - {"import triton", "import triton.language as tl"})]).rstrip("\n")
