"""Take nodes and buffers out of a graph and number the rest anew."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from tridiff.kernels.codegen.domains import EXPRESSIONS, VALUES, expression, indirect, live_nodes, value_operands
from tridiff.kernels.codegen.graph import Apply, Expr, Graph, Load, Masked, Node, Sym

__all__ = ["buffers_of", "live_nodes", "renamed", "with_operands", "without_dead_nodes"]


def renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    """The expression with other symbols."""
    if isinstance(expr, Sym):
        return Sym(name=names[expr.name]) if expr.name in names else expr
    if isinstance(expr, Apply):
        args = tuple(renamed(one, names) for one in expr.args)
        return expr if args == expr.args else Apply(function=expr.function, args=args)
    return expr


def with_operands(node: Node, at: Callable[[int], int]) -> Node:
    """The node with every operand position mapped."""
    changes: dict[str, object] = {}
    field = VALUES.get(type(node))
    if field is not None:
        moved = tuple(map(at, value_operands(node)))
        changes[field] = moved if field == "args" else moved[0]
    if isinstance(node, Load | Masked) and node.mask is not None:
        changes["mask"] = at(node.mask)
    expr = expression(node)
    if expr is not None:
        names = {f"v{k}": f"v{at(k)}" for k in indirect(expr)}
        changes[EXPRESSIONS[type(node)]] = renamed(expr, names)
    return replace(node, **changes) if changes else node


def buffers_of(node: Node) -> set[str]:
    """Names of the buffers that a node touches."""
    names = (getattr(node, field, None) for field in ("buffer", "boundaries", "sorter", "seeds"))
    return {name for name in names if isinstance(name, str)}


def without_dead_nodes(graph: Graph) -> Graph:
    """Only nodes that stores need, only buffers that those touch, numbered anew."""
    live = live_nodes(graph.nodes)
    place = {old: new for new, old in enumerate(sorted(live))}
    nodes = tuple(with_operands(graph.nodes[old], place.__getitem__) for old in sorted(live))
    touched = set().union(*map(buffers_of, nodes)) if nodes else set()
    buffers = tuple(buffer for buffer in graph.buffers if buffer.name in touched)
    return replace(graph, nodes=nodes, buffers=buffers)
