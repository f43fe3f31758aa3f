"""Take nodes and buffers out of a graph and number the rest anew."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from kernels.codegen.domains import operands
from kernels.codegen.graph import (
    Apply,
    Asm,
    Bucketize,
    Cast,
    Expr,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Part,
    Pointwise,
    Random,
    Reduce,
    Scan,
    Sort,
    Store,
    Sym,
)


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
    if isinstance(node, Pointwise | Reduce | Scan | Asm):
        changes["args"] = tuple(map(at, node.args))
    elif isinstance(node, Cast | Masked | Sort | Bucketize):
        changes["arg"] = at(node.arg)
    elif isinstance(node, Random):
        changes["offset"] = at(node.offset)
    elif isinstance(node, Part):
        changes["of"] = at(node.of)
    elif isinstance(node, Store):
        changes["value"] = at(node.value)
    if isinstance(node, Load | Masked) and node.mask is not None:
        changes["mask"] = at(node.mask)
    if isinstance(node, Index | Load | Store):
        field = "expr" if isinstance(node, Index) else "index"
        expr: Expr = getattr(node, field)
        names = {f"v{k}": f"v{at(k)}" for k in operands(node) if _named(expr, f"v{k}")}
        changes[field] = renamed(expr, names)
    return replace(node, **changes) if changes else node


def _named(expr: Expr, name: str) -> bool:
    if isinstance(expr, Sym):
        return expr.name == name
    return isinstance(expr, Apply) and any(_named(one, name) for one in expr.args)


def buffers_of(node: Node) -> set[str]:
    """Names of the buffers that a node touches."""
    names = (getattr(node, field, None) for field in ("buffer", "boundaries", "sorter", "seeds"))
    return {name for name in names if isinstance(name, str)}


def live_nodes(nodes: tuple[Node, ...]) -> set[int]:
    """Positions that some store needs."""
    live: set[int] = set()
    for position in reversed(range(len(nodes))):
        if isinstance(nodes[position], Store):
            live.add(position)
        if position in live:
            live.update(operands(nodes[position]))
    return live


def without_dead_nodes(graph: Graph) -> Graph:
    """Only nodes that stores need, only buffers that those touch, numbered anew."""
    live = live_nodes(graph.nodes)
    place = {old: new for new, old in enumerate(sorted(live))}
    nodes = tuple(with_operands(graph.nodes[old], place.__getitem__) for old in sorted(live))
    touched = set().union(*map(buffers_of, nodes)) if nodes else set()
    buffers = tuple(buffer for buffer in graph.buffers if buffer.name in touched)
    return replace(graph, nodes=nodes, buffers=buffers)
