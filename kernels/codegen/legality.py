"""Which graphs are legal; every refusal is one line that names what to change (notes.md).

A corpus file may come from a stranger, so the work is bounded before anything is computed, and every index is proven
in range: by intervals, or else by evaluating it at every point.
"""

import math
from collections.abc import Sequence

from tridiff.kernels.codegen.affine import affine
from tridiff.kernels.codegen.assembly import BODIES
from tridiff.kernels.codegen.constants import DTYPES, integer_limits, is_float, is_integer, parse
from tridiff.kernels.codegen.domains import (
    INDEXED,
    PAIRED,
    Analysis,
    expression,
    indirect,
    operands,
    result_dtypes,
    takes,
    value_operands,
)
from tridiff.kernels.codegen.graph import (
    MAX_DEPTH,
    Asm,
    Bucketize,
    Buffer,
    Cast,
    Constant,
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
from tridiff.kernels.codegen.points import distinct, in_range_everywhere
from tridiff.kernels.codegen.ranges import IllegalExpression, count, depth
from tridiff.kernels.codegen.schedules import schedule_problem
from tridiff.kernels.pointwise.record import WIDTHS

MAX_POINTS = 2**31
MAX_EXPRESSION = 400
"""Nodes of one index expression."""
ATOMIC = ("i32", "i64", "u32", "u64", "fp16", "bf16", "fp32", "fp64")
NOT_FP8 = tuple(name for name in DTYPES if not name.startswith("fp8"))
SCANNED = tuple(name for name in NOT_FP8 if name != "i1")


class IllegalGraph(ValueError):
    """A graph or a schedule that the generator refuses; the message says what to change."""


def check(graph: Graph) -> Analysis:
    """What follows from a legal graph; raises IllegalGraph with one line for any other.

    What cannot be seen in a graph stays with whoever draws the data: values used as indices, zero divisors of bare
    operators, oversized shifts, conversions out of range (notes.md).
    """
    global _latest
    if _latest is not None and _latest.graph is graph:
        return _latest
    _latest = _check(graph)
    return _latest


_latest: Analysis | None = None
"""The graph that was checked last: its schedules are planned one after the other."""


def _check(graph: Graph) -> Analysis:
    _check_sizes(graph)
    buffers = {buffer.name: buffer for buffer in graph.buffers}
    dtypes: list[tuple[str, ...]] = []
    for position, node in enumerate(graph.nodes):
        try:
            _check_references(position, node, buffers, dtypes)
            of = [] if isinstance(node, Part) else [dtypes[k][0] for k in value_operands(node)]
            _check_node(node, of, buffers, dtypes)
            parts = dtypes[node.of] if isinstance(node, Part) else ()
            dtypes.append(result_dtypes(node, of, {name: one.dtype for name, one in buffers.items()}, parts))
        except ValueError as error:
            raise IllegalGraph(f"node {position} ({type(node).__name__.lower()}): {error}") from None
    analysis = Analysis(graph)
    for position, node in enumerate(graph.nodes):
        try:
            _check_expression(analysis, position, node, buffers)
        except ValueError as error:
            raise IllegalGraph(f"node {position} ({type(node).__name__.lower()}): {error}") from None
    for buffer in graph.buffers:
        _check_uses(analysis, buffer)
    for number, schedule in enumerate(graph.schedules):
        problem = schedule_problem(graph, schedule)
        if problem:
            raise IllegalGraph(f"schedule {number}: {problem}")
    return analysis


def types(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Dtypes of the results of every node of a legal graph; () for a store."""
    return Analysis(graph).dtypes


def _require(holds: object, message: str) -> None:
    if not holds:
        raise IllegalGraph(message)


def _check_sizes(graph: Graph) -> None:
    points = math.prod(graph.outer) * max(graph.r or 1, 1)
    _require(points <= MAX_POINTS, f"{points} points; make the axes shorter, to {MAX_POINTS} together")
    names = [buffer.name for buffer in graph.buffers]
    _require(len(set(names)) == len(names), "two buffers have one name; give each its own")
    for buffer in graph.buffers:
        _require(buffer.dtype in DTYPES, f"buffer {buffer.name}: unknown dtype {buffer.dtype!r}")
        _require(buffer.role != "scratch", f"buffer {buffer.name}: scratch is the generator's own; leave it out")
        _require(not buffer.name.startswith("workspace"), f"buffer {buffer.name}: that name is the generator's own")


def _check_references(position: int, node: Node, buffers: dict[str, Buffer], dtypes: list[tuple[str, ...]]) -> None:
    expr = expression(node)
    if expr is not None:
        _require(depth(expr) <= MAX_DEPTH and count(expr) <= MAX_EXPRESSION,
                 f"index expression is too large; at most depth {MAX_DEPTH} and {MAX_EXPRESSION} nodes")
    for operand in operands(node):
        _require(operand < position, f"refers to node {operand}, which does not come before it")
        _require(dtypes[operand], f"refers to node {operand}, a store, which has no value")
        several = len(dtypes[operand]) > 1
        _require(several == isinstance(node, Part), f"node {operand} has {len(dtypes[operand])} results; "
                 + ("take one of them with a Part" if several else "a Part takes nodes with several"))
    for operand in indirect(expr) if expr is not None else ():
        _require(is_integer(dtypes[operand][0]), f"v{operand} is {dtypes[operand][0]}, not an integer")
    if isinstance(node, Part):
        _require(node.item < len(dtypes[node.of]), f"node {node.of} has {len(dtypes[node.of])} results")
    if isinstance(node, Load | Masked) and node.mask is not None:
        _require(dtypes[node.mask] == ("i1",), f"the mask is {dtypes[node.mask][0]}, not i1")
    for field in ("buffer", "boundaries", "sorter", "seeds"):
        name = getattr(node, field, None)
        _require(name is None or name in buffers, f"no buffer {name!r}; add it to buffers")


def _check_node(node: Node, of: list[str], buffers: dict[str, Buffer], dtypes: list[tuple[str, ...]]) -> None:
    if isinstance(node, Constant):
        parse(node.value, node.dtype)
    elif isinstance(node, Index):
        _require(node.dtype in ("i32", "i64", "i1", "fp64"), "the dtype of an index is i32, i64, i1 or fp64")
    elif isinstance(node, Load):
        parse(node.other, buffers[node.buffer].dtype)
        _require(buffers[node.buffer].role in ("in", "inout"), f"{node.buffer} is an output; only its store may use it")
    elif isinstance(node, Pointwise):
        _require(takes(node.op, of),
                 f"{node.op} does not take ({', '.join(of)}); tridiff.kernels.pointwise.table lists what it takes")
    elif isinstance(node, Cast):
        _require(node.dtype in DTYPES, f"unknown dtype {node.dtype!r}")
        same = WIDTHS[node.dtype] == WIDTHS[of[0]] and "i1" not in (node.dtype, of[0])
        _require(same or not node.bitcast, f"no bitcast from {of[0]} to {node.dtype}: widths differ")
    elif isinstance(node, Masked):
        parse(node.other, of[0])
    elif isinstance(node, Random):
        _check_buffer(buffers[node.seeds], "i64", node.slot + 1)
        _require(is_integer(of[0]), f"the offset is {of[0]}, not an integer")
        _require(node.kind != "randint64" or node.low < node.high, "low must be below high")
    elif isinstance(node, Asm):
        body = BODIES[node.body]
        _require(of == [body.dtype] * body.arity,
                 f"{node.body} takes {body.arity} operands of type {body.dtype}, not ({', '.join(of)})")
    elif isinstance(node, Bucketize):
        _require(of[0] in SCANNED, f"no bucketize of {of[0]}")
        _check_buffer(buffers[node.boundaries], of[0], node.size)
        if node.sorter is not None:
            _require(buffers[node.sorter].dtype in ("i32", "i64"), "a sorter holds i32 or i64")
            _check_buffer(buffers[node.sorter], buffers[node.sorter].dtype, node.size)
    elif isinstance(node, Store):
        if node.mode == "atomic_add":
            _require(buffers[node.buffer].dtype in ATOMIC, f"no atomic_add on {buffers[node.buffer].dtype}")
            _require(buffers[node.buffer].role == "inout", f"{node.buffer} is added to: its role must be inout")
        _require(buffers[node.buffer].role != "in", f"{node.buffer} is an input; stores need an out or inout buffer")
    elif isinstance(node, Reduce | Scan | Sort):
        _check_crossing(node, of)


def _check_buffer(buffer: Buffer, dtype: str, length: int) -> None:
    _require(buffer.dtype == dtype, f"buffer {buffer.name} holds {buffer.dtype}, not {dtype}")
    _require(buffer.role == "in", f"buffer {buffer.name} must be an input")
    _require(buffer.length >= length, f"buffer {buffer.name} has {buffer.length} elements, not {length}")


def _check_crossing(node: Reduce | Scan | Sort, of: list[str]) -> None:
    if isinstance(node, Sort):
        _require(of[0] in NOT_FP8, f"no sort of {of[0]}")
        return
    name = node.kind if isinstance(node, Reduce) else node.combine
    wanted = {"welford_combine": 3, "affine": 2}.get(name, 1 + (isinstance(node, Scan) and name in INDEXED))
    _require(len(of) == wanted, f"{name} takes {wanted} operands, not {len(of)}")
    if isinstance(node, Reduce):
        if name in PAIRED:
            _require(all(map(is_float, of)) and len(set(of)) == 1, f"{name} takes floats of one dtype")
        _require(name != "xor_sum" or not is_float(of[0]), "xor_sum takes integers")
        return
    _require(of[0] in (NOT_FP8 if name in ("max", "min", "second", *INDEXED) else SCANNED),
             f"no {name} scan of {of[0]}")
    _require(name != "logcumsumexp" or is_float(of[0]), "logcumsumexp takes floats")
    _require(name != "affine" or of[0] == of[1], "both operands of affine have one dtype")
    _require(name not in INDEXED or of[1] in ("i32", "i64"), "the second operand is i32 or i64")


def _check_expression(analysis: Analysis, position: int, node: Node, buffers: dict[str, Buffer]) -> None:
    graph = analysis.graph
    if isinstance(node, Reduce | Scan | Sort):
        _require(graph.r is not None, "there is no axis r; give the graph one")
        if isinstance(node, Reduce):
            _require(graph.r or node.kind not in ("max", "min", *INDEXED), f"{node.kind} of an empty axis r")
        if isinstance(node, Sort):
            _require((graph.r or 0) <= 512, f"sorts at most 512 elements, not {graph.r}")
    expr = expression(node)
    if expr is None:
        return
    if math.prod(graph.outer) == 0:
        return  # no points, no indices
    fact = analysis.facts.of(expr)
    if isinstance(node, Index):
        kind = {"i1": "bool", "fp64": "real"}.get(node.dtype, "int")
        _require(fact.kind == kind, f"the expression is {fact.kind}, its dtype {node.dtype}")
        if fact.range is not None and not indirect(expr):
            low, high = integer_limits(node.dtype)
            _require(low <= fact.range[0] and fact.range[1] <= high,
                     f"values up to {fact.range} do not fit {node.dtype}")
        return
    assert isinstance(node, Load | Store)
    _require(fact.kind == "int", f"an index is an integer expression, not {fact.kind}")
    checked = isinstance(node, Load) and node.checked
    if indirect(expr):
        _require(checked or (isinstance(node, Store) and node.mode == "atomic_add"),
                 "the index depends on data; only checked loads and atomic_add may do that")
        return
    length = buffers[node.buffer].length
    low, high = fact.interval
    if graph.r == 0 and "r" in analysis.domains[position]:
        return
    if not (0 <= low and high < length) and not _proven(analysis, position, length):
        raise IllegalGraph(f"index may leave buffer {node.buffer} of {length} elements (it ranges over {low}..{high})")


def _proven(analysis: Analysis, position: int, length: int) -> bool:
    node = analysis.nodes[position]
    assert isinstance(node, Load | Store)
    form = affine(node.index, axes=analysis.axes, sizes=analysis.sizes)
    if form is not None:
        low, high = form.span(analysis.axes)
        if 0 <= low and high < length:
            return True
    return in_range_everywhere(analysis, position, length) is True


def _check_uses(analysis: Analysis, buffer: Buffer) -> None:
    nodes: Sequence[Node] = analysis.nodes
    stores = [(k, node) for k, node in enumerate(nodes) if isinstance(node, Store) and node.buffer == buffer.name]
    loads = [node for node in nodes if isinstance(node, Load) and node.buffer == buffer.name]
    plain = [(k, node) for k, node in stores if node.mode == "set"]
    if buffer.role == "inout":
        named = {getattr(node, field, None) for node in nodes for field in ("boundaries", "sorter", "seeds")}
        _require(buffer.name not in named, f"inout buffer {buffer.name} can only be loaded and stored")
        _require(stores, f"inout buffer {buffer.name} has no store; call it in")
        _require(len(plain) == 0 or len(stores) == 1, f"inout buffer {buffer.name}: one plain store, or atomic_adds")
        _require(plain or not loads, f"inout buffer {buffer.name}: what is added to atomically cannot be loaded")
        _require(all(load.index == plain[0][1].index and not load.checked for load in loads),
                 f"inout buffer {buffer.name}: loads must have the index of its store")
    elif buffer.role == "out":
        _require(len(plain) == 1 and len(stores) == 1, f"output {buffer.name} needs exactly one store")
    for position, node in plain:
        lengths = {axis: n for axis, n in analysis.axes.items() if axis in analysis.domains[position]}
        if 0 in lengths.values():
            continue
        form = affine(node.index, axes=analysis.axes, sizes=analysis.sizes)
        apart = form is not None and form.injective(lengths)
        _require(apart or distinct(analysis, position), f"different points of node {position} store to one element of "
                 f"{buffer.name}, or it cannot be told; use an affine index with increasing strides")


__all__ = ["IllegalExpression", "IllegalGraph", "check", "schedule_problem", "types"]
