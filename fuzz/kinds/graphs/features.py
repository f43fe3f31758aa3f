"""The features of a program (`swarm`), by which others are drawn that resemble it."""

from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.swarm import NODES, PRODUCTIONS
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.domains import Analysis, indirect
from tridiff.kernels.codegen.graph import Cast, Load, Node, Pointwise
from tridiff.kernels.codegen.relations import relations
from tridiff.kernels.pointwise.record import Group
from tridiff.kernels.pointwise.table import OPS

_OF_NODES = {"masked": "body", "asm": "assembly"}
"""The production that makes a node, where it is not called as the node is."""
_OF_GROUPS: dict[Group, str] = {"comparison": "compare", "select": "where", "shifts": "shift", "division": "divide",
                                "integer division": "divide", "float division": "divide"}


def features(case: Case) -> tuple[str, ...]:
    """Productions, operations and their groups that a program like the case's is made of, its element types, how many
    nodes it has ("6 nodes"), and what these compute from what (`relations`)."""
    graph = graph_of(case)
    analysis = Analysis(graph)
    found = {f"{len(graph.nodes)}{NODES}", *(one.dtype for one in graph.buffers)}
    found.update(*relations(analysis.nodes, analysis.dtypes, analysis.buffers))
    for node in graph.nodes:
        found.update(_named(node))
    return tuple(sorted(found))


def _named(node: Node) -> tuple[str, ...]:
    if isinstance(node, Pointwise):
        group = OPS[node.op].group if node.op in OPS else None
        pair = ("frexp",) if node.op in ("frexp", "ldexp") else ()
        return (*pair, node.op, *((group,) if group else ()), *((_OF_GROUPS[group],) if group in _OF_GROUPS else ()))
    if isinstance(node, Cast):
        return ("bitcast", node.dtype) if node.bitcast else ("cast", node.dtype)
    if isinstance(node, Load):
        return (*(("masked_load",) if node.mask is not None else ()), *(("gather",) if indirect(node.index) else ()))
    tag = str(node.__struct_config__.tag)
    name = _OF_NODES.get(tag, tag)
    return (name,) if name in PRODUCTIONS else ()
