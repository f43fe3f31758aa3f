"""Simpler programs to try when one fails: delta debugging on graphs.

Candidates come in the order of how much they take away: stores and schedules first, then whole subgraphs (a node is
replaced by a load, a constant or one of its operands), axes and lengths, masks and index expressions, dtypes, schedule
options. None is promised to be legal; `Draw.valid` refuses the others before they are run.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.addresses import dense_strides, linear, num
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.dead_code import live_nodes, with_operands
from tridiff.fuzz.kinds.graphs.rebuild import rebuilt
from tridiff.fuzz.records import Case, Constant as ConstantContent, Content, Iota, Small
from tridiff.kernels.codegen.domains import Analysis, expression, operands, with_expression
from tridiff.kernels.codegen.graph import (
    MAX_NODES,
    Apply,
    Buffer,
    Cast,
    Constant,
    Expr,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Num,
    Part,
    Schedule,
    Store,
    Sym,
)
from tridiff.oracles.dtypes import dtype as dtype_info

_SIMPLE = {"float": "fp32", "int": "i32", "uint": "i32", "bool": "i1"}
_PLAIN = Schedule()


def simpler(case: Case) -> Iterator[Case]:
    """Cases with a smaller program, the largest steps first. What makes every later step cheaper to try comes before
    them: fewer kernels to compile, and small tiles."""
    if case.variants:
        yield replace(case, variants=())
        yield from map(case.under, case.variants)
    for graph, contents in _candidates(case):
        if graph != case.program or contents:
            made = rebuilt(case, graph, contents)
            if made is not None and made != case:
                yield made


def _candidates(case: Case) -> Iterator[tuple[Graph, dict[str, Content]]]:
    graph = graph_of(case)
    for one in (*_fewer_schedules(graph), *_smaller_tiles(graph), *_fewer_stores(graph)):
        yield one, {}
    yield from _cut_subgraphs(graph)
    for one in (*_shorter(graph), *_fewer_axes(graph), *_bypasses(graph), *_simpler_expressions(graph),
                *_simpler_schedules(graph), *_simpler_dtypes(graph), *_shorter_buffers(graph)):
        yield one, {}
    yield from _simpler_contents(case)


# -- stores and schedules


def _with_nodes(graph: Graph, nodes: list[Node | None]) -> Graph:
    """The graph without the nodes that are None (stores); the others keep their order."""
    place: dict[int, int] = {}
    for old, node in enumerate(nodes):
        if node is not None:
            place[old] = len(place)
    return replace(graph, nodes=tuple(with_operands(node, place.__getitem__) for node in nodes if node is not None))


def _fewer_stores(graph: Graph) -> Iterator[Graph]:
    stores = [k for k, node in enumerate(graph.nodes) if isinstance(node, Store)]
    if len(stores) < 2:
        return
    for kept in stores:
        yield _with_nodes(graph, [node if k == kept or k not in stores else None for k, node in enumerate(graph.nodes)])
    if len(stores) > 2:
        for dropped in stores:
            yield _with_nodes(graph, [None if k == dropped else node for k, node in enumerate(graph.nodes)])


def _smaller_tiles(graph: Graph) -> Iterator[Graph]:
    """All blocks at most 16, or 64: a tile of few elements compiles in a fraction of the time."""
    for most in (16, 64):
        yield replace(graph, schedules=tuple(
            replace(one, x_blocks=tuple(min(block, most) for block in one.x_blocks), r_block=min(one.r_block, most))
            for one in graph.schedules))


def _fewer_schedules(graph: Graph) -> Iterator[Graph]:
    if len(graph.schedules) > 1:
        for one in graph.schedules:
            yield replace(graph, schedules=(one,))
        for dropped in range(len(graph.schedules)):
            yield replace(graph, schedules=graph.schedules[:dropped] + graph.schedules[dropped + 1:])


# -- nodes


def _fresh(graph: Graph) -> str:
    taken = {buffer.name for buffer in graph.buffers}
    return next(f"in{k}" for k in range(100) if f"in{k}" not in taken)


def _loaded(graph: Graph, position: int, dtype: str, axes: list[tuple[str, int]], content: Content,
            ) -> tuple[Graph, dict[str, Content]]:
    """The node at `position` replaced by a dense load of a new buffer."""
    lengths = [length for _, length in axes]
    total = 1
    for length in lengths:
        total *= max(length, 1)
    name = _fresh(graph)
    load = Load(buffer=name, index=linear(axes, dense_strides(lengths)))
    nodes = [*graph.nodes[:position], load, *graph.nodes[position + 1:]]
    buffer = Buffer(name=name, dtype=dtype, length=max(total, 1))
    return replace(graph, nodes=tuple(nodes), buffers=(*graph.buffers, buffer)), {name: content}


def _redirected(graph: Graph, position: int, to: int) -> Graph:
    """Users of the node at `position` use the earlier node `to` instead."""
    nodes = [with_operands(node, lambda k: to if k == position else k) if old > position else node
             for old, node in enumerate(graph.nodes)]
    return replace(graph, nodes=tuple(nodes))


def _cut_subgraphs(graph: Graph) -> Iterator[tuple[Graph, dict[str, Content]]]:
    analysis = Analysis(graph)
    if len(graph.nodes) > MAX_NODES or len(graph.buffers) >= 24:
        return
    live = live_nodes(graph.nodes)
    before = len(live)
    gains: list[tuple[int, int]] = []
    for position in range(len(graph.nodes)):
        if len(analysis.dtypes[position]) == 1 and not isinstance(graph.nodes[position], Load | Constant):
            nodes = list(graph.nodes)
            nodes[position] = Constant(value="0", dtype="i32")
            gains.append((before - len(live_nodes(tuple(nodes))), position))
    for gain, position in sorted(gains, reverse=True):
        dtype = analysis.dtypes[position][0]
        node = graph.nodes[position]
        # One of several results gives way to an operand of the node that has them.
        sources = operands(graph.nodes[node.of]) if isinstance(node, Part) else operands(node)
        same = [k for k in sources if analysis.dtypes[k] == (dtype,)]
        axes = [(name, length) for name, length in analysis.axes.items() if name in analysis.domains[position]]
        if gain > 0 and not isinstance(node, Index):
            for content in _contents(dtype):
                yield _loaded(graph, position, dtype, axes, content)
        for k in same:
            yield _redirected(graph, position, k), {}
        if gain > 0 or isinstance(node, Index):
            yield _constant(graph, position, dtype), {}
    for position, node in enumerate(graph.nodes):
        if isinstance(node, Load):
            yield _constant(graph, position, analysis.dtypes[position][0]), {}
        # The same value need not be loaded or computed twice.
        for earlier in range(position):
            if analysis.dtypes[earlier] == analysis.dtypes[position] != () and (graph.nodes[earlier] == node or (
                    isinstance(node, Load | Constant) and isinstance(graph.nodes[earlier], Load))):
                yield _redirected(graph, position, earlier), {}


def _constant(graph: Graph, position: int, dtype: str) -> Graph:
    value = "1.0" if dtype_info(dtype).is_float else "1"
    nodes = [*graph.nodes[:position], Constant(value=value, dtype=dtype), *graph.nodes[position + 1:]]
    return replace(graph, nodes=tuple(nodes))


def _contents(dtype: str) -> tuple[Content, ...]:
    from tridiff.fuzz.records import Special

    if dtype == "i1":
        return (Content(base=Small(seed=1, low=0, high=1)),)
    plain = Content(base=Iota(start=0 if dtype[0] == "u" else -3, step=1))
    return plain, Content(base=Special(seed=7))


# -- sizes


def _lengths(length: int) -> list[int]:
    """Shorter lengths to try, and 1 for 0: an empty axis is the harder case to read."""
    if length == 0:
        return [1]
    found = [1, 2, length // 4, length // 2, (1 << (length - 1).bit_length()) // 2 + 1, length - 1]
    return [one for one in dict.fromkeys(found) if 0 < one < length]


def _shorter(graph: Graph) -> Iterator[Graph]:
    for place, length in enumerate(graph.outer):
        for one in _lengths(length):
            yield replace(graph, outer=(*graph.outer[:place], one, *graph.outer[place + 1:]))
    if graph.r is not None:
        for one in _lengths(graph.r):
            yield replace(graph, r=one)


def _fewer_axes(graph: Graph) -> Iterator[Graph]:
    """An outer axis less: its index is 0, later axes move up."""
    if graph.r is not None:
        gone: dict[str, Expr] = {"r": num(0), "rn": num(1)}
        yield replace(graph, r=None, nodes=tuple(_substituted(node, gone) for node in graph.nodes))
    if len(graph.outer) < 2:
        return
    for place in range(len(graph.outer)):
        moved: dict[str, Expr] = {f"x{place}": num(0), f"n{place}": num(1)}
        for later in range(place + 1, len(graph.outer)):
            moved |= {f"x{later}": Sym(name=f"x{later - 1}"), f"n{later}": Sym(name=f"n{later - 1}")}
        nodes = tuple(_substituted(node, moved) for node in graph.nodes)
        count = len(graph.outer) - 1
        schedules = tuple(replace(one, x_blocks=one.x_blocks[:count]) for one in graph.schedules)
        yield replace(graph, outer=graph.outer[:place] + graph.outer[place + 1:], nodes=nodes, schedules=schedules)


def _substituted(node: Node, values: dict[str, Expr]) -> Node:
    expr = expression(node)
    return node if expr is None else with_expression(node, _folded(expr, values))


def _folded(expr: Expr, values: dict[str, Expr]) -> Expr:
    """The expression with symbols replaced; sums and products with zeros and ones fold."""
    if isinstance(expr, Sym):
        return values.get(expr.name, expr)
    if not isinstance(expr, Apply):
        return expr
    args = tuple(_folded(one, values) for one in expr.args)
    if expr.function == "add":
        args = tuple(one for one in args if one != Num(value=0)) or (num(0),)
        return args[0] if len(args) == 1 else Apply(function="add", args=args)
    if expr.function == "mul" and num(0) in args:
        return num(0)
    return Apply(function=expr.function, args=args)


def _shorter_buffers(graph: Graph) -> Iterator[Graph]:
    for place, buffer in enumerate(graph.buffers):
        for length in _lengths(buffer.length):
            yield replace(graph, buffers=(*graph.buffers[:place], replace(buffer, length=length),
                                          *graph.buffers[place + 1:]))


# -- one node simpler


def _bypasses(graph: Graph) -> Iterator[Graph]:
    """Masks and checks less, Masked nodes replaced by what they mask."""
    for position, node in enumerate(graph.nodes):
        changed: list[Node] = []
        if isinstance(node, Load):
            if node.mask is not None:
                changed += [replace(node, mask=None, other="0"), replace(node, other="0")]
            if node.checked:
                changed.append(replace(node, checked=False))
        elif isinstance(node, Masked):
            changed.append(replace(node, other="0"))
        elif isinstance(node, Cast) and node.bitcast:
            changed.append(replace(node, bitcast=False))
        elif isinstance(node, Constant) and node.value not in ("0", "1", "1.0"):
            changed += [replace(node, value="0"), replace(node, value="1")]
        elif isinstance(node, Store) and node.mode == "atomic_add":
            changed.append(replace(node, index=num(0)))
        for one in changed:
            if one != node:
                yield replace(graph, nodes=(*graph.nodes[:position], one, *graph.nodes[position + 1:]))


def _children(expr: Expr) -> Iterator[Expr]:
    """Simpler expressions: an operand instead of the whole, here or deeper; small numbers for large ones."""
    if isinstance(expr, Apply):
        yield from expr.args
        if len(expr.args) > 2 and expr.function in ("add", "mul", "min", "max", "and", "or"):
            for place in range(len(expr.args)):
                yield Apply(function=expr.function, args=expr.args[:place] + expr.args[place + 1:])
        for place, one in enumerate(expr.args):
            for child in _children(one):
                yield Apply(function=expr.function, args=(*expr.args[:place], child, *expr.args[place + 1:]))
    elif isinstance(expr, Num) and expr.value not in (0, 1):
        yield num(0)
        yield num(1)
        if expr.value > 3:
            yield num(2)


def _simpler_expressions(graph: Graph) -> Iterator[Graph]:
    analysis = Analysis(graph)
    for position, node in enumerate(graph.nodes):
        expr = expression(node)
        if expr is None:
            continue
        axes = [(name, length) for name, length in analysis.axes.items() if name in analysis.domains[position]]
        options: list[Expr] = []
        if isinstance(node, Load | Store):
            options.append(linear(axes, dense_strides([length for _, length in axes])))
        options += [num(0), *_children(expr)]
        for one in options[:40]:
            if one != expr:
                changed = with_expression(node, one)
                yield replace(graph, nodes=(*graph.nodes[:position], changed, *graph.nodes[position + 1:]))


def _simpler_schedules(graph: Graph) -> Iterator[Graph]:
    every = list(graph.schedules)
    for place, one in enumerate(every):
        for name in Schedule.__struct_fields__:
            if name == "upcast":
                continue
            options: list[object] = [getattr(_PLAIN, name)]
            if name == "x_blocks":
                options = [(1,), one.x_blocks[:1], tuple(max(block // 2, 1) for block in one.x_blocks)]
            elif name == "r_block":
                options = [1, 2, max(one.r_block // 2, 1)]
            for value in options:
                if (value != getattr(one, name) and value) or (value != getattr(one, name) and value in (False, "")):
                    changed = [*every[:place], replace(one, **{name: value}), *every[place + 1:]]
                    yield replace(graph, schedules=tuple(changed))
    if not every[0].upcast:
        yield replace(graph, schedules=tuple(replace(one, upcast=True) for one in every))


def _simpler_dtypes(graph: Graph) -> Iterator[Graph]:
    """One dtype everywhere replaced by the plain one of its kind; then one buffer at a time."""
    present = list(dict.fromkeys(buffer.dtype for buffer in graph.buffers)) + [
        node.dtype for node in graph.nodes if isinstance(node, Cast | Constant)]
    for name in dict.fromkeys(present):
        target = _SIMPLE[dtype_info(name).kind]
        if name not in (target, "i1"):
            yield _retyped(graph, name, target)
    for place, buffer in enumerate(graph.buffers):
        target = _SIMPLE[dtype_info(buffer.dtype).kind]
        if buffer.dtype != target:
            changed = replace(buffer, dtype=target)
            yield replace(graph, buffers=(*graph.buffers[:place], changed, *graph.buffers[place + 1:]))


def _retyped(graph: Graph, name: str, target: str) -> Graph:
    buffers = tuple(replace(one, dtype=target) if one.dtype == name else one for one in graph.buffers)
    nodes = tuple(
        replace(node, dtype=target) if isinstance(node, Cast | Constant | Index) and node.dtype == name else node
        for node in graph.nodes)
    return replace(graph, buffers=buffers, nodes=nodes)


def _simpler_contents(case: Case) -> Iterator[tuple[Graph, dict[str, Content]]]:
    from tridiff.fuzz.records import Explicit

    graph = graph_of(case)
    for spec in case.arrays:
        if spec.content is None or isinstance(spec.content.base, Explicit) or spec.name.startswith("work"):
            continue
        for one in (Content(base=ConstantContent(value="0")), Content(base=ConstantContent(value="1")),
                    Content(base=Iota()), Content(base=spec.content.base)):
            if one != spec.content:
                yield graph, {spec.name: one}


