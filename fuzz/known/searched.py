"""Programs that search for places among boundaries, without the NaNs on which torch.compile and eager torch differ."""

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.dead_code import with_operands
from tridiff.fuzz.kinds.graphs.rebuild import rebuilt
from tridiff.fuzz.known.contents import tamed
from tridiff.fuzz.known.graphs.form import analysis_of
from tridiff.fuzz.records import Case, Scattered, Sorted
from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Bucketize, Constant, Graph, Node, Pointwise


def float_boundaries(case: Case) -> bool:
    """Whether a search is among floats that may be others than small whole numbers."""
    return isinstance(case.program, Graph) and with_whole_boundaries(case) != case


def with_whole_boundaries(case: Case) -> Case:
    """The same searches among boundaries that are small whole numbers, in the order in which they were."""
    assert isinstance(case.program, Graph)
    boundaries = {one.boundaries for one in case.program.nodes if isinstance(one, Bucketize)}
    names = tuple(spec.name for spec in case.arrays if spec.name in boundaries and is_float(spec.dtype))
    return tamed(case, names=names, kept=lambda overrides: (
        Sorted(), *(one for one in overrides if isinstance(one, Scattered))))


def searches_for_floats(case: Case) -> bool:
    """Whether a search is for floats that may be NaN."""
    if not isinstance(case.program, Graph):
        return False
    analysis = analysis_of(case.program)
    return any(_may_be_nan(analysis, node) for node in case.program.nodes)


def without_searched_nan(case: Case) -> Case | None:
    """The same searches, for infinity in place of NaN, which eager torch sorts behind it: the rest of the program stays
    as it is, and so does what it computes with."""
    graph = case.program
    assert isinstance(graph, Graph)
    analysis, nodes, place = analysis_of(graph), list[Node](), dict[int, int]()
    for position, node in enumerate(graph.nodes):
        moved = with_operands(node, place.__getitem__)
        if _may_be_nan(analysis, node):
            assert isinstance(moved, Bucketize) and isinstance(node, Bucketize)
            value, first = moved.arg, len(nodes)
            nodes += (Pointwise(op="isnan", args=(value,)), Constant(value="inf", dtype=analysis.dtype(node.arg)),
                      Pointwise(op="where", args=(first, first + 1, value)))
            moved = replace(moved, arg=first + 2)
        place[position] = len(nodes)
        nodes.append(moved)
    return rebuilt(case, replace(graph, nodes=tuple(nodes)))


def _may_be_nan(analysis: Analysis, node: Node) -> bool:
    if not isinstance(node, Bucketize) or not is_float(analysis.dtype(node.arg)):
        return False
    value = analysis.nodes[node.arg]
    if not isinstance(value, Pointwise) or value.op != "where":
        return True
    condition = analysis.nodes[value.args[0]]
    return not isinstance(condition, Pointwise) or condition.op != "isnan" or condition.args != value.args[2:]
