"""Programs have many different small forms of cheap operations: those that compilers rewrite by rules."""

from tests.support.draws import draws
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.draw import programs
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.graph import Cast, Constant, Graph, Pointwise
from tridiff.kernels.pointwise.table import OPS

CHEAP = {"exact arithmetic", "min/max", "logic", "sign/bits", "comparison", "select"}


def cheap(graph: Graph, position: int) -> bool:
    node = graph.nodes[position]
    return isinstance(node, Cast) or (isinstance(node, Pointwise) and node.op in OPS and OPS[node.op].group in CHEAP)


def form(graph: Graph, position: int, depth: int) -> str:
    """What a value is made of, so many levels deep; whatever is not cheap is a leaf."""
    node = graph.nodes[position]
    if isinstance(node, Constant):
        return node.value
    if not cheap(graph, position):
        return "x"
    name, args = (node.dtype, (node.arg,)) if isinstance(node, Cast) else (node.op, node.args)
    return name if depth == 0 else f"{name}({', '.join(form(graph, one, depth - 1) for one in args)})"


def test_seven_different_forms_of_three_levels_come_with_each_program():
    """Fewer than six where every operation takes any value."""
    graphs = [graph_of(case) for case in draws(programs("pointwise", target="codegen.pointwise", limits=Limits()), 300,
                                               seed=41)]
    forms = {text for graph in graphs for position in range(len(graph.nodes)) if cheap(graph, position)
             and (text := form(graph, position, 2)).count("(") > 1}
    assert len(forms) >= 7 * len(graphs)
