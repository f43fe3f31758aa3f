"""Functions of libdevice and ocml, by symbol. What stands behind a symbol is the vendor's: it is taken to be what the
contract says, so that the references of the oracles serve; elementary functions are numpy's."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.floats import FUNCTIONS, extreme, multiplied_and_added
from tridiff.fuzz.evaluate.integers import high_word, unsigned
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives
from tridiff.oracles.by_exact.rounding import rounded, whole
from tridiff.oracles.by_exact.special import special
from tridiff.oracles.by_numpy import functions as by_numpy, pieces, words
from tridiff.oracles.by_numpy.special import SPECIAL

Function = Callable[..., Any]

_WIDE: dict[str, Function] = {
    **FUNCTIONS, **SPECIAL, **{name: by_numpy.FUNCTIONS[name] for name in ("erf", "erfc", "lgamma", "hypot", "atan2")},
    "pow": np.power, "powi": np.power, "pown": np.power, "fmod": np.fmod, "rint": np.rint, "nearbyint": np.rint,
    "cyl_bessel_i0": SPECIAL["i0"], "cyl_bessel_i1": SPECIAL["i1"], "logb": pieces.exponent,
    "fast_fdivide": np.divide, "rcp64h": np.reciprocal,
    **{f"fast_{name}": FUNCTIONS[name] for name in ("exp", "log", "log2", "log10", "sin", "cos", "tan")},
    "fast_pow": np.power, "fast_exp10": lambda x: np.power(10.0, x),
    **{name: partial(special, name) for name in (
        "exp10", "sinpi", "cospi", "rcbrt", "rhypot", "norm3d", "rnorm3d", "norm4d", "rnorm4d", "tgamma", "erfcinv",
        "normcdf", "normcdfinv", "jn", "yn")},
}
"""Computed in fp64 and rounded once."""


def _unsigned(function: Function) -> Function:
    return lambda *values: function(*map(unsigned, values))


def _exponent(x: Array) -> Array:
    """Of the first bit: that of zero and of a NaN is the smallest integer, that of an infinity the largest."""
    found = np.where(np.isinf(x), 2**31 - 1, np.frexp(x)[1].astype(np.int64) - 1)
    return np.where((x == 0) | np.isnan(x), -2**31, found)


_EXACT: dict[str, Function] = {
    "fabs": np.abs, "copysign": np.copysign, "nextafter": np.nextafter,
    "isnan": np.isnan, "isinf": np.isinf, "signbit": np.signbit, "finite": np.isfinite, "isfinite": np.isfinite,
    "fmax": lambda a, b: extreme(a, b, largest=True, propagate=False),
    "fmin": lambda a, b: extreme(a, b, largest=False, propagate=False),
    "round": pieces.half_away, "llround": lambda x: whole("rn", "i64", pieces.half_away(x)),
    "llrint": lambda x: whole("rn", "i64", x), "fdim": pieces.distance, "saturate": pieces.saturated,
    "scalbn": pieces.scaled, "ldexp": pieces.scaled, "remainder": pieces.remainder_to_nearest, "ilogb": _exponent,
    "fma": lambda a, b, c: multiplied_and_added(a, b, c),
    "abs": np.abs, "llabs": np.abs, "clz": words.leading_zeros, "popc": words.ones, "ffs": words.first_set,
    "brev": words.reversed_bits, "byte_perm": words.permuted_bytes, "mul24": words.product_of_24_bits,
    "umul24": _unsigned(words.product_of_24_bits), "sad": words.sum_with_distance,
    "usad": _unsigned(words.sum_with_distance), "hadd": lambda a, b: words.mean(a, b, up=False),
    "rhadd": lambda a, b: words.mean(a, b, up=True), "uhadd": _unsigned(lambda a, b: words.mean(a, b, up=False)),
    "urhadd": _unsigned(lambda a, b: words.mean(a, b, up=True)),
    "umulhi": _unsigned(high_word), "umul64hi": _unsigned(high_word), "mulhi": lambda a, b: _high(a, b),
    "mul64hi": lambda a, b: _high(a, b),
    "float_as_int": lambda x: x.view(np.int32), "float_as_uint": lambda x: x.view(np.int32),
    "int_as_float": lambda x: x.view(np.float32), "uint_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64), "longlong_as_double": lambda x: x.view(np.float64),
    "double2hiint": lambda x: words.half_of_double(x, upper=True),
    "double2loint": lambda x: words.half_of_double(x, upper=False), "hiloint2double": words.double_of_halves,
}
"""In the types of their operands."""

_DIRECTED = re.compile(r"[df]?(add|sub|mul|div|fma|rcp|sqrt|rsqrt)_(r[nzdu])")
_BETWEEN = re.compile(r"(double|float|int|uint|ll|ull)2(double|float|int|uint|ll|ull)_(r[nzdu])")
_TYPES = {"double": "fp64", "float": "fp32", "int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}


def _high(a: Array, b: Array) -> Array:
    """The upper half of the product of signed integers."""
    found = high_word(unsigned(a), unsigned(b)).view(a.dtype)
    zero = a.dtype.type(0)
    return np.asarray(found - np.where(a < 0, b, zero) - np.where(b < 0, a, zero))


def _function(name: str, to: np.dtype) -> Function | None:
    """What a function computes, without the suffix that names its type."""
    if directed := _DIRECTED.fullmatch(name.replace("fmaf_", "fma_")):
        kind = "fp64" if to.itemsize == 8 else "fp32"
        return lambda *values: rounded(directed[1], directed[2], kind, *values)
    if between := _BETWEEN.fullmatch(name):
        source, kind = _TYPES[between[1]], _TYPES[between[2]]
        given: Function = unsigned if source[0] == "u" else np.asarray
        if kind.startswith("fp"):
            return lambda x: rounded("convert", between[3], kind, given(x))
        return lambda x: whole(between[3], kind, given(x))
    for one in (name, *(name.removesuffix(end) for end in ("f", "d", "ll") if name.endswith(end))):
        if one in _EXACT:
            return _EXACT[one]
        if one in _WIDE:
            function = _WIDE[one]
            return lambda *values: function(*map(_wide, values))
    return None


def _wide(x: Array) -> Array:
    """float64, without signalling NaNs: C's functions that ignore a NaN (hypot of an infinity, 1 to the power of it)
    mind those, and libdevice's do not."""
    found = x.astype(np.float64)
    return np.where(np.isnan(found), np.nan, found)


@gives("tt.extern_elementwise")
def library(operation: Operation, *values: Array) -> Any:
    symbol = operation.attributes.get("symbol", "").strip('"')
    name = re.sub(r"^__(nv|ocml|ockl|triton_hip)_", "", symbol)
    kind = operation.type.dtype
    function = _function(re.sub(r"_[fu](32|64)$", "", name), kind)
    if function is None:
        raise NotEvaluated(f"op tt.extern_elementwise {symbol}")
    given: list[Array] = [np.atleast_1d(np.ascontiguousarray(one)) for one in np.broadcast_arrays(*values)]
    found = np.asarray(function(*given)).reshape(np.shape(values[0]))
    if found.dtype.kind == "u" and kind.itemsize == found.dtype.itemsize:
        return found.view(kind)
    return found.astype(kind)
