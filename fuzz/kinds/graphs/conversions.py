"""Values of a node in another type, in another shape, or found otherwise: conversions, bit patterns, boundaries."""


import numpy as np

from tridiff.kernels.codegen.graph import real_number
from tridiff.oracles.by_numpy import bounded_ops as ops, search
from tridiff.oracles.by_numpy.bounded import TINY, Real, Value, Whole, cast_real, exact_real, nearest, rounded, whole
from tridiff.oracles.dtypes import Array, dtype as dtype_info, numpy_dtype


def converted(x: Value, name: str) -> Value:
    """What is held, converted to a type."""
    target = dtype_info(name)
    if isinstance(x, Real):
        if target.is_float:
            return cast_real(x, name)
        return ops.nonzero(x) if name == "i1" else ops.to_integer(x, name)
    if target.is_float:
        return ops.to_real(x, name)
    if name == "i1":
        return ops.nonzero(x)
    return whole(name, x.value.astype(numpy_dtype(name)), x.open)


def constant(text: str, name: str, shape: tuple[int, ...]) -> Value:
    """A constant as a graph spells it; a float is rounded once, directly, whatever its type."""
    if dtype_info(name).is_float:
        number = np.full(shape, real_number(text))
        if name == "fp64":
            return exact_real(name, number)
        return exact_real(name, np.asarray(rounded(nearest(number, name) if name not in ("fp16", "fp32") else number,
                                                   name)))
    value = {"true": 1, "false": 0}.get(text) if name == "i1" and not text.lstrip("-").isdigit() else int(text)
    return whole(name, np.full(shape, value, dtype=numpy_dtype(name) if name != "i1" else bool))


def bitcast(x: Value, name: str) -> Value:
    """The bits of x read as a type of the same width."""
    target = dtype_info(name)
    if isinstance(x, Real):
        bits = _pattern(x)
        # Which NaN it is nobody knows; a blurred value has no certain bits.
        unsure = ~x.exact | np.isnan(x.value)
        if target.is_float:
            return exact_real(name, bits.view(numpy_dtype(name)).astype(np.float64)).open_where(unsure)
        return whole(name, bits.view(numpy_dtype(name)), unsure)
    raw = np.ascontiguousarray(x.value)
    if target.is_float:
        return exact_real(name, raw.view(numpy_dtype(name)).astype(np.float64)).open_where(x.open)
    return whole(name, raw.view(numpy_dtype(name)), x.open)


def _pattern(x: Real) -> Array:
    return np.ascontiguousarray(x.value.astype(numpy_dtype(x.dtype)))


def bucket(x: Value, edges: Value, right: bool, name: str) -> Whole:
    """The bucket of each x among sorted edges; open where its error reaches over one."""
    shape = x.shape
    if isinstance(x, Whole):
        assert isinstance(edges, Whole)
        found = search.bucketize(x.value.reshape(-1), edges.value, right=right, index_dtype=name)
        sure = search.bucketize_defined(x.value.reshape(-1), edges.value, right=right)
        return whole(name, found.reshape(shape), x.open | ~sure.reshape(shape))
    assert isinstance(edges, Real)
    flat = x.value.reshape(-1)
    found = search.bucketize(flat, edges.value, right=right, index_dtype=name)
    sure = search.bucketize_defined(flat, edges.value, right=right)
    low = search.bucketize(x.low.reshape(-1), edges.value, right=right, index_dtype=name)
    high = search.bucketize(x.high.reshape(-1), edges.value, right=right, index_dtype=name)
    clear = x.exact.reshape(-1) | ((low == high) & np.isfinite(x.error).reshape(-1))
    # A zero of either sign: boundaries are compared as numbers.
    clear |= ((x.value == 0) & (x.error <= TINY)).reshape(-1)
    return whole(name, found.reshape(shape), ~(sure & clear).reshape(shape))


def assembled(body: str, words: list[Array], signed: list[Array]) -> Array:
    """What an inline assembly body makes of 32-bit words, given as unsigned and as signed numbers."""
    if body == "add_s32":
        return np.asarray(words[0] + words[1])
    if body == "max_s32":
        return np.maximum(signed[0], signed[1])
    if body == "lop3_xor":
        return np.asarray(words[0] ^ words[1] ^ words[2])
    if body == "prmt_reverse":
        return words[0].byteswap()
    return np.bitwise_count(words[0]).astype(np.uint32)
