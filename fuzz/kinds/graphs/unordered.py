"""Which outputs of a program may have other bits each time, because floats are added up in no fixed order."""

from tridiff.fuzz.kinds.graphs.arrays import graph_of, output_names
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.domains import Analysis, operands
from tridiff.kernels.codegen.graph import Scan, Store

_ROUNDED = ("sum", "prod", "logcumsumexp", "affine")
"""Combines of scans that round."""


def unordered(case: Case, *, split: bool) -> tuple[str, ...]:
    """Outputs that programs add to atomically, or that follow a scan whose programs take what they find of those before
    them: floats are rounded in another order each time. split: whether scans may be of that kind."""
    graph = graph_of(case)
    analysis = Analysis(graph)
    wandering: set[int] = set()
    for position, node in enumerate(graph.nodes):
        rounded = isinstance(node, Scan) and node.combine in _ROUNDED and is_float(analysis.dtype(position))
        if (split and rounded) or wandering.intersection(operands(node)):
            wandering.add(position)
    stores = [(position, node) for position, node in enumerate(graph.nodes) if isinstance(node, Store)]
    added = {node.buffer for _, node in stores if node.mode == "atomic_add"}
    following = {node.buffer for position, node in stores if position in wandering}
    floats = {buffer.name for buffer in graph.buffers if is_float(buffer.dtype)}
    return tuple(output for output, buffer in output_names(case).items() if buffer in (added & floats) | following)
