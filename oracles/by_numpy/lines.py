"""What kernels written as TTGIR text must give, line by line (contract: ttg_ops.md §3, §4)."""


import numpy as np

from tridiff.oracles.dtypes import Array


def backwards(x: Array) -> Array:
    """Every line reversed."""
    return np.ascontiguousarray(x[..., ::-1])


def warp_numbers(x: Array, *, each: int, warps: int) -> Array:
    """Per element the warp that holds it: 32 threads of `each` elements per warp, then the next one, around."""
    numbers = np.arange(x.shape[-1]) // (32 * each) % warps
    return np.broadcast_to(numbers.astype(np.int32), x.shape).copy()


def with_multiples(x: Array, *, workers: int) -> Array:
    """(programs, 1 + workers, elements): x, then element numbers times 1, 2, ..."""
    steps = np.arange(x.shape[-1], dtype=np.int32)
    lines = [x, *(np.broadcast_to(steps * (k + 1), x.shape) for k in range(workers))]
    return np.stack(lines, axis=1)


def under_mask(x: Array, initial: Array, *, wrapped: str, flag: bool) -> Array:
    """A load, store, atomic addition or copy that takes place where `flag` holds; -1 in place of what is not loaded."""
    if wrapped in ("load", "copy"):
        return x if flag else np.full_like(x, -1)
    if wrapped == "store":
        return x if flag else initial
    return initial + x if flag else initial


def plus_one(x: Array) -> Array:
    return x + np.ones((), x.dtype)
