"""Index expressions at every point at once, in numpy: the proof of last resort that an index is in range."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Expr, Index, Load, Node, Num, Pointwise, Real, Store, Sym
from tridiff.kernels.codegen.ranges import parse_real, symbols

Array = NDArray[Any]
MAX_ENUMERATED = 2**20
"""Points of one index that are evaluated; a larger one must be proven by intervals."""


_REAL: Mapping[str, Callable[..., Array]] = {
    "cos": np.cos, "cosh": np.cosh, "acos": np.arccos, "sin": np.sin, "sinh": np.sinh, "asin": np.arcsin, "tan": np.tan,
    "tanh": np.tanh, "atan": np.arctan, "log2": np.log2, "sqrt": np.sqrt,
}
_COMPARE: Mapping[str, Callable[..., Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}
_FOLD: Mapping[str, Callable[..., Array]] = {
    "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.logical_and, "or": np.logical_or,
}
_ROUND: Mapping[str, Callable[..., Array]] = {
    "trunc_to_int": np.trunc, "floor": np.floor, "floor_to_int": np.floor, "ceiling": np.ceil, "ceil_to_int": np.ceil,
    "round_to_int": np.rint,
}


def evaluate(expr: Expr, values: Mapping[str, Array]) -> Array:
    """The expression over arrays that broadcast: integers in int64 (the ranges were checked), reals in float64."""
    if isinstance(expr, Sym):
        return values[expr.name]
    if isinstance(expr, Num):
        return np.asarray(expr.value, np.int64)
    if isinstance(expr, Real):
        return np.asarray(parse_real(expr), np.float64)
    args = [evaluate(one, values) for one in expr.args]
    name = expr.function
    if name in _FOLD:
        result = args[0]
        for one in args[1:]:
            result = _FOLD[name](result, one)
        return result
    if name in _REAL:
        return _REAL[name](args[0].astype(np.float64))
    if name in _COMPARE:
        return _COMPARE[name](args[0], args[1])
    if name in _ROUND:
        whole = _ROUND[name](args[0])
        return np.where(np.isfinite(whole) & (abs(whole) < 2.0**62), whole, 0).astype(np.int64)
    return _other(name, args)


def _other(name: str, args: list[Array]) -> Array:
    a, b, c = (*args, *args, *args)[:3]
    simple: Mapping[str, Callable[[], Array]] = {
        "neg": lambda: -a, "abs": lambda: np.abs(a), "not": lambda: np.logical_not(a),
        "floordiv": lambda: a // b, "cleandiv": lambda: a // b, "ceildiv": lambda: -(-a // b),
        "mod": lambda: a % b, "python_mod": lambda: a % b, "modular_indexing": lambda: (a // b) % c,
        "int_true_div": lambda: a / b, "float_true_div": lambda: a / b, "to_float": lambda: a.astype(np.float64),
        "round_decimal": lambda: np.round(a, int(b)), "float_pow": lambda: a**b, "pow_by_natural": lambda: a**b,
        "where": lambda: np.where(a, b, c),
    }
    return np.asarray(simple[name]())


def grid(analysis: Analysis, domain: frozenset[str]) -> dict[str, Array] | None:
    """One array per axis (of shape 1 outside of the domain) and per size; None if there are too many points."""
    lengths = [length if axis in domain else 1 for axis, length in analysis.axes.items()]
    if math.prod(lengths) > MAX_ENUMERATED:
        return None
    found: dict[str, Array] = {}
    for place, axis in enumerate(analysis.axes):
        shape = [1] * len(lengths)
        shape[place] = lengths[place]
        found[axis] = np.arange(lengths[place], dtype=np.int64).reshape(shape)
    found.update({name: np.asarray(value, np.int64) for name, value in analysis.sizes.items()})
    return found


def may_hold(analysis: Analysis, position: int, values: Mapping[str, Array]) -> Array:
    """Where an i1 node may be true: exact for conditions on indices, true where data decide."""
    node: Node = analysis.nodes[position]
    if isinstance(node, Index) and symbols(node.expr) <= values.keys():
        return np.asarray(evaluate(node.expr, values), bool)
    if isinstance(node, Pointwise) and node.op in ("logical_and", "bitwise_and", "logical_or", "bitwise_or"):
        join = np.logical_and if node.op.endswith("and") else np.logical_or
        return np.asarray(join(*(may_hold(analysis, k, values) for k in node.args)))
    return np.asarray(True)


def active(analysis: Analysis, position: int, values: Mapping[str, Array]) -> Array:
    """Where a load or store may be active, as far as indices decide."""
    result = np.asarray(True)
    for mask in analysis.masks(position):
        result = np.logical_and(result, may_hold(analysis, mask, values))
    return result


def in_range_everywhere(analysis: Analysis, position: int, length: int) -> bool | None:
    """Whether the index of a load or store is within 0 <= index < length wherever it may be active; None if there are
    too many points to tell."""
    node = analysis.nodes[position]
    assert isinstance(node, Load | Store)
    domain = analysis.domains[position]
    for k in analysis.bodies[position]:
        domain = domain | analysis.domains[k]
    values = grid(analysis, domain)
    if values is None:
        return None
    index, where = np.broadcast_arrays(evaluate(node.index, values), active(analysis, position, values))
    return not bool(np.any(where & ((index < 0) | (index >= length))))


def distinct(analysis: Analysis, position: int) -> bool | None:
    """Whether the points of a store have different indices; None if there are too many points to tell."""
    node = analysis.nodes[position]
    assert isinstance(node, Store)
    values = grid(analysis, analysis.domains[position])
    if values is None:
        return None
    shape = [length if axis in analysis.domains[position] else 1 for axis, length in analysis.axes.items()]
    index = np.broadcast_to(evaluate(node.index, values), shape)
    return len(np.unique(index)) == index.size
