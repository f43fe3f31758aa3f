"""Tiles of a matrix and what pipelined kernels do to them, exact to the bit (contract: ttg_ops.md §3, §4).

A batch of matrices (programs, rows, width) is seen as tiles (tiles, programs, rows, columns): tile t begins at column
t * columns - before, and what lies outside the width is zero. Operations compute in the integer type of the
elements' width and wrap.
"""


import numpy as np

from tridiff.oracles.dtypes import Array
from tridiff.oracles.errors import OracleError


def as_integers(x: Array, *, unsigned: bool = False) -> Array:
    """The bits of x as integers of its width."""
    return np.ascontiguousarray(x).view(f"{'u' if unsigned else 'i'}{x.dtype.itemsize}")


def split(x: Array, *, tiles: int, columns: int, before: int) -> Array:
    """(programs, rows, width) -> (tiles, programs, rows, columns)."""
    programs, rows, width = x.shape
    wide = np.zeros((programs, rows, max(before + width, tiles * columns)), x.dtype)
    wide[:, :, before:before + width] = x
    parts = wide[:, :, :tiles * columns].reshape(programs, rows, tiles, columns)
    return np.ascontiguousarray(parts.transpose(2, 0, 1, 3))


def join(parts: Array, *, width: int, before: int) -> Array:
    """The inverse of `split`: what lies outside the width is dropped."""
    tiles, programs, rows, columns = parts.shape
    flat = parts.transpose(1, 2, 0, 3).reshape(programs, rows, tiles * columns)
    return np.ascontiguousarray(flat[:, :, before:before + width])


def apply(kind: str, v: Array, w: Array | None, constant: int) -> Array:
    """One operation on tiles of integers; w: the second source's tiles."""
    factor = np.asarray(constant).astype(v.dtype)
    if kind == "add":
        return v + factor
    if kind == "multiply":
        return v * factor
    if kind == "xor":
        return v ^ factor
    if kind == "invert":
        return ~v
    if kind == "mix":
        return v ^ (v << factor)
    if kind == "row_max":
        return v - v.max(-1, keepdims=True)
    if kind == "scan":
        return np.cumsum(v, axis=-1, dtype=v.dtype)
    if kind in ("convert", "stage", "stage_transposed"):
        return v
    if w is None:
        raise OracleError(f"{kind} needs a second source")
    return {"second_add": np.add, "second_xor": np.bitwise_xor, "second_max": np.maximum}[kind](v, w)


def fold(kind: str, parts: Array) -> Array:
    """All tiles folded into one, (programs, rows, columns); the identity where there is none."""
    if kind == "max":
        least = np.full(parts.shape[1:], np.iinfo(parts.dtype).min, parts.dtype)
        return np.maximum(least, parts.max(0)) if parts.shape[0] else least
    if kind == "xor":
        return np.bitwise_xor.reduce(parts, axis=0)
    return parts.sum(0, dtype=parts.dtype)


def combine(kind: str, initial: Array, x: Array) -> Array:
    """initial (rows, width) combined with every program's x (programs, rows, width), in any order.

    Sums of floats must be exact in every order, which small integers are.
    """
    if kind == "add" and not np.issubdtype(x.dtype, np.integer):
        return (initial.astype(np.float64) + x.astype(np.float64).sum(0)).astype(initial.dtype)
    function = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
                "xor": np.bitwise_xor}[kind]
    for one in x:
        initial = function(initial, one)
    return initial


def multiply(a: Array, b: Array) -> Array:
    """a (programs, m, k) @ b (programs, k, n): exact for integers; else in float64."""
    if np.issubdtype(a.dtype, np.integer):
        return (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
    return a.astype(np.float64) @ b.astype(np.float64)


def numbered(programs: int) -> Array:
    """program * 1000 + 3 * lane, (programs, 256) int32."""
    return (np.arange(programs)[:, None] * 1000 + np.arange(256)[None, :] * 3).astype(np.int32)
