"""Conversions between element types in Python rationals, on small arrays (contract: oracles.md §5)."""

import math

import numpy as np

from tridiff.oracles import exact
from tridiff.oracles.by_exact.pointwise import from_patterns, patterns
from tridiff.oracles.dtypes import Array, dtype, name_of_array, numpy_dtype


def _one(bits: int, source: str, to: str) -> int:
    target = dtype(to)
    if target.kind == "bool":
        return int(not exact.is_finite(source, bits) or exact.to_fraction(source, bits) != 0)
    if not target.is_float:
        if not exact.is_finite(source, bits):
            return 0
        whole = math.trunc(exact.to_fraction(source, bits))
        fits = not dtype(source).is_float or target.min <= whole <= target.max
        return exact.wrap(to, whole) if fits else 0
    if exact.is_nan(source, bits):
        return exact.quiet_nan(to)
    negative = dtype(source).is_float and exact.is_negative(source, bits)
    if exact.is_infinite(source, bits):
        return target.infinity_bits | int(negative) << (target.bits - 1)
    return exact.round_fraction(to, exact.to_fraction(source, bits), negative_zero=negative)


def convert(x: Array, *, to: str) -> Array:
    """x converted to type `to`, same shape; 0 where the contract leaves an integer result open."""
    source = name_of_array(x)
    return from_patterns([_one(b, source, to) for b in patterns(x)], np.zeros(0, numpy_dtype(to)), x.shape)
