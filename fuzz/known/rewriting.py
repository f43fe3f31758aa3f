"""Changes of cases that carry a graph: the same program with other nodes where a pattern is."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.rebuild import rebuilt
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Graph, Node

Changes = Mapping[int, Node]
"""New nodes by position; the same node where nothing can be put for it."""
Form = Callable[[Analysis, int, Node], Changes]
"""What to put for a node that has the pattern (and for others that make it up); nothing for one that has not."""

_ROUNDS = 4
"""Rewriting one node may leave, or make, another that has the pattern."""


def itself(found: Callable[[Analysis, Node], bool]) -> Form:
    """The form of nodes for which nothing can be put."""
    return lambda analysis, position, node: {position: node} if found(analysis, node) else {}


def changes(graph: Graph, form: Form) -> dict[int, Node]:
    """All that the form has to change."""
    analysis = Analysis(graph)
    found: dict[int, Node] = {}
    for position, node in enumerate(graph.nodes):
        found |= form(analysis, position, node)
    return found


def has(form: Form) -> Callable[[Case], bool]:
    """Whether a case's graph has the pattern of a form."""
    return lambda case: isinstance(case.program, Graph) and bool(changes(case.program, form))


def without(form: Form) -> Callable[[Case], Case | None]:
    """The case without the pattern of a form, cut to what its stores need; None if nothing legal is left."""

    def relative(case: Case) -> Case | None:
        for _ in range(_ROUNDS):
            graph = case.program
            if not isinstance(graph, Graph):
                return None
            found = changes(graph, form)
            if not found:
                return case
            nodes = tuple(found.get(position, node) for position, node in enumerate(graph.nodes))
            made = rebuilt(case, replace(graph, nodes=nodes))
            if made is None or not valid(made):
                return None
            case = made
        return None

    return relative

