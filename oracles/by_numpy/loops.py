"""Loops over blocks of a line: what comes out, whatever the pipelining (contract: ttg_ops.md §3, issue of loops)."""


import numpy as np

from tridiff.oracles.dtypes import Array


def stream(x: Array, y: Array, *, kind: str, block: int) -> Array:
    """See the kernel `stream`: "add", "running", "indirect" or "conditional", per line."""
    if kind == "add":
        return x + y
    if kind == "indirect":
        return np.take_along_axis(x, y.astype(np.int64), axis=-1)
    out, carried = np.empty_like(x), np.zeros((x.shape[0], block), x.dtype)
    for start in range(0, x.shape[1], block):
        part = slice(start, start + block)
        width = x[:, part].shape[1]
        if kind == "running":
            carried[:, :width] += x[:, part]
        else:
            carried[:, :width] = np.where(y[:, part] % 2 == 0, x[:, part], carried[:, :width])
        out[:, part] = carried[:, :width]
    return out


def fold(x: Array, *, kind: str) -> Array:
    """Sum, maximum or exclusive or of every line, in x's integer type."""
    if kind == "sum":
        return x.sum(-1, dtype=x.dtype)
    if kind == "max":
        return x.max(-1)
    return np.bitwise_xor.reduce(x, axis=-1)


def product(a: Array, b: Array, *, transposed: bool) -> Array:
    """a @ b per program in float64, or exactly in int32; transposed: b is (n, inner)."""
    right = b.transpose(0, 2, 1) if transposed else b
    if np.issubdtype(a.dtype, np.integer):
        return (a.astype(np.int64) @ right.astype(np.int64)).astype(np.int32)
    return a.astype(np.float64) @ right.astype(np.float64)


def gathered(x: Array, index: Array, *, scatter: bool) -> Array:
    """Rows of x by index, or rows of x put at distinct indices with zero elsewhere."""
    if not scatter:
        return x[index]
    out = np.zeros_like(x)
    out[index] = x
    return out
