"""Cells of the coverage ledger that a program reaches, and how large it is."""

from collections.abc import Iterator

from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.domains import Analysis, expression, indirect, value_operands
from tridiff.kernels.codegen.graph import (
    Apply,
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
    Pointwise,
    Random,
    Reduce,
    Scan,
    Schedule,
    Sort,
    Store,
)


def functions(expr: Expr) -> Iterator[str]:
    """Names of the functions in an expression."""
    if isinstance(expr, Apply):
        yield expr.function
        for one in expr.args:
            yield from functions(one)


def _expression_size(expr: Expr) -> int:
    return 1 + sum(map(_expression_size, expr.args)) if isinstance(expr, Apply) else 0


def operation(node: Node) -> str:
    """What a node does, in one word."""
    if isinstance(node, Pointwise):
        return node.op
    if isinstance(node, Cast):
        return f"{'bitcast' if node.bitcast else 'to'}_{node.dtype}"
    if isinstance(node, Reduce):
        return f"reduce_{node.kind}"
    if isinstance(node, Scan):
        return f"scan_{node.combine}"
    if isinstance(node, Sort):
        return f"sort{'_descending' if node.descending else ''}{'' if node.stable else '_unstable'}"
    if isinstance(node, Bucketize):
        return f"bucketize{'_right' if node.right else ''}{'_sorter' if node.sorter else ''}"
    if isinstance(node, Random):
        return node.kind
    if isinstance(node, Asm):
        return f"asm_{node.body}"
    if isinstance(node, Store):
        return f"store_{node.mode}"
    if isinstance(node, Load):
        return "load_checked" if node.checked else "load_masked" if node.mask is not None else "load"
    return type(node).__name__.lower()


def features(graph: Graph) -> tuple[str, ...]:
    """The features whose pairs are counted."""
    found = {f"reduction={schedule.reduction}" for schedule in graph.schedules if graph.r is not None}
    found |= {f"access={schedule.access}" for schedule in graph.schedules if schedule.access != "pointers"}
    if not graph.schedules[0].upcast:
        found.add("no_upcast")
    if any(schedule.no_x_dim for schedule in graph.schedules):
        found.add("no_x_dim")
    if any(len(schedule.x_blocks) > 1 for schedule in graph.schedules):
        found.add("tiled")
    if any(schedule.static for schedule in graph.schedules):
        found.add("static")
    for node in graph.nodes:
        if isinstance(node, Masked):
            found.add("masked")
        elif isinstance(node, Load):
            if node.mask is not None:
                found.add("masked_load")
            if indirect(node.index):
                found.add("gather")
        elif isinstance(node, Reduce | Scan | Sort | Bucketize | Random | Asm):
            found.add(type(node).__name__.lower())
        elif isinstance(node, Store) and node.mode == "atomic_add":
            found.add("atomic_add")
        elif isinstance(node, Index):
            found.add("index")
    if any(buffer.role == "inout" for buffer in graph.buffers):
        found.add("inout")
    return tuple(sorted(found))


def cells(case: Case) -> Iterator[str]:
    """`op=... dtype=...`, the same with each feature, pairs of features, and functions of index expressions."""
    graph = graph_of(case)
    analysis = Analysis(graph)
    present = features(graph)
    seen: set[str] = set()
    for position, node in enumerate(graph.nodes):
        by_operand = isinstance(node, Pointwise | Reduce | Scan | Cast | Bucketize | Sort | Store)
        word = f"op={operation(node)} dtype={analysis.dtype(value_operands(node)[0] if by_operand else position)}"
        seen.add(word)
        seen.update(f"{word} feature={feature}" for feature in present)
        expr = expression(node)
        if expr is not None:
            seen.update(f"expr={name}" for name in functions(expr))
    seen.update(f"pair={one}+{two}" for place, one in enumerate(present) for two in present[place + 1:])
    yield from sorted(seen)


_RANK = ("i32", "fp32", "i1", "i64", "fp64", "i16", "i8", "u8", "u32", "u16", "u64", "fp16", "bf16", "fp8e5", "fp8e4nv")


def size(case: Case) -> tuple[int, ...]:
    """Nodes, points, schedules, axes, nodes of index expressions, masks, dtypes, how far schedules are from plain: what
    a reader has to hold in mind, most important first."""
    graph = graph_of(case)
    expressions = sum(_expression_size(expr) for node in graph.nodes if (expr := expression(node)) is not None)
    points = max(graph.r or 1, 1)
    for length in graph.outer:
        points *= max(length, 1)
    empty = sum(length == 0 for length in (*graph.outer, *([] if graph.r is None else [graph.r])))
    masks = sum((isinstance(node, Load) and (node.mask is not None) + node.checked + (node.other != "0"))
                or (isinstance(node, Masked) and node.other != "0")
                or (isinstance(node, Constant) and (node.value not in ("0", "1", "1.0")) + (node.value != "1"))
                for node in graph.nodes)
    dtypes = sum(_RANK.index(buffer.dtype) for buffer in graph.buffers) + sum(
        _RANK.index(node.dtype) for node in graph.nodes if isinstance(node, Cast | Constant | Index))
    plain = Schedule()
    settings = [name for name in Schedule.__struct_fields__ if name not in ("x_blocks", "r_block")]
    odd = sum(getattr(one, name) != getattr(plain, name) for one in graph.schedules for name in settings)
    blocks = sum(block for one in graph.schedules for block in (*one.x_blocks, one.r_block))
    axes = len(graph.outer) + (graph.r is not None)
    return len(graph.nodes), empty, points, len(graph.schedules), axes, expressions, masks, dtypes, odd, blocks
