"""Whole-row references in plain Python: bucketize, stable sort, selection, exclusive scan, Philox streams."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tridiff.oracles import exact
from tridiff.oracles.by_exact.pointwise import from_patterns, patterns
from tridiff.oracles.dtypes import Array, dtype, name_of_array, numpy_dtype
from tridiff.oracles.errors import OracleError


def bucketize(
    values: Array, boundaries: Array, sorter: Array | None = None, *, right: bool = False, index_dtype: str = "i64",
) -> Array:
    """Count of boundaries of the row below each value, in the convention of `tridiff.oracles.by_numpy.search`."""
    name = name_of_array(values)
    found, edges = np.atleast_2d(values), np.atleast_2d(boundaries)
    order = None if sorter is None else np.atleast_2d(sorter)
    result: list[int] = []
    for row in range(found.shape[0]):
        edge_bits = patterns(edges[row % edges.shape[0]])
        if order is not None:
            edge_bits = [edge_bits[int(k)] for k in order[row % order.shape[0]]]
        for value in patterns(found[row]):
            below = 0
            for edge in edge_bits:
                if exact.is_nan(name, value) or exact.is_nan(name, edge):
                    below += 1
                else:
                    a, b = exact.order(name, edge), exact.order(name, value)
                    below += a < b or (right and a == b)
            result.append(below)
    return np.array(result, dtype=numpy_dtype(index_dtype)).reshape(values.shape)


def sort_with_index(
    x: Array, index: Array, *, rnumel: int | None = None, descending: bool = False
) -> tuple[Array, Array]:
    """Stable sort of the last axis with its indices, in the convention of `tridiff.oracles.by_numpy.sorting`."""
    name, index_name = name_of_array(x), name_of_array(index)
    length = x.shape[-1]
    values, indices = patterns(x), [exact.to_int(index_name, i) for i in patterns(index)]
    sorted_values: list[int] = []
    sorted_indices: list[int] = []
    for start in range(0, len(values), length):
        pairs = list(zip(values[start : start + length], indices[start : start + length], strict=True))

        def key(pair: tuple[int, int]) -> tuple[bool, tuple[int, Fraction], int]:
            bits, position = pair
            rank = (2, Fraction(0)) if exact.is_nan(name, bits) else exact.order(name, bits)
            if descending:
                rank = (-rank[0], -rank[1])
            return (rnumel is not None and position >= rnumel, rank, position)

        pairs.sort(key=key)
        sorted_values += [bits for bits, _ in pairs]
        sorted_indices += [exact.wrap(index_name, position) for _, position in pairs]
    return from_patterns(sorted_values, x, x.shape), from_patterns(sorted_indices, index, index.shape)


def select_one(x: Array, mask: Array, axis: int = -1, *, keep_dims: bool = False) -> Array:
    """The element under the single True of each slice; zero bits without one."""
    moved, picks = np.moveaxis(x, axis, -1), np.moveaxis(mask, axis, -1)
    length, shape = moved.shape[-1], moved.shape[:-1]
    bits, flags = patterns(moved), [bool(m) for m in picks.reshape(-1)]
    chosen = [
        next((b for b, f in zip(bits[i : i + length], flags[i : i + length], strict=True) if f), 0)
        for i in range(0, len(bits), length)
    ]
    result = from_patterns(chosen, x, shape)
    return np.expand_dims(result, axis) if keep_dims else result


def _affine(name: str) -> Callable[[int, int], int]:
    half = dtype(name).bits // 2
    modulus = 1 << half

    def combine(left: int, right: int) -> int:
        scale = (left % modulus) * (right % modulus) % modulus
        shift = ((left >> half) * (right % modulus) + (right >> half)) % modulus
        return shift << half | scale

    return combine


def exclusive_scan(x: Array, *, combine: str = "add", axis: int = -1) -> Array:
    """Left fold of what precedes each position, in the convention of `tridiff.oracles.by_numpy.scan`."""
    name = name_of_array(x)
    functions: dict[str, Callable[[int, int], int]] = {
        "add": lambda left, right: exact.add(name, left, right),
        "maximum": lambda left, right: left if exact.order(name, left) > exact.order(name, right) else right,
        "second": lambda left, right: right,
        "first": lambda left, right: left,
        "affine": _affine(name),
    }
    if combine not in functions:
        raise OracleError(f"unknown combination {combine!r}; use one of {' '.join(functions)}")
    moved = np.moveaxis(x, axis, -1)
    length = moved.shape[-1]
    bits = patterns(moved)
    floats = combine == "add" and dtype(name).is_float
    out: list[int] = []
    sums: list[float] = []
    for start in range(0, len(bits), length):
        row = bits[start : start + length]
        if floats:
            sums += [exact.sum_of(name, row[:i]) for i in range(length)]
            continue
        before: int | None = None
        for one in row:
            out.append(0 if before is None else before)
            before = one if before is None else functions[combine](before, one)
    if floats:
        return np.moveaxis(np.array(sums, dtype=np.float64).reshape(moved.shape), -1, axis)
    return np.moveaxis(from_patterns(out, x, moved.shape), -1, axis)


def philox4x32(key: tuple[int, int], counter: tuple[int, int, int, int], rounds: int = 10) -> tuple[int, int, int, int]:
    """One block of Philox4x32 in Python integers."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    mask = 0xFFFFFFFF
    for _ in range(rounds):
        high0, low0 = divmod(0xD2511F53 * c0, 1 << 32)
        high1, low1 = divmod(0xCD9E8D57 * c2, 1 << 32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return c0, c1, c2, c3


def randint64(seed: int, offset: Array, low: Array, high: Array) -> Array:
    """int64 in [low, high) per offset, in the convention of `tridiff.oracles.philox`; low where the range is
    empty.
    """
    key = (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF)
    offset, low, high = np.broadcast_arrays(np.asarray(offset), low, high)
    out: list[int] = []
    for place, a, b in zip(offset.reshape(-1), low.reshape(-1), high.reshape(-1), strict=True):
        r0, r1, _, _ = philox4x32(key, (int(place) & 0xFFFFFFFF, 0, 0, 0))
        span = (int(b) - int(a)) % (1 << 64)
        out.append(exact.wrap("i64", int(a) + (r0 | r1 << 32) % (span or 1)))
    return from_patterns(out, np.zeros(0, np.int64), offset.shape)
