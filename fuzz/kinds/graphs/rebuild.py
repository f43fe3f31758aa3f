"""A case for another graph: contents and layouts of buffers that stay, plain ones for new buffers."""

import math
from collections.abc import Mapping

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.arrays import arrays_of, graph_of
from tridiff.fuzz.kinds.graphs.dead_code import buffers_of, without_dead_nodes
from tridiff.fuzz.kinds.graphs.validity import cooperative
from tridiff.fuzz.kinds.graphs.workspaces import workspaces
from tridiff.fuzz.records import Case, Content, Explicit, LaunchOptions
from tridiff.kernels.codegen.domains import Analysis, indirect
from tridiff.kernels.codegen.graph import Graph, Load, Store
from tridiff.kernels.codegen.legality import IllegalGraph
from tridiff.kernels.codegen.ranges import Facts, IllegalExpression


def tight(graph: Graph) -> Graph:
    """Buffers no longer than their addresses reach; those that data address keep their length."""
    facts = Facts(Analysis(graph).ranges)
    needed: dict[str, int] = {}
    kept: set[str] = set()
    for node in graph.nodes:
        if isinstance(node, Load | Store):
            if indirect(node.index) or (isinstance(node, Load) and node.mask is not None):
                kept.add(node.buffer)
                continue
            try:
                high = facts.of(node.index).interval[1]
            except (IllegalExpression, AssertionError):
                kept.add(node.buffer)
                continue
            needed[node.buffer] = max(needed.get(node.buffer, 1), high + 1)
        else:
            kept |= buffers_of(node)
    buffers = tuple(replace(one, length=min(one.length, needed[one.name]))
                    if one.name in needed and one.name not in kept else one for one in graph.buffers)
    return replace(graph, buffers=buffers)


def rebuilt(case: Case, graph: Graph, contents: Mapping[str, Content] | None = None) -> Case | None:
    """The case with this graph, cut to what its stores need; None if the graph is plainly illegal."""
    try:
        graph = tight(without_dead_nodes(graph))
        scratch = workspaces(graph)
    except (IllegalGraph, ValueError, KeyError, IndexError, AssertionError):
        return None
    had = {spec.name: spec for spec in case.arrays}
    old = {buffer.name: buffer for buffer in graph_of(case).buffers}
    kept: dict[str, Content] = {}
    layouts = {}
    for buffer in graph.buffers:
        spec = had.get(buffer.name)
        if spec is None:
            continue
        layouts[buffer.name] = spec.layout
        same = old[buffer.name].dtype == buffer.dtype
        if spec.content is not None and same:
            kept[buffer.name] = _shortened(spec.content, buffer.length)
    kept |= dict(contents or {})
    arrays, sizes = arrays_of(graph, kept, layouts, scratch)
    flag = cooperative(graph)

    def adjusted(options: LaunchOptions) -> LaunchOptions:
        return replace(options, launch_cooperative_grid=flag)

    return replace(case, program=graph, arrays=arrays, sizes=sizes, options=adjusted(case.options),
                   variants=tuple(adjusted(one) for one in case.variants))


def _shortened(content: Content, length: int) -> Content:
    if isinstance(content.base, Explicit):
        values = content.base.values[:length]
        return replace(content, base=Explicit(values=values + ("0",) * (length - len(values))))
    return content


def points(graph: Graph) -> int:
    """Points of the whole grid."""
    return math.prod(graph.outer) * max(graph.r or 1, 1)
