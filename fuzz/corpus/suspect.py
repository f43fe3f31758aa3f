"""Which part of a small program that is drawn as a graph is under suspicion.

Shrinking takes away what a failure does not need; much of what is left only carries it: an index makes a mask, a mask
makes a masked value, and only that one is wrong. Parts are asked for from the most particular to the most common, and
the first that is there is the suspect, because it would have gone if what is below it had been enough. A program of
which nothing particular is left is told by its axes, on which its masks and addresses depend.
"""

from collections.abc import Iterator

from tridiff.kernels.codegen.graph import (
    Apply,
    Bucketize,
    Cast,
    Expr,
    Graph,
    Index,
    Load,
    Masked,
    Part,
    Pointwise,
    Random,
    Reduce,
    Scan,
    Sort,
    Store,
)

_FUNCTIONS = {
    "true division": ("int_true_div", "float_true_div"),
    "rounding": ("round_to_int", "round_decimal"),
    "integer division": ("floordiv", "ceildiv", "cleandiv", "mod", "python_mod", "modular_indexing"),
}
"""Functions of index expressions that are printed by one rule."""
_CARRYING = frozenset(("add", "mul", "neg", "to_float", "trunc_to_int", "where", "min", "max", "abs", "and", "or",
                       "not", "eq", "ne", "lt", "le", "gt", "ge"))
"""Those that most index expressions have, whatever is wrong with them."""
_COMPARED = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_ROUNDED = frozenset(("round", "rint", "nearbyint"))
_LIKE = {"max": "extremum", "min": "extremum", "argmax": "position", "argmin": "position", "any": "truth",
         "all": "truth", "welford_combine": "welford"}
"""Reductions of one kind."""

SHARED, ROW = "shared axis", "row"
FORMULAS = (SHARED, ROW, *_FUNCTIONS)
"""Suspects that are wrong as values and as addresses alike."""
_COMMON = ("atomic", "axes", "reduce", "scan tiled", "sort")
_PARTICULAR = "reduce position"


def is_common(suspect: str) -> bool:
    """Whether several things may be wrong with a suspect, so that what comes out wrong has to tell them apart. A wrong
    position is another number in each program, and a scan that needs a wide tile carries something wrong into it."""
    return suspect.startswith(_COMMON) and suspect != _PARTICULAR


def suspect_of(graph: Graph, *, astray: str = "") -> tuple[str, ...]:
    """The most particular parts of a program, as words; none where it has nothing but constants, loads and stores.
    astray: the access that is wrong, "load", "store" or any other word, where it is none of the values."""
    # The masks of a program are those of its loads.
    levels = _WITHIN if not astray else _UNWRITTEN if astray == "unwritten" else (
        _AROUND if astray == "load" else _AROUND[1:])
    for level in levels:
        found = tuple(sorted(set(level(graph))))
        if found:
            return found
    return ()


def _folds(graph: Graph) -> Iterator[str]:
    positions = {node.of for node in graph.nodes if isinstance(node, Part) and node.item == 1}
    for number, node in enumerate(graph.nodes):
        match node:
            case Reduce():
                yield f"reduce {_LIKE.get(node.kind, node.kind)}"
            case Scan():
                yield f"scan{_tiled(graph)}"
            case Sort():
                yield f"sort{' descending' if node.descending else ''}{' positions' if number in positions else ''}"
            case Bucketize():
                yield "bucketize"
            case Random():
                yield "randint64" if node.kind == "randint64" else "random"


def _tiled(graph: Graph) -> str:
    """How a row is cut into tiles, where the failure needs that."""
    main = graph.schedules[0]
    if graph.r is None or main.reduction == "persistent":
        return ""
    return " wide" if main.r_block > 1 else " tiled"


def _masked(graph: Graph) -> Iterator[str]:
    if any(isinstance(node, Masked) for node in graph.nodes):
        yield "masked"


def _conditional(graph: Graph) -> Iterator[str]:
    if any(isinstance(node, Masked) or (isinstance(node, Load) and node.mask is not None) for node in graph.nodes):
        yield "mask"


def _shared(graph: Graph) -> list[str]:
    """Axes that share an axis of the tile."""
    return [SHARED] if len(graph.outer) > len(graph.schedules[0].x_blocks) else []


def _printed(graph: Graph) -> list[str]:
    used = {one for node in graph.nodes for expr in _expressions(node) for one in _functions(expr)}
    for name, functions in _FUNCTIONS.items():
        if used & set(functions):
            return [name]
    if any(isinstance(node, Pointwise) and node.op in _ROUNDED for node in graph.nodes):
        return ["rounding"]
    return [f"index {name}" for name in used - _CARRYING]


def _guarded(graph: Graph) -> Iterator[str]:
    masks = sum(isinstance(node, Load) and node.mask is not None for node in graph.nodes)
    if masks:
        yield "mask" if masks == 1 else "masks"
    elif any(isinstance(node, Load) and node.checked for node in graph.nodes):
        yield "checked"


def _booleans(graph: Graph) -> Iterator[str]:
    truths = {one.name for one in graph.buffers if one.dtype == "i1"}
    if any(isinstance(node, Load) and node.buffer in truths for node in graph.nodes):
        yield "load of booleans"


def _bitcasts(graph: Graph) -> Iterator[str]:
    if any(isinstance(node, Cast) and node.bitcast for node in graph.nodes):
        yield "bitcast"


def _computed(graph: Graph) -> Iterator[str]:
    for node in graph.nodes:
        if isinstance(node, Pointwise):
            yield "compare" if node.op in _COMPARED else node.op


def _row(graph: Graph) -> Iterator[str]:
    """The axis along which a program may fold; here none does."""
    if graph.r is not None:
        yield ROW


def _accumulated(graph: Graph) -> Iterator[str]:
    if any(isinstance(node, Store) and node.mode == "atomic_add" for node in graph.nodes):
        yield "atomic"


def _indexed(graph: Graph) -> Iterator[str]:
    if any(isinstance(node, Index) for node in graph.nodes):
        yield "index"


def _axes(graph: Graph) -> Iterator[str]:
    if graph.r is not None or len(graph.schedules[0].x_blocks) > 1:
        yield "axes"


_WITHIN = (_folds, _masked, _shared, _printed, _guarded, _bitcasts, _booleans, _computed, _row, _accumulated, _indexed,
           _axes)
"""What may make a value wrong, the most particular first."""
_AROUND = (_conditional, _shared, _printed, _axes)
"""What may lead an access astray."""
_UNWRITTEN = (_shared, _printed, _row, _axes)
"""What may leave an element unwritten."""


def _expressions(node: object) -> Iterator[Expr]:
    match node:
        case Index():
            yield node.expr
        case Load() | Store():
            yield node.index


def _functions(expr: Expr) -> Iterator[str]:
    if isinstance(expr, Apply):
        yield expr.function
        for one in expr.args:
            yield from _functions(one)
