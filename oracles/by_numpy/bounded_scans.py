"""Scans of tuples with error bounds along the last axis (contract: codegen.md §7, kernels/codegen/notes.md)."""

from collections.abc import Sequence

import numpy as np

from tridiff.oracles.by_numpy import bounded_folds as folds
from tridiff.oracles.by_numpy.bounded import TINY, Real, Value, Whole
from tridiff.oracles.dtypes import Array, dtype


def scan(combine: str, args: Sequence[Value]) -> tuple[Value, ...]:
    """The inclusive scan of one value or a pair; args have one shape, halves already widened."""
    with np.errstate(all="ignore"):
        first = args[0]
        if first.shape[-1] == 0:
            return tuple(args)
        if combine == "second":
            return (first,)
        if combine == "affine":
            return _affine(args[0], args[1])
        if combine in ("argmax", "argmin"):
            assert isinstance(args[1], Whole)
            return _arg_scan(first, args[1], largest=combine == "argmax")
        if isinstance(first, Whole):
            return (folds.integer_scan(combine, first),)
        if combine == "sum":
            return (folds.scan_sum(first),)
        if combine == "prod":
            return (folds.scan_prod(first),)
        if combine == "logcumsumexp":
            return (_log_cumulative_sum_exp(first),)
        return (folds.scan_extremum(first, largest=combine == "max"),)


def _affine(a: Value, b: Value) -> tuple[Value, Value]:
    if isinstance(a, Whole):
        assert isinstance(b, Whole)
        scale, shift = a.value.copy(), b.value.copy()
        for k in range(1, scale.shape[-1]):
            shift[..., k] = shift[..., k - 1] * a.value[..., k] + b.value[..., k]
            scale[..., k] = scale[..., k - 1] * a.value[..., k]
        unsure = np.logical_or.accumulate(a.open | b.open, axis=-1)
        return Whole(a.dtype, scale, np.logical_or.accumulate(a.open, axis=-1)), Whole(b.dtype, shift, unsure)
    assert isinstance(b, Real)
    name, kind = a.dtype, dtype(a.dtype)
    count = np.arange(1, a.shape[-1] + 1)
    shift, size, blur = (np.zeros(a.shape) for _ in range(3))
    for k in range(a.shape[-1]):
        before = (shift[..., k - 1], size[..., k - 1], blur[..., k - 1]) if k else (0.0, 0.0, 0.0)
        factor = np.abs(a.value[..., k])
        shift[..., k] = before[0] * a.value[..., k] + b.value[..., k] if k else b.value[..., k]
        size[..., k] = before[1] * factor + np.abs(b.value[..., k])
        blur[..., k] = before[2] * (factor + a.error[..., k]) + before[1] * a.error[..., k] + b.loose()[..., k]
    # Every term is a product of at most `count` factors: two roundings per factor and one per addition.
    error = blur + 3 * count * folds.eps(name) * size * 1.01
    # A scan combines neighbouring runs only. A run's factor is a product of neighbours; its shift is no larger than
    # that of all elements up to its end.
    nil = a.exact & (a.value == 0)
    logs = np.log2(np.where(a.value == 0, 1.0, np.abs(a.value) + a.error))
    grown, shrunk = folds.longest_run(np.where(nil, -np.inf, logs)), folds.longest_run(np.where(nil, -np.inf, -logs))
    regular = np.logical_and.accumulate(np.isfinite(a.value) & np.isfinite(b.value) & np.isfinite(a.error)
                                        & np.isfinite(b.error), axis=-1)
    largest = np.maximum.accumulate(np.maximum(size + blur, 1.0), axis=-1)
    # Terms that round below the normal numbers lose absolute accuracy, multiplied by what follows; so do factors, which
    # the shifts before them multiply.
    gain, steps = np.exp2(np.minimum(grown, 1023.0)), count.astype(np.float64)
    factors = np.where(shrunk >= kind.bias - 2, largest * steps * gain * gain, 0.0)
    error = error + steps * gain * kind.smallest_normal * (1.0 + factors)
    top = largest + np.maximum.accumulate(error, axis=-1)
    in_range = (grown < kind.bias - 1) & (top < float(kind.max) / 2) & regular
    bits = _affine_bits(a, b)
    certain = in_range & (bits <= kind.precision) & np.logical_and.accumulate(a.exact & (b.loose() == 0), axis=-1)
    certain &= shift != 0
    error = np.where(in_range, np.where(certain, 0.0, error), np.inf)
    # Nothing is done to the first shift; whatever has a NaN in it is one, in any order.
    first = np.arange(a.shape[-1]) == 0
    never = np.logical_or.accumulate(b.nan | (a.nan & ~first), axis=-1)
    shift, error = np.where(never, np.nan, shift), np.where(first, b.error, np.where(never, 0.0, error))
    return folds.scan_prod(a), Real(name, shift, error)


def _affine_bits(a: Real, b: Real) -> Array:
    """Bits that every partial result needs at most when all values are whole numbers; infinity otherwise."""
    integral = np.logical_and.accumulate((a.value == np.rint(a.value)) & (b.value == np.rint(b.value)), axis=-1)
    growth = np.cumprod(np.maximum(np.abs(a.value), 1.0), axis=-1)
    most = growth * np.cumsum(np.maximum(np.abs(b.value), 1.0), axis=-1)
    return np.where(integral, np.log2(most) + 1, np.inf)


def _arg_scan(x: Value, index: Whole, *, largest: bool) -> tuple[Value, Whole]:
    """Running (value, index): NaN first, then the extreme, then the smaller index. Of zeros that share an index the
    sign is open: the order is total on pairs with distinct indices."""
    if isinstance(x, Whole):
        value, position = x.value.copy(), index.value.copy()
        for k in range(1, value.shape[-1]):
            held, new = value[..., k - 1], x.value[..., k]
            better = new > held if largest else new < held
            take = better | ((new == held) & (index.value[..., k] < position[..., k - 1]))
            value[..., k] = np.where(take, new, held)
            position[..., k] = np.where(take, index.value[..., k], position[..., k - 1])
        unsure = np.logical_or.accumulate(x.open, axis=-1)
        return Whole(x.dtype, value, unsure), Whole(index.dtype, position,
                                                    unsure | np.logical_or.accumulate(index.open, axis=-1))
    sign = 1.0 if largest else -1.0
    number, error, position = x.value.copy(), x.error.copy(), index.value.copy()
    unsure, either = np.zeros(x.shape, dtype=bool), np.zeros(x.shape, dtype=bool)
    unsure[..., 0] = index.open[..., 0] | np.isinf(x.error[..., 0])
    for k in range(1, x.shape[-1]):
        held, held_error = number[..., k - 1], error[..., k - 1]
        new, new_error = x.value[..., k], x.error[..., k]
        nan_held, nan_new = np.isnan(held), np.isnan(new)
        better = np.where(nan_held | nan_new, nan_new & ~nan_held, sign * new > sign * held)
        equal = (nan_held & nan_new) | (new == held)
        take = better | (equal & (index.value[..., k] < position[..., k - 1]))
        apart = np.abs(sign * new - sign * held) > new_error + held_error
        known = np.isfinite(new_error) & np.isfinite(held_error)
        certain = (new_error == 0) & (held_error == 0)
        clear = np.where(nan_held | nan_new | np.isinf(new) | np.isinf(held), known, apart | certain)
        number[..., k] = np.where(take, new, held)
        error[..., k] = np.where(clear, np.where(take, new_error, held_error), np.maximum(new_error, held_error))
        position[..., k] = np.where(take, index.value[..., k], position[..., k - 1])
        unsure[..., k] = unsure[..., k - 1] | ~clear | index.open[..., k]
        zeros = (new == 0) & (held == 0) & (index.value[..., k] == position[..., k - 1])
        either[..., k] = (either[..., k - 1] & ~take) | (zeros & (np.signbit(new) != np.signbit(held)))
    error = np.where(either & np.isfinite(error), np.maximum(error, TINY), error)
    return Real(x.dtype, number, error), Whole(index.dtype, position, unsure)


def _log_cumulative_sum_exp(x: Real) -> Real:
    """log of the prefix sums of exp: each step max + log1p(exp(min - max)), reassociated at will.

    An error of the operands moves the result by at most their largest error (the weights of the terms sum to 1). One
    combination rounds max and the result, and errs in exp and log1p (policy ULP(3 + 0.4|x|) and ULP(1)) by at most
    eight ulps of 1; `count` combinations on any path.
    """
    name, kind = x.dtype, dtype(x.dtype)
    value = np.logaddexp.accumulate(x.value, axis=-1)
    count = np.arange(1, x.shape[-1] + 1)
    size = np.maximum.accumulate(np.where(np.isfinite(x.value), np.abs(x.value), 0.0), axis=-1) + np.log(count) + 1.0
    blur = np.maximum.accumulate(np.where(np.isfinite(x.error), x.error, np.inf), axis=-1)
    error = blur + (count - 1) * folds.eps(name) * (8.0 + 2.0 * size) + 2.0**-50 * size
    finite = np.isfinite(x.value)
    nan, plus = np.isnan(x.value), np.isposinf(x.value)
    special = np.logical_or.accumulate(nan | plus, axis=-1)
    nothing = np.logical_and.accumulate(np.isneginf(x.value), axis=-1)
    known = np.logical_and.accumulate(np.isfinite(x.error), axis=-1)
    value = np.where(np.logical_or.accumulate(nan, axis=-1), np.nan, value)
    error = np.where(special | nothing, np.where(known, 0.0, np.inf), error)
    # inf and -inf, or NaN and inf, may meet in either order: max is NaN or inf as the table of the contract says.
    both = np.logical_or.accumulate(nan, axis=-1) & np.logical_or.accumulate(plus, axis=-1)
    first = x.exact & (np.arange(x.shape[-1]) == 0) & finite
    overflow = size + error >= float(kind.max)
    error = np.where(both | overflow & ~special & ~nothing, np.inf, error)
    return Real(name, value, np.where(first, 0.0, error))
