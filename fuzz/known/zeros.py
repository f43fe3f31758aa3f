"""Which constants of a generated program are -0.0: those that are written so, and those that torch.compile computes."""

from collections.abc import Mapping
from math import copysign, prod
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from tridiff.fuzz.known.graphs.nodes import below
from tridiff.fuzz.known.graphs.only_values import held
from tridiff.fuzz.known.rewriting import Changes
from tridiff.kernels.codegen import points
from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Apply, Constant, Expr, Index, Load, Masked, Node, Num, Pointwise, real_number
from tridiff.kernels.codegen.ranges import symbols
from tridiff.oracles.by_numpy.pointwise import evaluate
from tridiff.oracles.errors import OracleError

Numbers = npt.NDArray[Any]

_MOST_POINTS = 1 << 12
"""Points at which it is looked whether an expression is -0.0 everywhere."""


def minus_zero(analysis: Analysis, position: int, node: Node) -> Changes:
    """The same with +0.0 as constant, as what masked elements hold, and as value of what depends on no element."""
    if isinstance(node, Constant):
        return {position: replace(node, value="0.0")} if _is_minus_zero(node.value, node.dtype) else {}
    if isinstance(node, Load | Masked):
        masked = node.mask is not None and _is_minus_zero(node.other, analysis.dtype(position))
        return {position: replace(node, other="0.0")} if masked else {}
    if isinstance(node, Pointwise):
        by = analysis.nodes[node.args[-1]]
        if node.op == "truediv" and isinstance(by, Constant) and by.value == "-inf":  # the product with 1 / -inf
            return {position: replace(node, op="add")}
        dtype = analysis.dtype(position)
        value = _number(analysis, position) if is_float(dtype) else None
        return {} if value is None or not _all_minus_zero(value) else {position: Constant(value="0.0", dtype=dtype)}
    if not isinstance(node, Index):
        return {}
    without = _without_minus_zero(analysis, node.expr)
    return {position: replace(node, expr=without)} if without != node.expr else {}


def _is_minus_zero(text: str, dtype: str) -> bool:
    return is_float(dtype) and copysign(1.0, real_number(text)) < 0 and real_number(text) == 0


def _without_minus_zero(analysis: Analysis, expr: Expr) -> Expr:
    names = symbols(expr)
    axes = [name for name in analysis.axes if name in names]
    lengths = [analysis.axes[name] for name in axes]
    if (analysis.facts.of(expr).kind == "real" and names <= {*analysis.sizes, *axes}
            and prod(lengths) <= _MOST_POINTS):
        places = dict(zip(axes, np.indices(lengths, sparse=True), strict=True))
        value = points.evaluate(expr, {**{name: np.asarray(size) for name, size in analysis.sizes.items()}, **places})
        if _all_minus_zero(value):
            return Apply(function="to_float", args=(Num(value=0),))
    if not isinstance(expr, Apply):
        return expr
    return replace(expr, args=tuple(_without_minus_zero(analysis, one) for one in expr.args))


def _all_minus_zero(values: Numbers) -> bool:
    return bool(np.all((values == 0) & np.signbit(values)))


def _number(analysis: Analysis, position: int) -> Numbers | None:
    """The number that a float is because nothing but constants comes into it, as an array of one element (a half as
    fp32); None if it is none."""
    known: dict[int, Numbers | None] = {}
    for place in sorted(below(analysis, [position], into_loads=False)):
        known[place] = _of(analysis, place, known)
    return known[position]


def _of(analysis: Analysis, place: int, known: Mapping[int, Numbers | None]) -> Numbers | None:
    node = analysis.nodes[place]
    if isinstance(node, Constant):
        return np.array([real_number(node.value)]) if is_float(node.dtype) else None
    if isinstance(node, Index):
        real = is_float(node.dtype) and not symbols(node.expr) and analysis.facts.of(node.expr).kind == "real"
        return np.atleast_1d(points.evaluate(node.expr, {})) if real else None
    if not isinstance(node, Pointwise):
        return None
    args = [value for k in node.args if (value := known[k]) is not None]
    if len(args) < len(node.args):
        return None
    try:
        with np.errstate(all="ignore"):
            return evaluate(node.op, *(one.astype(held(analysis.dtype(place))) for one in args)).reshape(-1)
    except (OracleError, TypeError, ValueError):
        return None
