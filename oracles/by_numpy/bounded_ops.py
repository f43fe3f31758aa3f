"""Pointwise operations on values with error bounds (contract: codegen.md §3, oracles.md §3).

`apply(op, arguments)` takes operands of the types that are computed with (halves in fp32 unless the operation works
on them as they are). What an operand's error does to the result comes from evaluating monotone functions at both
ends, from Lipschitz constants, or from partial derivatives; near a discontinuity the element is open. The accuracy
of each operation is its rule in `tridiff.oracles.pointwise`.
"""

from collections.abc import Callable, Sequence

import numpy as np

from tridiff.oracles.by_numpy import pointwise
from tridiff.oracles.by_numpy.bounded import (
    TINY,
    Real,
    Value,
    Whole,
    cast_real,
    expand,
    nearest,
    select,
    settle,
    spacing,
    whole,
)
from tridiff.oracles.by_numpy.bounded_extrema import clamp, extremum, in_one_instruction, relu
from tridiff.oracles.by_numpy.bounded_functions import atan2, hypot, may_flush, power, smooth
from tridiff.oracles.by_numpy.bounded_quotients import mod_operator, quotient_family
from tridiff.oracles.dtypes import Array, dtype
from tridiff.oracles.pointwise import meaning

# -- exact and correctly rounded arithmetic


def _times(size: Array, error: Array) -> Array:
    """size * error, 0 where either is: an infinite size does not blur a certain value. Underflow makes no error 0."""
    return np.where(error == 0, 0.0, np.where(size == 0, 0.0, np.maximum(size * error, TINY)))


def _signed(x: Real) -> Array:
    """Whether the sign of a value is certain, that of a zero included."""
    return np.asarray((x.error == 0) | (np.abs(x.value) > x.error))


def add(a: Real, b: Real, sign: float = 1.0) -> Real:
    """a + b, or a - b; one rounding, and no rounding of a product that goes into it."""
    value = a.value + sign * b.value
    special = ~np.isfinite(a.value) | ~np.isfinite(b.value)
    opposed = a.value * (sign * b.value) < 0
    # An overflowed product may be taken unrounded: finite, so that an opposed summand decides.
    lost = np.isinf(a.error) | np.isinf(b.error) | (opposed & np.isinf(a.loose() + b.loose()))
    spread = np.where(special, np.where(lost & ~a.nan & ~b.nan, np.inf, 0.0), a.loose() + b.loose())
    value = np.where(a.nan | b.nan, np.nan, value)
    return settle(a.dtype, value, spread, rounds=True)


def _known(x: Real, *numbers: float) -> Array:
    """Where a value is one of some numbers, and known to be for all points, as constants are to a compiler."""
    everywhere = all(step == 0 for step, length in zip(x.value.strides, x.shape, strict=True) if length > 1)
    return np.asarray(x.exact & np.isin(x.value, numbers) & everywhere)


def _unrounded(x: Real, where: Array) -> Array:
    """How far the unrounded product that a value may be lies from it, at some places."""
    return np.where(where, 0.0 if x.fused is None else x.fused, 0.0)


def mul(a: Real, b: Real) -> Real:
    """a * b; `fused` says how far the unrounded product may be. A product times 1 or -1 is that product to LLVM (PTX of
    3.6.0 and 3.9.0; twice a product becomes a sum of it and itself, which rounds to the same)."""
    found = _mul(a, b)
    if a.fused is None and b.fused is None:
        return found
    same = np.maximum(_unrounded(a, _known(b, 1.0, -1.0)), _unrounded(b, _known(a, 1.0, -1.0)))
    return Real(found.dtype, found.value, found.error, np.maximum(0.0 if found.fused is None else found.fused, same))


def _mul(a: Real, b: Real) -> Real:
    """a * b of operands that are no products themselves."""
    value = a.value * b.value
    size_a, size_b = np.abs(a.value), np.abs(b.value)
    spread = _times(size_a, b.error) + _times(size_b, a.error) + _times(a.error, b.error)
    # Infinity times a number of certain sign is certain; so is NaN.
    with np.errstate(invalid="ignore"):
        sure = (np.isnan(a.value) | np.isnan(b.value) | (np.isinf(a.value) & (size_b > b.error))
                | (np.isinf(b.value) & (size_a > a.error)))
    known = np.isfinite(a.error) & np.isfinite(b.error)
    spread = np.where(known, np.where(~np.isfinite(a.value) | ~np.isfinite(b.value),
                                      np.where(sure, 0.0, np.where(spread == 0, 0.0, np.inf)), spread), np.inf)
    found = settle(a.dtype, value, spread, rounds=True)
    if a.dtype == "fp64":
        fused = np.where(found.exact & _exact_product(a.value, b.value), 0.0, spacing(found.value, "fp64"))
    else:
        fused = np.where(found.exact, np.abs(found.value - value), spacing(found.value, a.dtype))
    # A certain zero, of whichever sign, times a number: a zero whose sign is as certain as those of both.
    nil = known & np.isfinite(value) & (((size_a == 0) & (a.error <= TINY)) | ((size_b == 0) & (b.error <= TINY)))
    error = np.where(nil, np.where(_signed(a) & _signed(b), 0.0, TINY), found.error)
    overflowed = np.isinf(found.value) & found.exact & np.isfinite(a.value) & np.isfinite(b.value)
    fused = np.where(overflowed, np.inf, np.where(np.isfinite(fused) & ~nil, fused, 0.0))
    nan = a.nan | b.nan
    return Real(found.dtype, np.where(nan, np.nan, found.value), np.where(nan, 0.0, error), np.where(nan, 0.0, fused))


def _exact_product(a: Array, b: Array) -> Array:
    """Whether a * b needs no rounding in fp64: few enough significant bits, far from the ends of the range."""
    product = a * b
    far = (np.abs(product) > 1e-250) & (np.abs(product) < 1e300) | (a == 0) | (b == 0)
    return np.asarray(far & (significant_bits(a) + significant_bits(b) <= 53))


def significant_bits(x: Array) -> Array:
    """Bits between the highest and lowest set ones of each significand, 0 for zero; finite float64."""
    fraction = np.frexp(np.where(np.isfinite(x), x, 0.0))[0]
    integer = np.abs(np.ldexp(fraction, 53)).astype(np.int64)
    low = integer & -integer
    return np.where(integer == 0, 0, 53 - np.log2(np.maximum(low, 1).astype(np.float64)).astype(np.int64))


def lowest_bit(x: Array) -> Array:
    """The value of the lowest set bit of each significand, infinity for zero; finite float64."""
    fraction, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    integer = np.abs(np.ldexp(fraction, 53)).astype(np.int64)
    low = (integer & -integer).astype(np.float64)
    return np.where(integer == 0, np.inf, np.ldexp(low, exponent - 53))


def _fma(a: Real, b: Real, c: Real) -> Real:
    product = mul(a, b)
    # With a factor of 1 it is a sum, which takes a product unrounded; with -0.0 it is a product.
    is_sum = _known(a, 1.0, -1.0) | _known(b, 1.0, -1.0)
    taken = np.maximum(_unrounded(product, is_sum), _unrounded(c, is_sum))
    found = _fma_of_sure(a, b, c, product)
    error = np.where(found.nan, 0.0, found.error + np.where(taken != 0, taken + spacing(found.value, a.dtype), 0.0))
    return Real(a.dtype, found.value, error, _unrounded(product, _known(c, 0.0) & np.signbit(c.value)))


def _fma_of_sure(a: Real, b: Real, c: Real, product: Real) -> Real:
    exact = a.exact & b.exact & c.exact
    value = a.value * b.value + c.value
    if a.dtype == "fp64":
        certain = exact & _exact_product(a.value, b.value)
    else:
        total = a.value * b.value
        back = value - total
        certain = exact & ((total - (value - back)) + (c.value - back) == 0)
    special = ~np.isfinite(value)
    certain |= exact & special & ~np.isfinite(a.value * b.value + 0.0 * c.value)
    spread = np.where(product.exact, 0.0, product.error) + c.error
    spread = np.where(exact, 0.0, np.where(special, np.inf, spread))
    found = settle(a.dtype, value, spread, rounds=True)
    uncertain = settle(a.dtype, value, spread)
    extra: Array | float = 0.0
    if a.dtype == "fp64":
        # The reference rounded the product, to infinity perhaps where the sum is finite or that of c.
        opposed = np.isinf(product.value) & np.isfinite(a.value) & np.isfinite(b.value) & (c.value * product.value < 0)
        certain &= ~opposed
        extra = np.where(opposed, np.inf, spacing(value, "fp64") + spacing(product.value, "fp64"))
    nan = a.nan | b.nan | c.nan
    return Real(a.dtype, np.where(nan, np.nan, np.where(certain, found.value, uncertain.value)),
                np.where(nan, 0.0, np.where(certain, found.error, uncertain.error + extra)))


def _mul_add(a: Real, b: Real, c: Real) -> Real:
    return add(mul(a, b), c)


def _divide(a: Real, b: Real, *, ulps: float, rounds: bool) -> Real:
    value = a.value / b.value
    away = np.abs(b.value) - b.error
    quotient = np.abs(value)
    moved = _times(np.ones_like(away), a.error) + _times(quotient, b.error)
    # A divisor that may be zero makes NaN even of a certain zero.
    spread = np.where(away > 0, _times(1.0 / np.where(away > 0, away, 1.0), moved), np.inf)
    exact = a.exact & b.exact
    special = ~np.isfinite(a.value) | ~np.isfinite(b.value)
    nan = np.isnan(a.value) | np.isnan(b.value)
    known = np.isfinite(a.error) & np.isfinite(b.error)
    vanishes = np.isinf(b.value) & np.isfinite(a.value) & (np.abs(a.value) > a.error)
    by_zero = b.exact & (b.value == 0) & (np.abs(a.value) > a.error)
    sure = nan | (np.isinf(a.value) & (away > 0)) | vanishes
    spread = np.where(by_zero & known, 0.0, spread)
    spread = np.where(exact, 0.0, np.where(special, np.where(sure, 0.0, np.inf), spread))
    found = settle(a.dtype, value, np.where(known, spread, np.inf), ulps=ulps, rounds=rounds)
    # A certain zero over what is none, even if flushed, and a number over an infinity: zero, to every division.
    over = a.exact & (a.value == 0) & (away >= dtype(a.dtype).smallest_normal) & known
    nil = over | (exact & np.isinf(b.value) & np.isfinite(a.value))
    fused = None if a.fused is None else _unrounded(a, _known(b, 1.0))
    return Real(found.dtype, np.where(nil, value, found.value), np.where(nil, 0.0, found.error), fused)


# -- steps


def _step(function: Callable[[Array], Array]) -> Callable[[Real], Real]:
    """A piecewise constant function that never falls: certain where both ends agree, else between them."""
    def operation(x: Real) -> Real:
        value, low, high = function(x.value), function(x.low), function(x.high)
        with np.errstate(invalid="ignore"):
            sure = x.exact | ((low == high) & (np.signbit(low) == np.signbit(high)))
            sure |= np.isinf(x.value) & np.isfinite(x.error)
            between = np.maximum(np.maximum(value - low, high - value), TINY)
            between = np.where((x.value == 0) & (x.error <= TINY), TINY, between)
        return Real(x.dtype, value, np.where(sure, 0.0, np.where(np.isfinite(between), between, np.inf)))

    return operation


def _sign(x: Real) -> Real:
    value = np.where(np.isnan(x.value), 0.0, np.sign(x.value))
    value = np.where(value == 0, 0.0, value)
    sure = x.exact | (np.abs(x.value) > x.error)
    # -1, 0 or 1; 0 of NaN as well.
    return Real(x.dtype, value, np.where(sure & np.isfinite(x.error), 0.0, 1.0 + np.abs(value)))


def _copysign(x: Real, y: Real) -> Real:
    sure = (np.abs(y.value) > y.error) & np.isfinite(y.error) | (y.exact & ~np.isnan(y.value))
    value = np.copysign(np.abs(x.value), y.value)
    either = np.where(np.isfinite(x.value), np.maximum(x.error + 2 * np.abs(x.value), TINY), np.inf)
    return Real(x.dtype, value, np.where(sure | np.isnan(x.value), x.error, either))


def _nextafter(x: Real, y: Real) -> Real:
    name = x.dtype
    step = spacing(x.value, name)
    with np.errstate(invalid="ignore"):
        up = y.value > x.value
        # Towards zero from a power of two the neighbour is half as far.
        toward_zero = up == (x.value < 0)
        mantissa = np.frexp(x.value)[0]
        half = toward_zero & (np.abs(mantissa) == 0.5) & (np.abs(x.value) > dtype(name).smallest_normal)
        step = np.where(half, step / 2, step)
        moved = np.where(up, x.value + step, x.value - step)
        moved = np.where(np.isinf(x.value), np.copysign(float(dtype(name).max), x.value), moved)
        moved = np.where(np.abs(moved) > float(dtype(name).max), np.copysign(np.inf, moved), moved)
        moved = np.where(moved == 0, np.copysign(0.0, x.value), moved)
        value = np.where(x.value == y.value, y.value, moved)
        value = np.where(np.isnan(x.value) | np.isnan(y.value), np.nan, value)
        if name == "fp64":
            value = np.nextafter(x.value, y.value)
        # At most a step to either side of what x may be.
        near = np.where(np.isfinite(value) & np.isfinite(y.value + y.error),
                        x.error + 2 * spacing(np.abs(x.value) + x.error, name), np.inf)
        near = np.where(np.abs(x.value) + near >= float(dtype(name).max), np.inf, near)
    nan = x.nan | y.nan
    return Real(name, np.where(nan, np.nan, value), np.where((x.exact & y.exact) | nan, 0.0, near))


def _nextafter_libdevice(x: Real, y: Real) -> Real:
    """The fp32 one of libdevice takes subnormal operands as zeros and steps from there to the smallest normal
    number n or nowhere. It ends within [-n, n] then, and so does the true step: at most 2n apart. A step from n to
    the largest subnormal may be flushed."""
    found = _nextafter(x, y)
    if x.dtype != "fp32":
        return found
    normal = dtype("fp32").smallest_normal
    starts = (np.abs(x.value) < normal) & ~((x.value == 0) & (y.value == 0))
    moved = np.where(starts, 2 * normal, np.where((np.abs(found.value) < normal) & (found.value != 0), normal, 0.0))
    return Real(found.dtype, found.value, np.where(np.isnan(found.value), found.error, found.error + moved))


def _frexp(x: Real) -> tuple[Array, Array, Array]:
    mantissa, exponent = np.frexp(x.value)
    regular = np.isfinite(x.value)
    with np.errstate(invalid="ignore"):
        same = (np.frexp(x.low)[1] == exponent) & (np.frexp(x.high)[1] == exponent) & (np.abs(x.value) > x.error)
    # A zero has the exponent 0, whichever sign it has.
    sure = x.exact | (same & regular) | ((x.value == 0) & (x.error <= TINY))
    return np.where(regular, mantissa, x.value), np.where(regular, exponent, 0), sure


def _frexp_mantissa(x: Real) -> Real:
    """A mantissa is between 1/2 and 1 or 0, with the sign of x, whatever the exponent."""
    mantissa, exponent, sure = _frexp(x)
    size = np.abs(mantissa)
    positive = np.maximum(size - 0.5, 1.0 - size)
    anything = np.where(np.abs(x.value) > x.error, positive, 1.0 + size)
    unsure = np.where(np.isfinite(x.value) & np.isfinite(x.error), anything, np.inf)
    return Real(x.dtype, mantissa, np.where(sure, np.ldexp(x.error, -exponent), unsure))


def _beyond_twice(x: Real, value: Array) -> Array:
    """How far twice a number below the normal ones that x may be lies from a value, at most."""
    normal = dtype(x.dtype).smallest_normal
    low, high = (2 * np.clip(end, -normal, normal) for end in (x.low, x.high))
    return np.asarray(np.maximum(np.abs(low - value), np.abs(high - value)))


def _ldexp(x: Real, n: Whole) -> Real:
    limited = np.clip(n.value, -4000, 4000)
    moved = np.where(x.error > 0, np.maximum(np.ldexp(x.error, limited), TINY), 0.0)
    found = settle(x.dtype, np.ldexp(x.value, limited), moved, rounds=True)
    # Libraries round a result below the normal numbers once or twice, and may flush it.
    small = (np.abs(found.value) < dtype(x.dtype).smallest_normal) & (x.value != 0) & np.isfinite(x.value)
    flushed = np.where(small, np.abs(found.value) + dtype(x.dtype).smallest_subnormal, 0.0)
    # An operand that may be flushed leaves what lies between zero and the result, or twice the operand: what libdevice
    # takes for zero it adds to itself, which is not flushed.
    least = np.maximum(np.abs(x.value) - x.error, x.error * 2.0**-60)
    tiny = may_flush(x.value, x.dtype) | may_flush(least, x.dtype)
    flushed = flushed + np.where(tiny, np.maximum(np.abs(found.value), _beyond_twice(x, found.value)), 0.0)
    # What is far below the smallest number vanishes, in however many steps.
    size = np.abs(x.value) + x.error
    gone = ~tiny & (np.ldexp(size, limited) < dtype(x.dtype).smallest_subnormal / 8)
    value = np.where(gone, np.copysign(0.0, x.value), found.value)
    error = np.where(gone, np.where(_signed(x), 0.0, TINY), found.error + flushed)
    return Real(x.dtype, value, np.where(np.isnan(error), np.inf, error)).open_where(n.open)


# -- comparisons and classes


def _ordering(op: str, a: Real, b: Real) -> Whole:
    compare = getattr(np, {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
                           "ge": "greater_equal"}[op])
    with np.errstate(invalid="ignore"):
        value = compare(a.value, b.value)
        apart = (a.low > b.high) | (a.high < b.low)
        nan = a.nan | b.nan
        zeros = (a.value == 0) & (b.value == 0) & (np.maximum(a.error, b.error) <= TINY)
    known = np.isfinite(a.error) & np.isfinite(b.error)
    sure = (a.exact & b.exact) | ((apart | nan | zeros) & known)
    return Whole("i1", value, ~sure)


def with_itself(op: str, x: Real, found: Whole) -> Whole:
    """`found`, the comparison of a value with itself: certain for any number, however blurred."""
    number = np.isfinite(x.value) & np.isfinite(x.error)
    if op not in ("eq", "ne", "lt", "le", "gt", "ge"):
        return found
    return Whole("i1", np.where(number, op in ("eq", "le", "ge"), found.value), found.open & ~number)


def nonzero(x: Value) -> Whole:
    """x != 0 (NaN is), as i1."""
    if isinstance(x, Whole):
        return Whole("i1", x.value != 0, x.open)
    with np.errstate(invalid="ignore"):
        value = x.value != 0
        sure = x.exact | ((np.abs(x.value) > x.error) & np.isfinite(x.error)) | ((x.value == 0) & (x.error <= TINY))
    return Whole("i1", value, ~sure)


def _class(op: str, x: Real) -> Whole:
    if op == "signbit":
        sure = (np.abs(x.value) > x.error) & np.isfinite(x.error) | (x.exact & ~np.isnan(x.value))
        return Whole("i1", np.signbit(x.value), ~sure)
    value = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}[op](x.value)
    return Whole("i1", value, np.isinf(x.error))


def to_integer(x: Real, name: str, *, function: Callable[[Array], Array] = np.trunc) -> Whole:
    """x truncated to an integer type; open where the type cannot hold it or the step is uncertain."""
    kind = dtype(name)
    with np.errstate(invalid="ignore"):
        value, low, high = function(x.value), function(x.low), function(x.high)
        # 2^bits is a double also where the largest integer is none.
        held = (value >= float(kind.min)) & (value < 2.0 ** (kind.bits - (kind.kind == "int")))
        sure = x.exact | ((low == high) & np.isfinite(x.error)) | ((x.value == 0) & (x.error <= TINY))
    inside = np.where(held, value, 0.0)
    wide = inside.astype(np.uint64 if kind.kind == "uint" else np.int64)
    return whole(name, wide, ~(held & sure))


def to_real(x: Whole, name: str) -> Real:
    """Integers or truth values rounded once to a float type (bf16 and fp8 by way of fp32)."""
    if x.dtype == "i1":
        value = x.value.astype(np.float64)
    elif name in ("fp64", "fp32"):
        value = x.value.astype(np.float32 if name == "fp32" else np.float64).astype(np.float64)
    else:
        single = Real("fp32", x.value.astype(np.float32).astype(np.float64), np.zeros(x.shape))
        narrow = cast_real(single, name)
        if dtype(x.dtype).bits > 24 and name in ("fp16", "bf16"):
            direct = nearest(x.value.astype(np.float64), name)
            twice = np.isfinite(narrow.value) & (direct != narrow.value)
            narrow = Real(name, narrow.value, np.where(twice, spacing(narrow.value, name), narrow.error))
        return narrow.open_where(x.open)
    return Real(name, value, np.where(x.open, np.inf, 0.0))


# -- the table

_STEPS: dict[str, Callable[[Real], Real]] = {
    "floor": _step(np.floor), "ceil": _step(np.ceil), "trunc": _step(np.trunc), "round": _step(np.rint)}
_ONE: dict[str, Callable[..., Real]] = {
    "neg": lambda x: Real(x.dtype, -x.value, x.error, x.fused),
    # `-x` is 0 - x in compiled code and a change of sign in the interpreter: the sign of a zero is open.
    "neg_operator": lambda x: Real(x.dtype, -x.value, np.where(x.value == 0, np.maximum(x.error, TINY), x.error),
                                   x.fused),
    "abs": lambda x: Real(x.dtype, np.abs(x.value), x.error),
    "square": lambda x: mul(x, x), "sign": _sign, "relu": relu, "frexp_mantissa": _frexp_mantissa}
_TWO: dict[str, Callable[..., Real]] = {
    "add": add, "sub": lambda a, b: add(a, b, -1.0), "mul": mul, "copysign": _copysign, "nextafter": _nextafter,
    "nextafter_libdevice": _nextafter_libdevice,
    "minimum": lambda a, b: extremum(a, b, largest=False, keeps_nan=True),
    "maximum": lambda a, b: extremum(a, b, largest=True, keeps_nan=True),
    "fmin": lambda a, b: extremum(a, b, largest=False, keeps_nan=False),
    "fmax": lambda a, b: extremum(a, b, largest=True, keeps_nan=False),
    "minimum_tl": lambda a, b: in_one_instruction(a, b, largest=False, keeps_nan=None),
    "maximum_tl": lambda a, b: in_one_instruction(a, b, largest=True, keeps_nan=None),
    "minimum_nan_tl": lambda a, b: in_one_instruction(a, b, largest=False, keeps_nan=True),
    "maximum_nan_tl": lambda a, b: in_one_instruction(a, b, largest=True, keeps_nan=True),
    "truediv": lambda a, b: _divide(a, b, ulps=2.5 if a.dtype == "fp32" else 0.5, rounds=a.dtype == "fp64"),
    "div_rn": lambda a, b: _divide(a, b, ulps=0.5, rounds=True),
    "pow": power, "atan2": atan2, "hypot": hypot, "mod_operator": mod_operator}
_THREE: dict[str, Callable[..., Real]] = {"fma": _fma, "mul_add": _mul_add, "clamp": clamp}
_CLASSES = ("signbit", "isnan", "isinf", "isfinite")
_ORDERINGS = ("eq", "ne", "lt", "le", "gt", "ge")


def _float_operation(op: str, args: Sequence[Real]) -> Value:
    meant = meaning(op)
    if op in ("abs_libdevice", "floor_libdevice", "ceil_libdevice", "floor_tl", "ceil_tl") and args[0].dtype == "fp32":
        # These flush subnormals on the device.
        found = (_STEPS | _ONE)[meant](args[0])
        # The result of a zero is a zero, of the same sign but for that of abs.
        flushed = may_flush(args[0].value, "fp32") & (found.value != 0)
        return Real(found.dtype, found.value, np.where(flushed, np.maximum(found.error, np.abs(found.value)),
                                                       found.error))
    for table in (_ONE, _TWO, _THREE, _STEPS):
        for name in (op, meant):
            if name in table:
                return table[name](*args)
    if meant in _ORDERINGS:
        return _ordering(meant, args[0], args[1])
    if meant in _CLASSES:
        return _class(meant, args[0])
    if meant in ("fmod", "remainder", "floor_divide", "trunc_divide"):
        return quotient_family(meant, args[0], args[1])
    if meant == "frexp_exponent":
        _, exponent, sure = _frexp(args[0])
        return whole("i32", exponent, ~sure)
    if meant == "ilogb":
        x = args[0]
        _, exponent, sure = _frexp(x)
        limits = np.iinfo(np.int32)
        value = np.where(np.isinf(x.value), limits.max, exponent.astype(np.int64) - 1)
        value = np.where((x.value == 0) | np.isnan(x.value), limits.min, value)
        return whole("i32", value, ~sure | may_flush(x.value, x.dtype))
    if meant == "llrint":
        return to_integer(args[0], "i64", function=np.rint)
    return smooth(op, args[0])


def apply(op: str, args: Sequence[Value]) -> Value:
    """The value of `op`; operands of one shape after broadcasting. Half types only for operations that work on them
    as they are. OracleError for an unknown operation."""
    with np.errstate(all="ignore"):
        shape = np.broadcast_shapes(*(a.shape for a in args))
        args = [expand(a, shape) for a in args]
        if op == "where":
            condition = args[0]
            assert isinstance(condition, Whole)
            return select(condition, args[1], args[2])
        if op.startswith("logical_"):
            args = [nonzero(a) for a in args]
            if op == "logical_not":
                one = args[0]
                assert isinstance(one, Whole)
                return Whole("i1", ~one.value, one.open)
            op = op.replace("logical", "bitwise")
        if op == "ldexp":
            assert isinstance(args[0], Real) and isinstance(args[1], Whole)
            return _ldexp(args[0], args[1])
        if isinstance(args[0], Real):
            return _float_operation(op, [a for a in args if isinstance(a, Real)])
        return _integer_operation(op, [a for a in args if isinstance(a, Whole)])


def _integer_operation(op: str, args: Sequence[Whole]) -> Value:
    unsure = np.zeros(args[0].shape, dtype=bool)
    for one in args:
        unsure = unsure | one.open
    if op == "truediv":
        found = _divide(to_real(args[0], "fp32"), to_real(args[1], "fp32"), ulps=2.5, rounds=False)
        return found.open_where(unsure)
    arrays = [one.value for one in args]
    unsure = unsure | ~pointwise.defined(op, *arrays)
    value = pointwise.evaluate(op, *arrays)
    if op in ("bitwise_and", "bitwise_or") and args[0].dtype == "i1":
        # One truth value may decide.
        decisive = op == "bitwise_or"
        decided = np.logical_or.reduce([(one.value == decisive) & ~one.open for one in args])
        value, unsure = np.where(decided, decisive, value), unsure & ~decided
    if value.dtype == bool:
        return Whole("i1", value, unsure)
    return Whole(args[0].dtype, value, unsure)
