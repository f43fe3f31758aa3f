"""Folds of `tridiff.oracles.exact` along one axis of small numpy arrays: extrema with index, sums, products, Welford
states.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from tridiff.oracles import exact
from tridiff.oracles.by_exact.pointwise import from_patterns, patterns
from tridiff.oracles.dtypes import Array, dtype, name_of_array


def _slices(x: Array, axis: int) -> tuple[list[list[int]], tuple[int, ...]]:
    moved = np.moveaxis(x, axis, -1)
    length, shape = moved.shape[-1], moved.shape[:-1]
    flat = patterns(moved)
    count = math.prod(shape)
    return [flat[i * length : (i + 1) * length] for i in range(count)], shape


def _with_index(
    value: Array, index: Array, axis: int, choose: Callable[[str, Sequence[exact.Pair]], exact.Pair]
) -> tuple[Array, Array]:
    values, shape = _slices(value, axis)
    indices, _ = _slices(index, axis)
    kind = name_of_array(index)
    winners = [
        choose(name_of_array(value), [(v, exact.to_int(kind, i)) for v, i in zip(vs, js, strict=True)])
        for vs, js in zip(values, indices, strict=True)
    ]
    return (
        from_patterns([v for v, _ in winners], value, shape),
        from_patterns([exact.wrap(kind, i) for _, i in winners], index, shape),
    )


def min_with_index(value: Array, index: Array, axis: int = -1) -> tuple[Array, Array]:
    """(value, index) of the minimum along `axis`: NaN first, then value, then index."""
    return _with_index(value, index, axis, exact.min_with_index)


def max_with_index(value: Array, index: Array, axis: int = -1) -> tuple[Array, Array]:
    """(value, index) of the maximum along `axis`: NaN first, then value, then index."""
    return _with_index(value, index, axis, exact.max_with_index)


def minimum_with_index(av: Array, ai: Array, bv: Array, bi: Array) -> tuple[Array, Array]:
    """The winning pair of two, element-wise."""
    return min_with_index(np.stack([av, bv]), np.stack([ai, bi]), axis=0)


def maximum_with_index(av: Array, ai: Array, bv: Array, bi: Array) -> tuple[Array, Array]:
    """The winning pair of two, element-wise."""
    return max_with_index(np.stack([av, bv]), np.stack([ai, bi]), axis=0)


def min2(x: Array, axis: int = -1) -> Array:
    """Smallest value along `axis`, NaN if there is one."""
    return min_with_index(x, np.broadcast_to(np.int64(0), x.shape), axis)[0]


def max2(x: Array, axis: int = -1) -> Array:
    """Largest value along `axis`, NaN if there is one."""
    return max_with_index(x, np.broadcast_to(np.int64(0), x.shape), axis)[0]


def _fold(
    x: Array, axis: int, integers: Callable[[list[int]], int], floats: Callable[[str, list[int]], float]
) -> Array:
    name = name_of_array(x)
    slices, shape = _slices(x, axis)
    if dtype(name).is_float:
        return np.array([floats(name, s) for s in slices], dtype=np.float64).reshape(shape)
    return from_patterns([exact.wrap(name, integers([exact.to_int(name, b) for b in s])) for s in slices], x, shape)


def sum(x: Array, axis: int = -1) -> Array:
    """Sum along `axis`; integers wrap in their type, floats as the correctly rounded float64 of the exact
    sum.
    """
    return _fold(x, axis, lambda s: int(np.sum(np.array(s, dtype=object))) if s else 0, exact.sum_of)


def prod(x: Array, axis: int = -1) -> Array:
    """Product along `axis`; integers wrap in their type, floats as the float64 nearest to the exact
    product.
    """
    return _fold(x, axis, math.prod, exact.product_of)


def welford(mean: Array, m2: Array, weight: Array, axis: int = -1) -> tuple[Array, Array, Array]:
    """Welford state along `axis`, as the float64 nearest to the exact one; weights must be finite."""
    columns = [_slices(a, axis) for a in (mean, m2, weight)]
    shape = columns[0][1]
    name = name_of_array(mean)
    results: list[tuple[float, float, float]] = []
    for means, squares, weights in zip(*(c[0] for c in columns), strict=True):
        counted = [
            (m, s, exact.to_fraction(name, w))
            for m, s, w in zip(means, squares, weights, strict=True)
            if exact.to_fraction(name, w) != 0
        ]
        count = math.fsum(float(w) for *_, w in counted)
        if any(not exact.is_finite(name, m) for m, *_ in counted):
            results.append((math.nan, math.nan, count))
            continue
        total = Fraction(count)
        centre = _weighted([(exact.to_fraction(name, m), w) for m, _, w in counted]) / (total or 1)
        if any(not exact.is_finite(name, s) for _, s, _ in counted):
            spread = math.nan
        else:
            gaps = [((exact.to_fraction(name, m) - centre) ** 2, w) for m, _, w in counted]
            inner = [(exact.to_fraction(name, s), Fraction(1)) for _, s, _ in counted]
            spread = exact.to_float(_weighted(gaps) + _weighted(inner))
        results.append((exact.to_float(centre), spread, count))
    parts = np.array(results, dtype=np.float64).reshape(*shape, 3)
    return parts[..., 0], parts[..., 1], parts[..., 2]


def _weighted(terms: list[tuple[Fraction, Fraction]]) -> Fraction:
    total = Fraction(0)
    for value, weight in terms:
        total += value * weight
    return total
