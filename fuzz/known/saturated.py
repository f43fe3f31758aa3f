"""Programs that convert to fp8e5, without the overflow for which torch.compile gives the largest finite number."""

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.dead_code import with_operands
from tridiff.fuzz.kinds.graphs.rebuild import rebuilt
from tridiff.fuzz.known.graphs.form import analysis_of
from tridiff.fuzz.known.graphs.nodes import conversion
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Cast, Constant, Graph, Node, Pointwise, Store

_WIDER = ("bf16", "fp16", "fp32", "fp64")
_LARGEST = "57344.0"


def computes_with_overflow(case: Case) -> bool:
    """Whether something is converted to fp8e5, and not only stored, that may be larger than its largest number."""
    if not isinstance(case.program, Graph):
        return False
    analysis = analysis_of(case.program)
    return any(isinstance(node, Cast) and _may_overflow(analysis, node) for node in case.program.nodes)


def without_overflow(case: Case) -> Case | None:
    """The same program that limits whatever it converts to fp8e5 before."""
    graph = case.program
    assert isinstance(graph, Graph)
    analysis, nodes, place = analysis_of(graph), list[Node](), dict[int, int]()
    for position, node in enumerate(graph.nodes):
        moved = with_operands(node, place.__getitem__)
        if isinstance(node, Cast | Store) and isinstance(moved, Cast | Store) and _may_overflow(analysis, node):
            source, first = analysis.dtype(conversion(analysis, node)[0]), len(nodes)
            value = moved.arg if isinstance(moved, Cast) else moved.value
            nodes += (Constant(value=f"-{_LARGEST}", dtype=source), Pointwise(op="maximum", args=(value, first)),
                      Constant(value=_LARGEST, dtype=source), Pointwise(op="minimum", args=(first + 1, first + 2)))
            limited = first + 3
            moved = replace(moved, arg=limited) if isinstance(moved, Cast) else replace(moved, value=limited)
        place[position] = len(nodes)
        nodes.append(moved)
    return rebuilt(case, replace(graph, nodes=tuple(nodes)))


def _may_overflow(analysis: Analysis, node: Node) -> bool:
    if not isinstance(node, Cast | Store) or (isinstance(node, Cast) and node.bitcast):
        return False
    value, made = conversion(analysis, node)
    limited = analysis.nodes[value]
    within = isinstance(limited, Pointwise) and limited.op == "minimum" and any(
        isinstance(one := analysis.nodes[k], Constant) and one.value == _LARGEST for k in limited.args)
    return made == "fp8e5" and analysis.dtype(value) in _WIDER and not within
