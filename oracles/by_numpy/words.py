"""Functions of the bits of integers, in numpy (contract: language.md §3; source: CUDA Math API, integer intrinsics)."""


import numpy as np

from tridiff.oracles.dtypes import Array


def _digits(x: Array) -> Array:
    """The bits of each word as numbers 0 and 1 along a new last axis, highest first."""
    width = x.dtype.itemsize * 8
    unsigned = x.view(np.dtype(f"uint{width}"))
    shifts = np.arange(width - 1, -1, -1, dtype=unsigned.dtype)
    return np.asarray((unsigned[..., None] >> shifts) & unsigned.dtype.type(1)).astype(np.uint8)


def _word(digits: Array, like: Array) -> Array:
    width = digits.shape[-1]
    packed = np.packbits(digits, axis=-1).view(np.dtype(f">u{width // 8}"))[..., 0]
    return packed.astype(np.dtype(f"uint{width}")).view(like.dtype)


def leading_zeros(x: Array) -> Array:
    """i32; the width for 0."""
    digits = _digits(x)
    return np.where(digits.any(-1), digits.argmax(-1), digits.shape[-1]).astype(np.int32)


def ones(x: Array) -> Array:
    """i32."""
    return _digits(x).sum(-1).astype(np.int32)


def first_set(x: Array) -> Array:
    """i32: the place of the lowest bit set, counted from 1; 0 for 0."""
    digits = _digits(x)[..., ::-1]
    return np.where(digits.any(-1), digits.argmax(-1) + 1, 0).astype(np.int32)


def reversed_bits(x: Array) -> Array:
    """The word read from its other end."""
    return _word(np.ascontiguousarray(_digits(x)[..., ::-1]), x)


def permuted_bytes(a: Array, b: Array, selector: Array) -> Array:
    """i32: byte k is that of the eight bytes of a and b which bits 4k to 4k+2 of the selector name."""
    given = np.stack([a, b], -1).astype("<i4").view(np.uint8)
    places = (selector[..., None].astype(np.int64) >> np.array([0, 4, 8, 12])) & 7
    return np.ascontiguousarray(np.take_along_axis(given, places, -1)).view("<i4")[..., 0].astype(np.int32)


def product_of_24_bits(a: Array, b: Array) -> Array:
    """The lower 32 bits of the product of the lower 24 bits."""
    signed = a.dtype.kind == "i"
    low = [(one.astype(np.int64) & 0xFFFFFF) for one in (a, b)]
    factors = [np.where(one >> 23 & signed, one - (1 << 24), one) for one in low]
    return (factors[0] * factors[1]).astype(np.uint32).view(a.dtype)


def sum_with_distance(a: Array, b: Array, c: Array) -> Array:
    """c + |a - b|, modulo 2^32, in the type of a."""
    distance = np.abs(a.astype(np.int64) - b.astype(np.int64))
    return (distance + c.astype(np.int64)).astype(np.uint32).view(a.dtype)


def mean(a: Array, b: Array, *, up: bool) -> Array:
    """The mean of two 32-bit integers, rounded down or up."""
    return ((a.astype(np.int64) + b.astype(np.int64) + up) >> 1).astype(a.dtype)


def half_of_double(x: Array, *, upper: bool) -> Array:
    """i32: one half of the pattern of an fp64."""
    return (x.view(np.int64) >> (32 * upper)).astype(np.int32)


def double_of_halves(high: Array, low: Array) -> Array:
    """fp64 from the halves of its pattern."""
    return ((high.astype(np.int64) << 32) | (low.astype(np.int64) & 0xFFFFFFFF)).view(np.float64)
