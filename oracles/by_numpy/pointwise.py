"""Every pointwise operation of codegen.md §3 in numpy: exact where it has an exact answer, else high precision.

`evaluate` returns what `oracles.pointwise.rule_of` wants to compare with: for exact rules an array of the result's
type, for ULP and ABS rules unrounded float64, for SET rules the candidates along an extra leading axis. Half types
are computed as generated code does: in fp32, rounded once (codegen.md §2.1); for a single + - * / that equals the
correctly rounded result. `defined` is False where the contract leaves the result open.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tridiff.oracles.by_numpy import conversions, functions, integer
from tridiff.oracles.by_numpy.special import SPECIAL
from tridiff.oracles.dtypes import Array, dtype, name_of_array, numpy_dtype
from tridiff.oracles.errors import OracleError
from tridiff.oracles.pointwise import CAST, CONVERT, HALVES, PACKED, meaning, row_of

Mask = npt.NDArray[np.bool_]


def _round(x: Array, name: str) -> Array:
    """float64 rounded once to a float type."""
    return conversions.convert(x, to=name) if name == "bf16" else x.astype(numpy_dtype(name))


def _narrow(x: Array, name: str) -> Array:
    """float64 to fp32 and then to the type, for what generated code rounds twice; once for fp32 and fp64."""
    return _round(_round(x, "fp32").astype(np.float64), name) if name in HALVES else _round(x, name)


def _remainder(a: Array, b: Array) -> Array:
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


def _sign(x: Array) -> Array:
    return np.where(np.isnan(x), 0.0, np.sign(x))


# Float operations with one right answer; float64 in, float64 out, rounded once afterwards. Two roundings do no harm:
# float64 has more than twice the precision of fp32.
_EXACT: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "square": np.square, "div_rn": np.divide, "sqrt_rn": np.sqrt,
    "neg": np.negative, "abs": np.abs, "fmod": np.fmod, "remainder": _remainder, "minimum": np.minimum,
    "maximum": np.maximum, "fmin": np.fmin, "fmax": np.fmax, "relu": lambda x: np.where(x <= 0, 0.0, x),
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high), "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "round": np.rint, "sign": _sign, "copysign": np.copysign,
    "frexp_mantissa": lambda x: np.where(np.isfinite(x), np.frexp(x)[0], x),
}

_PREDICATES: dict[str, Callable[..., Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "logical_and": lambda a, b: (a != 0) & (b != 0), "logical_or": lambda a, b: (a != 0) | (b != 0),
    "logical_xor": lambda a, b: (a != 0) ^ (b != 0), "logical_not": lambda a: a == 0, "signbit": np.signbit,
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
}


def _left_shift(x: Array, amount: Array) -> Array:
    width = x.dtype.itemsize * 8
    inside = (amount >= 0) & (amount < width)
    return np.where(inside, np.left_shift(x, np.where(inside, amount, 0).astype(x.dtype)), x.dtype.type(0))


def _right_shift(x: Array, amount: Array) -> Array:
    width = x.dtype.itemsize * 8
    inside = (amount >= 0) & (amount < width)
    fill = np.where(x < 0, -1, 0).astype(x.dtype) if x.dtype.kind == "i" else np.zeros_like(x)
    return np.where(inside, np.right_shift(x, np.where(inside, amount, 0).astype(x.dtype)), fill)


def _power(base: Array, exponent: Array) -> Array:
    positive = np.power(base, np.where(exponent < 0, 0, exponent).astype(base.dtype))
    one = base.dtype.type(1)
    inverse = np.where(base == 1, one, base.dtype.type(0))
    if base.dtype.kind == "i":
        minus_one = base.dtype.type(-1)
        inverse = np.where(base == -1, np.where(exponent & one, minus_one, one), inverse)
    return np.where(exponent < 0, inverse, positive)


def _clamp(x: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(x, low), high)


_INTEGER: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "square": lambda x: x * x,
    "mul_add": lambda a, b, c: a * b + c, "floor_divide": integer.div_floor_integer, "trunc_divide": integer.div_trunc,
    "remainder": integer.remainder_integer, "fmod": integer.rem_trunc, "minimum": np.minimum, "maximum": np.maximum,
    "fmin": np.minimum, "fmax": np.maximum, "relu": lambda x: np.maximum(x, x.dtype.type(0)), "clamp": _clamp,
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "bitwise_not": np.bitwise_not, "left_shift": _left_shift, "right_shift": _right_shift, "abs": np.abs,
    "sign": np.sign, "pow": _power,
}

_BOOLEAN: dict[str, Callable[..., Any]] = {
    "add": np.logical_or, "mul": np.logical_and, "bitwise_and": np.logical_and, "bitwise_or": np.logical_or,
    "bitwise_xor": np.logical_xor, "bitwise_not": np.logical_not,
}

_fma = ctypes.CDLL(None).fma
_fma.restype, _fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
_fma64 = np.vectorize(_fma, otypes=[np.float64])


def _round_to_odd_sum(product: Array, addend: Array) -> Array:
    """product + addend in float64, inexact sums rounded to odd, so that a narrower rounding can follow."""
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = np.atleast_1d(total).view(np.int64).reshape(total.shape)
    step = np.where((error > 0) == (total > 0), 1, -1)
    adjust = ((bits & 1) == 0) & (error != 0) & np.isfinite(total) & np.isfinite(error)
    return np.where(adjust, bits + step, bits).astype(np.int64).view(np.float64)


def _fused(a: Array, b: Array, c: Array, *, name: str) -> Array:
    if name == "fp64":
        return np.asarray(_fma64(a, b, c))
    wide = [x.astype(np.float64) for x in (a, b, c)]
    return _narrow(_round_to_odd_sum(wide[0] * wide[1], wide[2]), name)


def _mul_add(a: Array, b: Array, c: Array, *, name: str) -> Array:
    wide = np.float64 if name == "fp64" else np.float32
    separate = a.astype(wide) * b.astype(wide) + c.astype(wide)
    return np.stack([_fused(a, b, c, name=name), _round(separate.astype(np.float64), name)])


def _quotients(op: str, a: Array, b: Array, *, name: str) -> Array:
    """Candidates of float floor and truncating division: as computed in the type, and of the true quotient."""
    computed = np.float64 if name == "fp64" else np.float32
    x, y = a.astype(computed), b.astype(computed)
    if op == "floor_divide":
        first = np.floor_divide(x, y)
        wide = np.floor_divide(a.astype(np.float64), b.astype(np.float64))
    else:
        first = np.trunc(np.divide(x, y))
        rest = np.fmod(a.astype(np.longdouble), b.astype(np.longdouble))
        exact = np.rint((a.astype(np.longdouble) - rest) / b.astype(np.longdouble))
        regular = np.isfinite(exact) & (exact != 0)
        wide = np.where(regular, exact, first).astype(np.float64)
        wide = np.where(np.isfinite(first) & (exact == 0), np.copysign(0.0, first), wide)
    return np.stack([_round(first.astype(np.float64), name), _round(wide, name)])


def _exponents(op: str, x: Array) -> Array:
    wide = x.astype(np.float64)
    exponent = np.frexp(wide)[1].astype(np.int64)
    if op == "frexp_exponent":
        return np.where(np.isfinite(wide), exponent, 0).astype(np.int32)
    limits = np.iinfo(np.int32)
    exponent = np.where(np.isinf(wide), limits.max, exponent - 1)
    return np.where((wide == 0) | np.isnan(wide), limits.min, exponent).astype(np.int32)


def _ldexp(x: Array, exponent: Array, name: str) -> Array:
    # Beyond these every result is a zero or an infinity; within, float64 holds it exactly for narrower types.
    limited = np.clip(exponent, -4000, 4000) if name == "fp64" else np.clip(exponent, -400, 400)
    return _narrow(np.asarray(np.ldexp(x.astype(np.float64), limited)), name)


# One correctly rounded operation each: longdouble would round twice on the way to fp64.
_IEEE: dict[str, Callable[..., Any]] = {"truediv": np.divide, "reciprocal": np.reciprocal, "sqrt": np.sqrt}


def _pow64(x: Array, y: Array) -> Array:
    # The C library's long double pow has (-inf)**-2^63 infinite; infinities need no extra precision.
    return np.where(np.isinf(x) | np.isinf(y), np.power(x, y), functions.evaluate("pow", x, y))


def _quiet(x: Array) -> Array:
    """float64 values; signalling NaNs become quiet ones, because C functions that ignore a NaN mind those."""
    wide = x.astype(np.float64)
    return np.where(np.isnan(wide), np.copysign(np.nan, wide), wide)


def _quiet_as(x: Array) -> Array:
    return np.where(np.isnan(x), x.dtype.type(np.nan), x)


def _float(op: str, inputs: tuple[Array, ...], name: str) -> Array:
    wide = tuple(_quiet(x) for x in inputs)
    if op in _EXACT:
        result = _round(np.asarray(_EXACT[op](*wide)), name)
        if op in ("neg", "abs", "copysign"):  # NaNs keep their payload: only the sign bit is touched
            return _signed_bits(op, inputs, name)
        return result
    if op in _PREDICATES:
        return np.asarray(_PREDICATES[op](*wide))
    if op == "fma":
        return _fused(*inputs, name=name)
    if op == "mul_add":
        return _mul_add(*inputs, name=name)
    if op in ("floor_divide", "trunc_divide"):
        return _quotients(op, *inputs, name=name)
    if op in ("frexp_exponent", "ilogb"):
        return _exponents(op, inputs[0])
    if op == "llrint":
        rounded = np.rint(wide[0])
        return np.where(_in_int64(rounded), rounded, 0.0).astype(np.int64)
    if op == "nextafter":
        return np.asarray(np.nextafter(inputs[0], inputs[1]))
    if op in SPECIAL:
        if name == "fp64":
            raise OracleError(f"scipy's {op} is no better than fp64 itself; use tridiff.oracles.by_exact.functions")
        return SPECIAL[op](wide[0])
    if name == "fp64" and op in _IEEE:
        return np.asarray(_IEEE[op](*wide))
    if name == "fp64" and op == "pow":
        return _pow64(*wide)
    return functions.evaluate(row_of(op, name), *(wide if name == "fp64" else map(_quiet_as, inputs)))


def _in_int64(x: Array) -> Mask:
    return np.asarray((x >= -(2.0**63)) & (x < 2.0**63))


def _signed_bits(op: str, inputs: tuple[Array, ...], name: str) -> Array:
    unsigned = np.dtype(f"uint{dtype(name).bits}")
    bits = inputs[0].view(unsigned)
    sign = unsigned.type(1 << (dtype(name).bits - 1))
    if op == "neg":
        changed = bits ^ sign
    elif op == "abs":
        changed = bits & ~sign
    else:
        changed = (bits & ~sign) | (inputs[1].view(unsigned) & sign)
    return changed.view(numpy_dtype(name))


def evaluate(op: str, *inputs: Array) -> Array:
    """The answer of `op` at equally shaped inputs; see the module for its type. OracleError for an unknown op."""
    arrays = tuple(np.ascontiguousarray(x) for x in inputs)
    names = tuple(name_of_array(x) for x in arrays)
    op = meaning(op)
    with np.errstate(all="ignore"):
        if op.startswith(CONVERT):
            target = op.removeprefix(CONVERT)
            if target == "fp8e5":
                return conversions.candidates(arrays[0], to=target)
            return conversions.convert(arrays[0], to=target)
        if op.startswith(CAST):
            return arrays[0].view(numpy_dtype(op.removeprefix(CAST)))
        if op.startswith(PACKED):
            return _packed(op, arrays)
        if op == "where":
            return np.where(arrays[0], arrays[1], arrays[2])
        if op == "ldexp":
            return _ldexp(arrays[0], arrays[1], names[0])
        kind = dtype(names[0])
        if kind.is_float:
            return _float(op, arrays, names[0])
        if op == "truediv":
            return functions.evaluate("div", *(x.astype(np.float32) for x in arrays))
        if op == "signbit":
            return np.asarray(arrays[0] < 0)
        if op in _PREDICATES:
            return np.asarray(_PREDICATES[op](*arrays))
        table = _BOOLEAN if kind.kind == "bool" else _INTEGER
        if op not in table:
            raise OracleError(f"numpy has no {op!r} for {names[0]}; add it to tridiff.oracles.by_numpy.pointwise")
        return np.asarray(table[op](*arrays))


def _packed(op: str, inputs: tuple[Array, ...]) -> Array:
    """Words that hold a value's bits above a flag of the same width, and their halves."""
    width = inputs[0].dtype.itemsize * 8 // (1 if op == "pack_value_flag" else 2)
    narrow, word = np.dtype(f"uint{width}"), np.dtype(f"uint{2 * width}")
    if op == "pack_value_flag":
        return (inputs[0].view(narrow).astype(word) << word.type(width)) | inputs[1].astype(word)
    if op == "unpack_flag":
        return inputs[0].astype(narrow)
    bits = np.right_shift(inputs[0], word.type(width)).astype(narrow)
    return bits.view(numpy_dtype(op.removeprefix("unpack_value_")))


def defined(op: str, *inputs: Array) -> Mask:
    """False where the contract leaves the result open: integer division by zero, conversions out of range, and for
    Triton's bare operators also INT_MIN / -1, shifts by the width or more and large float quotients.
    """
    names = tuple(name_of_array(x) for x in inputs)
    everywhere = np.ones(np.broadcast_shapes(*(x.shape for x in inputs)), dtype=bool)
    kind = dtype(names[0])
    same = meaning(op)
    if same.startswith(CONVERT):
        return conversions.convert_defined(inputs[0], to=same.removeprefix(CONVERT))
    if same == "llrint":
        with np.errstate(all="ignore"):
            return _in_int64(np.rint(inputs[0].astype(np.float64)))
    if kind.is_integer and same in ("floor_divide", "trunc_divide", "remainder", "fmod"):
        overflow = (inputs[0] == kind.min) & (inputs[1] == -1) if op.endswith("_operator") and kind.min else ~everywhere
        return np.asarray((inputs[1] != 0) & ~overflow)
    if kind.is_integer and op in ("left_shift_operator", "right_shift_operator"):
        return np.asarray((inputs[1] >= 0) & (inputs[1] < kind.bits))
    if kind.is_integer and op == "abs_tl" and kind.min:
        return np.asarray(inputs[0] != kind.min)
    if kind.is_float and op == "mod_operator":
        with np.errstate(all="ignore"):
            quotient = np.abs(inputs[0].astype(np.float64) / inputs[1].astype(np.float64))
            return np.asarray(~(quotient >= (2.0**51 if names[0] == "fp64" else 2.0**22)) | np.isinf(inputs[0]))
    return everywhere
