"""The arrays of a case that carries a program: one flat array per buffer, named like it.

An `inout` buffer is the array of its name, with contents, which the kernel writes in place (`WRITTEN`), and an output
`<name>_after` into which the launch copies it. Workspaces that a generated kernel needs are arrays `work0`, ... of
zeros.
"""

from collections.abc import Iterable, Mapping

from tridiff.fuzz.kinds.graphs.workspaces import NAMES as WORKSPACES
from tridiff.fuzz.records import ArraySpec, Case, Constant, Content, Layout
from tridiff.kernels.codegen.graph import Graph

IN_PLACE = tuple(f"io{k}" for k in range(8))
WRITTEN = (*IN_PLACE, *WORKSPACES)
"""Input arrays that a launch may write, whatever the case."""

_ZERO = Content(base=Constant(value="0"))


def graph_of(case: Case) -> Graph:
    """The program of a case of a generated kernel."""
    assert isinstance(case.program, Graph)
    return case.program


def after(name: str) -> str:
    """The output array that receives an inout buffer."""
    return f"{name}_after"


def dim_of(name: str) -> str:
    """The one axis of the array of a buffer."""
    return f"n_{name}"


def input_names(case: Case) -> tuple[str, ...]:
    """Arrays that a reference reads, in the order of the buffers."""
    return tuple(buffer.name for buffer in graph_of(case).buffers if buffer.role in ("in", "inout"))


def output_names(case: Case) -> dict[str, str]:
    """Output array to buffer, in the order of the buffers."""
    return {buffer.name if buffer.role == "out" else after(buffer.name): buffer.name
            for buffer in graph_of(case).buffers if buffer.role in ("out", "inout")}


def arrays_of(graph: Graph, contents: Mapping[str, Content], layouts: Mapping[str, Layout],
              workspaces: Iterable[tuple[str, int]] = ()) -> tuple[tuple[ArraySpec, ...], dict[str, int]]:
    """(arrays, sizes) of a case. contents: of in and inout buffers; layouts: others are plain; workspaces: (dtype,
    length) of each."""
    arrays: list[ArraySpec] = []
    sizes: dict[str, int] = {}

    def add(name: str, dtype: str, length: int, content: Content | None, layout: Layout, dim: str) -> None:
        arrays.append(ArraySpec(name=name, dtype=dtype, dims=(dim,), layout=layout, content=content))
        sizes[dim] = length

    for buffer in graph.buffers:
        layout = layouts.get(buffer.name, Layout())
        if buffer.role in ("in", "inout"):
            content = contents.get(buffer.name, _ZERO)
            add(buffer.name, buffer.dtype, buffer.length, content, layout, dim_of(buffer.name))
        if buffer.role in ("out", "inout"):
            name = buffer.name if buffer.role == "out" else after(buffer.name)
            add(name, buffer.dtype, buffer.length, None, layout, dim_of(buffer.name))
    for number, (dtype, length) in enumerate(workspaces):
        add(WORKSPACES[number], dtype, length, _ZERO, Layout(), f"n_{WORKSPACES[number]}")
    return tuple(arrays), sizes


def fits(case: Case) -> bool:
    """Whether the arrays are those that the program's buffers ask for (a stranger's case may have others)."""
    if not isinstance(case.program, Graph) or case.params or any(
            buffer.role == "inout" and buffer.name not in IN_PLACE for buffer in case.program.buffers):
        return False
    arrays, sizes = arrays_of(case.program, {}, {})
    wanted = {spec.name: spec for spec in arrays}
    extra = [spec.name for spec in case.arrays if spec.name not in wanted]
    if extra != list(WORKSPACES[:len(extra)]) or len(case.arrays) != len(wanted) + len(extra):
        return False
    for spec in case.arrays:
        layout = spec.layout
        if layout.step != 1 or layout.gap or layout.broadcast or layout.order not in ((), (0,)):
            return False
        one = wanted.get(spec.name)
        if one is None:
            if spec.content is None or len(spec.dims) != 1:
                return False
        elif (spec.dtype, spec.dims, spec.content is None) != (one.dtype, one.dims, one.content is None) or (
                case.sizes.get(spec.dims[0]) != sizes[spec.dims[0]]):
            return False
    return True
