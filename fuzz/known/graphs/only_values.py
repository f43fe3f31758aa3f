"""What a compiler knows of a value of a graph whatever is loaded: the one number that it is.

LLVM knows more than Triton, and not all that is found here: `x // x` is 1 to it, a product of fp32 with 0 is not 0.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tridiff.fuzz.kinds.graphs.conversions import assembled
from tridiff.fuzz.known.graphs.nodes import DIVISIONS, ORDERS, below
from tridiff.kernels.codegen.constants import integer_limits, is_float, parse
from tridiff.kernels.codegen.domains import Analysis, operands
from tridiff.kernels.codegen.graph import Asm, Cast, Constant, Index, Masked, Node, Pointwise
from tridiff.oracles.by_numpy.pointwise import evaluate
from tridiff.oracles.dtypes import Array, numpy_dtype
from tridiff.oracles.errors import OracleError

_MOST = 3
"""Operands of which nothing is known that are tried together."""
_AGAINST_ITSELF = (*ORDERS, "eq", "ne", "sub", "bitwise_xor")
_ABSORBING = {"mul": "0", "bitwise_and": "0", "bitwise_or": "-1"}
_FLOATS = (0.0, -0.0, 1.0, -1.0, 2.5, float("inf"), float("-inf"), float("nan"))


def only_value(analysis: Analysis, position: int) -> Array | None:
    """The one number that a value is, as an array of one element (a half as fp32); None if it may be several. An
    operation absorbs an operand if it gives the same for every number that is tried in its place."""
    known: dict[int, Array | None] = {}
    with np.errstate(all="ignore"):
        for place in sorted(below(analysis, [position], into_loads=False)):
            known[place] = _of(analysis, place, known)
    return known[position]


def folded_early(analysis: Analysis, position: int) -> bool:
    """Whether Triton itself makes a constant of a value, and of what becomes of it: of constants, of an integer against
    itself, of one that is multiplied by 0 or loses or gets all of its bits."""
    known: dict[int, bool] = {}
    for place in sorted(below(analysis, [position], into_loads=False)):
        known[place] = _early(analysis, place, known)
    return known[position]


def _early(analysis: Analysis, place: int, known: Mapping[int, bool]) -> bool:
    node = analysis.nodes[place]
    if isinstance(node, Constant | Index):
        return only_value(analysis, place) is not None
    if isinstance(node, Pointwise) and not is_float(analysis.dtype(node.args[0])):
        args = [analysis.nodes[k] for k in node.args]
        texts = {one.value for one in args if isinstance(one, Constant)}
        if (node.op in _AGAINST_ITSELF and args[0] == args[1]) or _ABSORBING.get(node.op) in texts:
            return True
    return isinstance(node, Cast | Masked | Pointwise) and all(known[k] for k in operands(node))


def _of(analysis: Analysis, place: int, known: dict[int, Array | None]) -> Array | None:
    node = analysis.nodes[place]
    args = [known.get(k) for k in operands(node)]
    found = [one for one in args if one is not None]
    match node:
        case Constant():
            return _constant(node.value, node.dtype)
        case Index():
            bounds = analysis.facts.of(node.expr).range
            return None if bounds is None or bounds[0] != bounds[1] else np.array(bounds[:1]).astype(held(node.dtype))
        case Cast(bitcast=False) if found and (is_float(node.dtype) or found[0].dtype.kind != "f"):
            return found[0].astype(held(node.dtype))
        case Cast() if found and not is_float(node.dtype) and found[0].dtype.kind in "iu":
            return found[0].view(held(node.dtype))
        case Masked():
            value, other, mask = known[node.arg], _constant(node.other, analysis.dtype(place)), known[node.mask]
            if mask is not None:
                return value if mask[0] else other
            return _same(np.concatenate([value, other])) if value is not None else None
        case Asm() if len(found) == len(args) and node.body != "ex2_approx":
            signed = [value.astype(np.int32) for k in node.args if (value := known[k]) is not None]
            return assembled(node.body, [one.view(np.uint32) for one in signed], signed).view(np.int32)
        case Pointwise():
            return _computed(analysis, node, known)
    return None


def _computed(analysis: Analysis, node: Pointwise, known: dict[int, Array | None]) -> Array | None:
    """What an operation gives for all numbers of which nothing is known, which may be those that are; equal text is one
    number."""
    nodes = analysis.nodes
    beside = [value for k in node.args if (value := known[k]) is not None]
    divisors = {nodes[k] for k in node.args[1:2] if node.op in DIVISIONS}
    tried: dict[Node, Array] = {}
    for k in node.args:
        if known[k] is None:
            probes = _probes(analysis.dtype(k))
            probes = np.concatenate([probes, *(one for one in beside if one.dtype == probes.dtype)])
            tried[nodes[k]] = probes[probes != 0] if nodes[k] in divisors else probes
    if len(tried) > _MOST:
        return None
    each = dict(zip(tried, (one.reshape(-1) for one in np.meshgrid(*tried.values())), strict=True))
    length = max(map(len, each.values()), default=1)
    try:
        made = evaluate(node.op, *(
            each[nodes[k]] if (value := known[k]) is None else value.repeat(length) for k in node.args))
    except (OracleError, TypeError, ValueError):
        return None
    one = _same(made.reshape(-1))
    return None if one is None else one.astype(held(analysis.dtype(nodes.index(node))))


def _same(values: Array) -> Array | None:
    """The first of the numbers, if the others are the same, to the sign of a zero."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values).astype(values.dtype)
    return values[:1] if len({one.tobytes() for one in values}) == 1 else None


def held(dtype: str) -> np.dtype[Any]:
    """What numbers of a dtype are computed in here: halves are fp32."""
    return np.dtype(np.float64 if dtype == "fp64" else np.float32) if is_float(dtype) else np.dtype(numpy_dtype(dtype))


def _constant(value: str, dtype: str) -> Array:
    return np.array([parse(value, dtype)], held(dtype))


def _probes(dtype: str) -> Array:
    low, high = (0, 0) if is_float(dtype) else integer_limits(dtype)
    return np.array(_FLOATS if is_float(dtype) else [low, *(k for k in (-1, 0, 1, 2, 5) if low < k < high), high],
                    held(dtype))
