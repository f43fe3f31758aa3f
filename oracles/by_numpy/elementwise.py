"""Element-wise addition in numpy: every type, one rounding."""


import numpy as np

from tridiff.oracles.by_numpy import integer
from tridiff.oracles.dtypes import FLOATS, Array, dtype, name_of_array
from tridiff.oracles.errors import OracleError


def vector_add(a: Array, b: Array) -> Array:
    """a + b for two arrays of one type: integers wrap, i1 adds modulo 2, floats round once to nearest even.

    bf16 and fp16 are added in float32 and rounded once, which equals the correctly rounded sum. fp8 has no
    addition.
    """
    a, b = np.asarray(a), np.asarray(b)
    name = name_of_array(a)
    if a.dtype != b.dtype:
        raise OracleError(f"expected two arrays of one type, got {a.dtype} and {b.dtype}; cast them first")
    if name == "i1":
        return np.logical_xor(a, b)
    if dtype(name).is_integer:
        return integer.add(a, b)
    if name not in FLOATS:
        raise OracleError(f"{name} has no addition; convert to fp32 first")
    with np.errstate(all="ignore"):
        if name in ("bf16", "fp16"):
            return np.add(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
        return np.add(a, b)
