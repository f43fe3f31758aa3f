"""What follows from a graph: dtype, number of results, domain, users and masked bodies of its nodes (notes.md)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from msgspec.structs import replace

from tridiff.kernels.codegen.constants import integer_limits, is_float, is_integer
from tridiff.kernels.codegen.graph import (
    Asm,
    Bucketize,
    Cast,
    Constant,
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
)
from tridiff.kernels.codegen.ranges import Facts, Interval, symbols
from tridiff.kernels.pointwise.table import HALVES, OPS, result_dtype

R = "r"
CROSS_LANE = (Reduce, Scan, Sort)
PAIRED, INDEXED = ("welford", "welford_combine"), ("argmax", "argmin")


def indirect(expr: Expr) -> set[int]:
    """Positions of the nodes whose values the expression names."""
    return {int(name[1:]) for name in symbols(expr) if name[0] == "v" and name[1:].isdecimal()}


EXPRESSIONS: Mapping[type, str] = {Index: "expr", Load: "index", Store: "index"}
"""Field of a node that holds an index expression."""


def expression(node: Node) -> Expr | None:
    """The index expression of a node that has one."""
    field = EXPRESSIONS.get(type(node))
    return None if field is None else getattr(node, field)


def with_expression(node: Node, expr: Expr) -> Node:
    """A node that has an index expression, with another one."""
    changes: dict[str, Any] = {EXPRESSIONS[type(node)]: expr}
    return replace(node, **changes)


VALUES: Mapping[type, str] = {
    **dict.fromkeys((Pointwise, Reduce, Scan, Asm), "args"), **dict.fromkeys((Cast, Masked, Sort, Bucketize), "arg"),
    Random: "offset", Part: "of", Store: "value"}
"""Field of a node that names its operand, or all of them."""


def value_operands(node: Node) -> tuple[int, ...]:
    """Positions of the operands that carry values (no masks, no indices)."""
    found: tuple[int, ...] | int = getattr(node, VALUES.get(type(node), ""), ())
    return (found,) if isinstance(found, int) else found


def operands(node: Node) -> tuple[int, ...]:
    """Positions of the nodes that this one reads, each once."""
    found = list(value_operands(node))
    if isinstance(node, Load | Masked) and node.mask is not None:
        found.append(node.mask)
    expr = expression(node)
    if expr is not None:
        found += sorted(indirect(expr))
    return tuple(dict.fromkeys(found))


def accumulator(kind: str, dtype: str) -> str:
    """Result dtype of a reduction of this kind (notes.md)."""
    if kind in ("any", "all"):
        return "i1"
    if kind in INDEXED:
        return "i64"
    if kind in PAIRED:
        return "fp64" if dtype == "fp64" else "fp32"
    if is_float(dtype):
        return "fp64" if dtype == "fp64" else "fp32"
    if dtype == "i1" and kind in ("max", "min"):
        return "i1"
    return "i32" if dtype in ("i1", "i8", "i16", "i32") else dtype


def result_dtypes(node: Node, of: list[str], buffers: dict[str, str], parts: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Dtypes of a node's results. of: those of its value operands; parts: those of the node that a Part takes."""
    if isinstance(node, Constant | Index | Cast | Bucketize):
        return (node.dtype,)
    if isinstance(node, Load):
        return (buffers[node.buffer],)
    if isinstance(node, Pointwise):
        if node.op == "frexp":
            return of[0], "i32"
        return (result_dtype(node.op, of),)
    if isinstance(node, Masked):
        return (of[0],)
    if isinstance(node, Reduce):
        result = accumulator(node.kind, of[0])
        return (result,) * 3 if node.kind in PAIRED else (result,)
    if isinstance(node, Scan):
        return tuple(of)
    if isinstance(node, Sort):
        return of[0], "i16"
    if isinstance(node, Random):
        return ("i64",) if node.kind == "randint64" else ("fp32",)
    if isinstance(node, Asm):
        return ("fp32",) if node.body == "ex2_approx" else ("i32",)
    if isinstance(node, Part):
        return (parts[node.item],)
    return ()


def live_nodes(nodes: Sequence[Node]) -> set[int]:
    """Positions that some store needs."""
    live: set[int] = set()
    for position in reversed(range(len(nodes))):
        if isinstance(nodes[position], Store):
            live.add(position)
        if position in live:
            live.update(operands(nodes[position]))
    return live


@dataclass(frozen=True)
class Analysis:
    """Everything that follows from a legal graph. Computed once, read by all parts of the generator."""

    graph: Graph

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.graph.nodes

    @cached_property
    def operands(self) -> tuple[tuple[int, ...], ...]:
        """`operands` of each node."""
        return tuple(map(operands, self.nodes))

    @cached_property
    def buffers(self) -> dict[str, str]:
        """Dtype of each buffer."""
        return {buffer.name: buffer.dtype for buffer in self.graph.buffers}

    @cached_property
    def axes(self) -> dict[str, int]:
        """Length of each axis: x0, x1, ... and r if there is one."""
        found = {f"x{k}": length for k, length in enumerate(self.graph.outer)}
        return found if self.graph.r is None else {**found, R: self.graph.r}

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Value of each size parameter: n0, n1, ... and rn."""
        found = {f"n{k}": length for k, length in enumerate(self.graph.outer)}
        return found if self.graph.r is None else {**found, "rn": self.graph.r}

    @cached_property
    def dtypes(self) -> tuple[tuple[str, ...], ...]:
        """Dtypes of the results of each node; () for stores."""
        found: list[tuple[str, ...]] = []
        for node in self.nodes:
            parts = found[node.of] if isinstance(node, Part) else ()
            of = [] if isinstance(node, Part) else [found[k][0] for k in value_operands(node)]
            found.append(result_dtypes(node, of, self.buffers, parts))
        return tuple(found)

    def dtype(self, position: int) -> str:
        """Dtype of a node with one result."""
        return self.dtypes[position][0]

    @cached_property
    def domains(self) -> tuple[frozenset[str], ...]:
        """Domain of each node; of a store, its points."""
        outer = frozenset(name for name in self.axes if name != R)
        found: list[frozenset[str]] = []
        for node in self.nodes:
            domain = frozenset().union(*(found[k] for k in self.operands[len(found)]))
            expr = expression(node)
            if expr is not None:
                domain |= symbols(expr) & self.axes.keys()
            if isinstance(node, Reduce):
                domain -= {R}
            elif isinstance(node, Scan | Sort):
                domain |= {R}
            elif isinstance(node, Store):
                domain |= outer
            found.append(domain)
        return tuple(found)

    @cached_property
    def users(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the nodes that read each node."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for position in range(len(self.nodes)):
            for operand in self.operands[position]:
                found[operand].append(position)
        return tuple(map(tuple, found))

    @cached_property
    def bodies(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the Masked nodes whose body it belongs to, innermost first."""
        nodes = self.nodes
        found: list[tuple[int, ...]] = [()] * len(nodes)
        for position in reversed(range(len(nodes))):
            chains: list[tuple[int, ...]] = []
            for user in self.users[position]:
                node = nodes[user]
                if isinstance(node, (*CROSS_LANE, Store)):
                    chains.append(())
                elif isinstance(node, Masked) and node.arg == position and node.mask != position:
                    chains.append((user, *found[user]))
                else:
                    chains.append(found[user])
            if chains and not isinstance(nodes[position], CROSS_LANE):
                found[position] = _common_suffix(chains)
        return tuple(found)

    def masks(self, position: int) -> list[int]:
        """Masks under which a node is evaluated, each once: of the bodies that it belongs to, outermost first, and of
        the load that it is."""
        nodes = self.nodes
        found = [body.mask for k in reversed(self.bodies[position]) if isinstance(body := nodes[k], Masked)]
        if isinstance(node := nodes[position], Load) and node.mask is not None:
            found.append(node.mask)
        return list(dict.fromkeys(found))

    @property
    def ranges(self) -> dict[str, Interval]:
        """Values of each axis and size."""
        return {name: (0, max(length - 1, 0)) for name, length in self.axes.items()} | {
            name: (length, length) for name, length in self.sizes.items()}

    @cached_property
    def facts(self) -> Facts:
        """Ranges of expressions over this graph's axes and sizes."""
        known = self.ranges
        for position, dtypes in enumerate(self.dtypes):
            if len(dtypes) == 1 and is_integer(dtypes[0]) and dtypes[0] not in ("i64", "u64"):
                known[f"v{position}"] = integer_limits(dtypes[0])
        return Facts(known)

    @cached_property
    def loose_facts(self) -> Facts:
        """Ranges that hold for all sizes from 1 up."""
        known: dict[str, Interval] = {name: (0, 2**31 - 1) for name in self.axes}
        return Facts({**known, **{name: (1, 2**31) for name in self.sizes}})

    @cached_property
    def dead(self) -> frozenset[int]:
        """Nodes that no store needs."""
        return frozenset(range(len(self.nodes))) - live_nodes(self.nodes)


def feeding(analysis: Analysis) -> frozenset[int]:
    """Nodes whose values reach, at other lanes than their own, a result: what feeds folds, scans, sorts, searches, and
    addresses. Their loads may not leave masked-off lanes undefined."""
    nodes = analysis.nodes
    found: set[int] = set()
    for position in reversed(range(len(nodes))):
        for user in analysis.users[position]:
            node = nodes[user]
            expr = expression(node)
            addressed = expr is not None and position in indirect(expr)
            if user in found or addressed or isinstance(node, (*CROSS_LANE, Bucketize)):
                found.add(position)
    return frozenset(found)


def _common_suffix(chains: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The enclosing bodies that all users share: a value used in two places is computed where both can see it."""
    shortest = min(chains, key=len)
    for start in range(len(shortest) + 1):
        suffix = shortest[start:]
        if all(chain[len(chain) - len(suffix):] == suffix for chain in chains):
            return suffix
    return ()


def takes(op: str, dtypes: Iterable[str]) -> bool:
    """Whether a pointwise operation takes operands of these dtypes."""
    given = tuple(dtypes)
    if op == "frexp":
        return len(given) == 1 and given[0] in (*HALVES, "fp32", "fp64")
    return given in _signatures(op)


@cache
def _signatures(op: str) -> frozenset[tuple[str, ...]]:
    return frozenset(OPS[op].signatures) if op in OPS else frozenset()
