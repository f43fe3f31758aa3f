"""A form: nodes of a graph that something is known to compile wrong, near relatives of them, and what comes out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.dead_code import with_operands
from tridiff.fuzz.kinds.graphs.rebuild import rebuilt
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Cast, Graph, Node, Pointwise, Reduce, Scan, Sort, Store

Changes = dict[int, Node | tuple[Node, ...]]
"""New nodes by position: near relatives, or what comes out instead. Of several nodes each has the one before as its
last operand, or, if it is a conversion, a fold, a scan or a store, takes it."""
Result: TypeAlias = Node | Changes | None
Rewriting = Callable[[Analysis, Any], Result]
"""What to put for a node, or for others that make up the form: a near relative of each. None: the node is harmless."""
Defect = Callable[[Analysis, Any], Iterator[Changes]]
"""For a node of the form, in turn every program that may come out instead of the one that was asked for."""

_ROUNDS = 4
"""Rewriting one node may leave, or make, another of the form."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """One pattern. label: what signatures call it. kinds, ops: types of its nodes, and operations if they are
    Pointwise. computed: what is computed in place of the program; None where nobody can tell. elsewhere: whether more
    comes of a node than `computed` says."""

    label: str
    kinds: tuple[type, ...] = (Pointwise,)
    ops: tuple[str, ...] = ()
    rewritten: Rewriting
    computed: Defect | None = None
    elsewhere: Callable[[Analysis, Any], bool] | None = None

    def found(self, graph: Graph) -> Iterator[tuple[int, Node, Changes]]:
        """(position, node, near relatives) of every node of the form."""
        analysis = analysis_of(graph)
        for position, node in enumerate(graph.nodes):
            if isinstance(node, self.kinds) and (not isinstance(node, Pointwise) or node.op in self.ops):
                made = self.rewritten(analysis, node)
                if made:
                    yield position, node, made if isinstance(made, dict) else {position: made}

    def has(self, case: Case) -> bool:
        """Whether the case's program has the form."""
        return isinstance(case.program, Graph) and any(True for _ in self.found(case.program))

    def spreads(self, case: Case) -> bool:
        """Whether the form is in the case's program, and what comes of it meets what comes of it at other points, or is
        more than anybody can tell."""
        if not isinstance(case.program, Graph):
            return False
        analysis = analysis_of(case.program)
        return any(_meets(analysis, position) or (self.elsewhere is not None and self.elsewhere(analysis, node))
                   for position, node, _ in self.found(case.program))

    def without(self, case: Case) -> Case | None:
        """The case with near relatives of the form's nodes, cut to what its stores need; None if that is not legal."""
        for _ in range(_ROUNDS):
            graph = case.program
            assert isinstance(graph, Graph)
            changes: Changes = {}
            for _, _, made in self.found(graph):
                changes |= made
            if not changes:
                return case
            made_case = rebuilt(case, changed(graph, changes))
            if made_case is None or made_case == case or not valid(made_case):
                return None
            case = made_case
        return None

    def defective(self, graph: Graph) -> Iterator[Graph]:
        """The programs that may come out instead: with the defect in all nodes of the form, then in each alone."""
        if self.computed is None:
            return
        analysis = analysis_of(graph)
        alternatives = [list(self.computed(analysis, node)) for _, node, _ in self.found(graph)]
        for number in range(max(map(len, alternatives), default=0)):
            together: Changes = {}
            for one in alternatives:
                together |= one[min(number, len(one) - 1)] if one else {}
            yield changed(graph, together)
        if len(alternatives) > 1:
            for one in alternatives:
                yield from (changed(graph, changes) for changes in one)


@lru_cache(maxsize=8)
def analysis_of(graph: Graph) -> Analysis:
    """What follows from a graph, kept for the next form that asks."""
    return Analysis(graph)


def changed(graph: Graph, changes: Mapping[int, Node | tuple[Node, ...]]) -> Graph:
    """The graph with other nodes in some positions."""
    nodes: list[Node] = []
    places: dict[int, int] = {}
    for position, node in enumerate(graph.nodes):
        made = changes.get(position, node)
        for number, one in enumerate(made if isinstance(made, tuple) else (made,)):
            last = with_operands(one, places.__getitem__)
            if number and isinstance(last, Cast | Store):
                last = replace(last, **{"arg" if isinstance(last, Cast) else "value": len(nodes) - 1})
            elif number and isinstance(last, Reduce | Scan):
                last = replace(last, args=(len(nodes) - 1,))
            elif number:
                assert isinstance(last, Pointwise)
                last = replace(last, args=(*last.args, len(nodes) - 1))
            nodes.append(last)
        places[position] = len(nodes) - 1
    return replace(graph, nodes=tuple(nodes))


def _meets(analysis: Analysis, position: int) -> bool:
    """Whether a node's values at several points come together: in folds, scans, sorts and atomic sums."""
    reached, waiting = set[int](), [position]
    while waiting:
        place = waiting.pop()
        for user in analysis.users[place]:
            node = analysis.nodes[user]
            if isinstance(node, Reduce | Scan | Sort) or (isinstance(node, Store) and node.mode == "atomic_add"):
                return True
            if user not in reached:
                reached.add(user)
                waiting.append(user)
    return False
