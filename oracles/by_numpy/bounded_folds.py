"""Reductions of values with error bounds along the last axis (contract: oracles.md §4, kernels/codegen/notes.md).

Float sums and products may be associated in any order, so the bounds are those of the worst order. A fold is certain
where no order rounds: sums of numbers with a common last bit, products of few significant bits.
"""


import numpy as np

from tridiff.oracles.by_numpy.bounded import (
    TINY,
    Real,
    Value,
    Whole,
    overflow_threshold,
    product_of_unknown,
    rounded,
    whole,
)
from tridiff.oracles.by_numpy.bounded_ops import lowest_bit, nonzero
from tridiff.oracles.dtypes import Array, dtype, numpy_dtype


def eps(name: str) -> float:
    """2u: what oracles.md §4 counts per term."""
    return 2.0 * dtype(name).unit_roundoff


def _settled(name: str, value: Array, error: Array, certain: Array) -> Real:
    """Certain folds are values of the type; the rest carry their error."""
    error = np.where(np.isnan(error), np.inf, error)
    return Real(name, np.where(certain, rounded(value, name), value), np.where(certain, 0.0, error))


# -- sums


def _sum_parts(x: Real) -> tuple[Array, Array, Array, Array, Array, Array]:
    """(total, sum of sizes, error of the terms, certain, special, NaN) per prefix; along the last axis."""
    finite = np.isfinite(x.value)
    clean = np.where(finite, x.value, 0.0)
    # A product that overflowed may be added unrounded, as a finite number: where signs differ, anything may come out.
    mixed = (x.value < 0).any(axis=-1, keepdims=True) & (x.value > 0).any(axis=-1, keepdims=True)
    term = np.where(finite, x.loose(), np.where(np.isinf(np.where(mixed, x.loose(), x.error)), np.inf, 0.0))
    total = np.cumsum(x.value.astype(np.longdouble), axis=-1).astype(np.float64)
    sizes = np.cumsum(np.abs(clean) + np.where(np.isfinite(term), term, 0.0), axis=-1)
    blur = np.cumsum(term, axis=-1)
    bit = np.minimum.accumulate(lowest_bit(clean), axis=-1)
    precision = dtype(x.dtype).precision
    # Every partial sum, in any order, is a multiple of the last bit and no larger than the sum of sizes.
    no_rounding = (sizes <= bit * 2.0**precision) | (sizes == 0)
    certain = np.logical_and.accumulate(x.exact & (term == 0), axis=-1) & no_rounding
    special = np.logical_or.accumulate(~finite, axis=-1)
    return total, sizes, blur, certain, special, _never_a_number(x)


def _never_a_number(x: Real) -> Array:
    """Prefixes whose sum is NaN in any order: they hold a NaN, or infinities of both signs."""
    plus, minus = (np.logical_or.accumulate((x.value == end) & (x.loose() == 0), axis=-1) for end in (np.inf, -np.inf))
    return np.asarray(np.logical_or.accumulate(x.nan, axis=-1) | (plus & minus))


def _sum_result(x: Real, total: Array, sizes: Array, blur: Array, certain: Array, special: Array, never: Array,
                count: Array | int, minus: Array) -> Real:
    name = x.dtype
    error = blur + count * eps(name) * sizes + 2.0**-52 * sizes
    limit = float(dtype(name).max)
    overflow = sizes + error >= limit
    # Terms of one sign that are too large together are infinite in any order.
    infinite = overflow & (np.abs(total) >= sizes) & (np.abs(total) - error >= overflow_threshold(name)) & ~special
    total = np.where(infinite, np.copysign(np.inf, total), total)
    error = np.where(overflow, np.where(infinite, 0.0, np.inf), error)
    # Infinities and NaN: the rules of addition hold in any order, if no partial sum overflows.
    error = np.where(special, np.where(np.isinf(blur) | overflow, np.inf, 0.0), error)
    total, error = np.where(never, np.nan, total), np.where(never, 0.0, error)
    found = _settled(name, total, error, certain & ~special & ~infinite)
    # -0.0 comes out only if every term is one, and then only if no padding zero is added.
    zero = found.exact & (total == 0)
    value = np.where(zero, 0.0, found.value)
    return Real(name, value, np.where(zero & minus, TINY, found.error))


def reduce_sum(x: Real) -> Real:
    """Sum along the last axis."""
    if x.shape[-1] == 0:
        return Real(x.dtype, np.zeros(x.shape[:-1]), np.zeros(x.shape[:-1]))
    total, sizes, blur, certain, special, never = (part[..., -1] for part in _sum_parts(x))
    minus = (np.signbit(x.value) & (x.value == 0)).all(axis=-1)
    return _sum_result(x, total, sizes, blur, certain, special, never, x.shape[-1], minus)


def scan_sum(x: Real) -> Real:
    """Prefix sums."""
    minus = np.logical_and.accumulate(np.signbit(x.value) & (x.value == 0), axis=-1)
    count = np.arange(1, x.shape[-1] + 1)
    return _sum_result(x, *_sum_parts(x), count, minus)


# -- products


def longest_run(logs: Array) -> Array:
    """The largest sum of neighbours among the first k + 1 elements, at least 0, for every k along the last axis; an
    element of -infinity is part of no run."""
    found = np.zeros(logs.shape)
    running = np.zeros(logs.shape[:-1])
    for k in range(logs.shape[-1]):
        running = np.maximum(running + logs[..., k], 0.0)
        found[..., k] = running
    return np.maximum.accumulate(found, axis=-1)


def _product(x: Real, count: Array | int, *, neighbours: bool) -> Real:
    """Prefix products: relative errors add; open where what comes out depends on the order.

    neighbours: only runs of neighbours are multiplied with each other (a scan); otherwise any subset may be. A partial
    product that leaves the range upwards is infinite; one that leaves it downwards is off by up to the smallest normal
    number, which the others multiply.
    """
    name = x.dtype
    kind = dtype(name)
    finite = np.isfinite(x.value)
    total = np.cumprod(x.value.astype(np.longdouble), axis=-1)
    nil = (x.error <= TINY) & (x.value == 0)
    size = np.abs(x.value) + np.where(np.isfinite(x.error), x.error, 0.0)
    counted = finite & (x.value != 0)
    logs = np.log2(np.where(finite & ~nil, size, 1.0))
    zero = np.logical_or.accumulate(nil, axis=-1)
    special = np.logical_or.accumulate(~finite, axis=-1)
    if neighbours:
        grown, shrunk = longest_run(np.where(nil, -np.inf, logs)), longest_run(np.where(nil, -np.inf, -logs))
    else:
        grown, shrunk = np.cumsum(np.maximum(logs, 0), axis=-1), np.cumsum(np.maximum(-logs, 0), axis=-1)
    with np.errstate(all="ignore"):
        relative = np.where(x.exact, 0.0, x.error / np.abs(x.value))
        relative = np.where(np.isnan(relative) | (relative >= 0.5), np.inf, relative)
        spread = np.cumsum(relative * 1.5, axis=-1)
        # A product has as many significant bits as that of the odd parts of its factors; every partial one has fewer.
        odd = np.where(counted, np.abs(x.value) / lowest_bit(x.value), 1.0)
        bits = np.cumsum(np.where(x.exact, np.log2(odd), np.inf), axis=-1)
    value = total.astype(np.float64)
    # An infinity absorbs growth; only a zero, one that a run has become too, could make it NaN.
    vanishes = shrunk >= kind.bias - 1
    in_range = (grown < kind.bias) & ~(vanishes & special)
    steps = np.broadcast_to(np.asarray(count, dtype=np.float64), value.shape)
    # A run that vanishes may be multiplied by one before it and by one behind it.
    with np.errstate(all="ignore"):
        lost = np.where(vanishes, steps * kind.smallest_normal * np.exp2(grown * (2 if neighbours else 1)), 0.0)
        # Of factors that may be zero no relative error is known; their product is no larger than that of their ends.
        ends = np.exp2(np.cumsum(logs, axis=-1)) * (1.0 + count * eps(name) + 2.0**-40) + np.abs(value)
        error = np.where(np.isinf(spread), ends, np.abs(value) * np.expm1(spread + count * eps(name) + 2.0**-50)) + lost
    definite = np.logical_and.accumulate(np.isfinite(x.error), axis=-1)
    signed = np.logical_and.accumulate(x.exact | (np.abs(x.value) > x.error), axis=-1)
    # Of a product of zeros only the sign may be unknown, of one with infinities that makes it one of two.
    error = np.where(special | zero, np.where(signed, 0.0, np.where(special, np.inf, TINY)), error)
    # Whatever the order, a product beyond the range is that of numbers without a zero, or of an infinity with such.
    with np.errstate(all="ignore"):
        least = np.cumsum(np.log2(np.where(counted, np.abs(x.value), 1.0)) - 2.0 * relative, axis=-1)
    # The logarithm of the largest double is 1024 to a double.
    slack = steps * (2 * eps(name) + 2.0**-40)
    infinite = (least - slack >= kind.bias + 1) & ~vanishes & ~zero & ~special & signed & definite
    negative = np.logical_xor.accumulate(np.signbit(x.value), axis=-1)
    value = np.where(infinite, np.where(negative, -np.inf, np.inf), value)
    error = np.where(infinite, 0.0, np.where(in_range & definite & (np.abs(value) + error < float(kind.max)) |
                                             in_range & definite & (special | zero), error, np.inf))
    # NaN in any order: one factor is, or an infinity meets a zero.
    boundless = np.logical_or.accumulate(np.isinf(x.value) & x.exact, axis=-1)
    never = np.logical_or.accumulate(x.nan, axis=-1) | (boundless & zero)
    value, error = np.where(never, np.nan, value), np.where(never, 0.0, error)
    certain = (bits < kind.precision - 1e-6) & in_range & definite & ~special & ~zero & ~vanishes
    found = _settled(name, value, error, certain)
    return product_of_unknown(Real(name, found.value, np.where(zero & (found.error == 0) & ~special, 0.0, found.error)))


def scan_prod(x: Real) -> Real:
    """Prefix products."""
    return _product(x, np.arange(1, x.shape[-1] + 1), neighbours=True)


def reduce_prod(x: Real) -> Real:
    """Product along the last axis."""
    if x.shape[-1] == 0:
        return Real(x.dtype, np.ones(x.shape[:-1]), np.zeros(x.shape[:-1]))
    found = _product(x, x.shape[-1], neighbours=False)
    return product_of_unknown(Real(x.dtype, found.value[..., -1], found.error[..., -1]))


# -- extrema


def scan_extremum(x: Real, *, largest: bool) -> Real:
    """Running maximum or minimum; NaN stays."""
    sign = 1.0 if largest else -1.0
    value = np.maximum.accumulate(sign * x.value, axis=-1)
    with np.errstate(invalid="ignore"):
        nan = np.isnan(x.value)
        high = np.maximum.accumulate(np.where(nan, -np.inf, sign * x.value + x.error), axis=-1)
        low = np.maximum.accumulate(np.where(nan, -np.inf, sign * x.value - x.error), axis=-1)
        error = np.maximum(high - value, value - low)
        error = np.where((high == value) & (low == value), 0.0, error)
    opened = np.logical_or.accumulate(np.isinf(x.error), axis=-1)
    certain_nan = np.logical_or.accumulate(x.nan, axis=-1)
    zeros = [np.logical_or.accumulate((x.value == 0) & (np.signbit(x.value) == sign_bit), axis=-1)
             for sign_bit in (False, True)]
    error = np.where((value == 0) & zeros[0] & zeros[1], np.maximum(error, TINY), error)
    error = np.where(certain_nan, 0.0, np.where(opened | np.isnan(error), np.inf, error))
    # An infinite extreme that is certain stays, whatever else is open below it.
    return Real(x.dtype, sign * value, error)


def reduce_extremum(x: Real, *, largest: bool) -> Real:
    """Maximum or minimum along the last axis, which is not empty; NaN wins."""
    found = scan_extremum(x, largest=largest)
    return Real(x.dtype, found.value[..., -1], found.error[..., -1])


def arg_extremum(x: Value, *, largest: bool) -> Whole:
    """Position (i64) of the first extreme; open where another element may be it."""
    shape = x.shape[:-1]
    if isinstance(x, Whole):
        keys = x.value.astype(np.uint8) if x.dtype == "i1" else x.value
        position = np.argmax(keys, axis=-1) if largest else np.argmin(keys, axis=-1)
        unsure = x.open
        if x.dtype == "i1":
            # Nothing behind the first truth value that is wanted can be the first one.
            decided = np.logical_or.accumulate((x.value == largest) & ~x.open, axis=-1)
            unsure = unsure & ~decided
        return whole("i64", position, np.asarray(unsure.any(axis=-1)))
    sign = 1.0 if largest else -1.0
    key = sign * x.value
    nan = np.isnan(key)
    any_nan = nan.any(axis=-1)
    ranked = np.where(nan, -np.inf, key)
    first = np.where(any_nan, np.argmax(nan, axis=-1), np.argmax(ranked, axis=-1))
    chosen = np.take_along_axis(ranked, first[..., None], -1)
    chosen_error = np.take_along_axis(x.error, first[..., None], -1)
    with np.errstate(invalid="ignore"):
        below = ranked + x.error < chosen - chosen_error
        tie = x.exact & (chosen_error == 0) & (ranked <= chosen)
    itself = np.arange(x.shape[-1]) == first[..., None]
    sure = (below | tie | itself).all(axis=-1) & np.isfinite(x.error).all(axis=-1)
    # Of NaNs the first, whatever is behind it.
    behind = np.arange(x.shape[-1]) > first[..., None]
    sure = np.where(any_nan, (np.isfinite(x.error) | behind).all(axis=-1), sure)
    return Whole("i64", first.astype(np.int64).reshape(shape), ~sure)


# -- truth, integers


def reduce_truth(x: Value, *, every: bool) -> Whole:
    """any or all along the last axis; certain as soon as one certain element decides."""
    truth = nonzero(x)
    decisive = ~truth.value if every else truth.value
    decided = (decisive & ~truth.open).any(axis=-1)
    value = truth.value.all(axis=-1) if every else truth.value.any(axis=-1)
    value = np.where(decided, not every, value)
    return Whole("i1", np.asarray(value), np.asarray(truth.open.any(axis=-1) & ~decided))


_INTEGER_FOLDS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "xor_sum": np.bitwise_xor}


def integer_fold(kind: str, x: Whole, accumulator: str) -> Whole:
    """A reduction of integers or truth values in the accumulator's type, which wraps."""
    wide = x.value.astype(numpy_dtype(accumulator))
    fold = _INTEGER_FOLDS[kind]
    value = fold.reduce(wide, axis=-1, dtype=wide.dtype) if kind in ("sum", "prod") else fold.reduce(wide, axis=-1)
    unsure = x.open.any(axis=-1)
    if x.dtype == "i1" and kind in ("max", "min", "prod"):
        # One truth value decides.
        decisive = (x.value == (kind == "max")) & ~x.open
        decided = decisive.any(axis=-1)
        value = np.where(decided, kind == "max", value)
        unsure = unsure & ~decided
    return Whole(accumulator, np.asarray(value).astype(numpy_dtype(accumulator)), np.asarray(unsure))


def integer_scan(kind: str, x: Whole) -> Whole:
    """A scan of integers in their own type, which wraps; max and min also of truth values."""
    fold, kept = _INTEGER_FOLDS[kind], x.value.dtype
    wraps = kind in ("sum", "prod")
    value = fold.accumulate(x.value, axis=-1, dtype=kept) if wraps else fold.accumulate(x.value, axis=-1)
    return Whole(x.dtype, value, np.logical_or.accumulate(x.open, axis=-1))


# -- Welford


def welford(mean: Real, m2: Real, weight: Real) -> tuple[Real, Real, Real]:
    """(mean, m2, weight) of all states along the last axis: plain elements are (x, 0, 1).

    Bounds: oracles.md §4 for a chain as long as the row, the larger one of Welford's and the two-pass form. A merge is
    off by u times the larger mean (`oracles.tolerances.welford_mean_bound`): the largest |mean| where weights differ,
    their average where they do not, because then no merge weighs a light set more than a heavy one.
    """
    name = mean.dtype
    count = mean.shape[-1]
    zeros = np.zeros(mean.shape[:-1])
    if count == 0:
        return tuple(Real(name, zeros, zeros) for _ in range(3))  # type: ignore[return-value]
    w = weight.value
    total = w.sum(axis=-1)
    used = w != 0
    regular = (np.isfinite(mean.value) & np.isfinite(m2.value)) | ~used
    values = np.where(used & np.isfinite(mean.value), mean.value, 0.0)
    inner = np.where(used & np.isfinite(m2.value), m2.value, 0.0)
    shares = np.maximum(total, 1e-300)
    centre = (values.astype(np.longdouble) * w).sum(axis=-1) / shares
    gaps = values - centre[..., None].astype(np.float64)
    spread = (inner + w * gaps * gaps).sum(axis=-1)
    c = 4 * (count + 4) * eps(name)
    error_of_mean = np.where(used, mean.error, 0.0)
    average = (np.abs(values) * w).sum(axis=-1) / shares
    largest = np.abs(values).max(axis=-1)
    even = (w == w[..., :1]).all(axis=-1)
    # Below the normal numbers a rounding is no fraction of the value, and a library may flush.
    mean_error = c * np.where(even, average, largest) + (error_of_mean * w).sum(axis=-1) / shares + np.where(
        average > 0, dtype(name).smallest_normal, 0.0)
    size = np.where(even, np.abs(centre).astype(np.float64), largest)
    # Roots before products: neither overflows nor vanishes where the bound does not. An m2 that a program made may be
    # negative; what cancels is rounded all the same.
    deviation = np.sqrt((np.abs(inner) + np.abs(w) * gaps * gaps).sum(axis=-1))
    root = np.hypot(deviation, np.sqrt(np.maximum(total, 0.0)) * size)
    blur = error_of_mean.max(axis=-1)
    moved = 2 * blur * np.sqrt(np.maximum(total, 0.0)) * deviation + total * blur * blur
    moved = moved + np.where(used, m2.error, 0.0).sum(axis=-1)
    # A square below the normal numbers is off by a subnormal step, which weights multiply.
    underflow = dtype(name).smallest_normal + count * (total + 4) * dtype(name).smallest_subnormal
    m2_error = c * deviation * root + (c * root) ** 2 + moved + underflow
    limit = float(dtype(name).max)
    too_large = (4 * total * largest * largest + 4 * spread >= limit) | (2 * largest * np.maximum(total, 1.0) >= limit)
    certain_weight = weight.exact.all(axis=-1) & (np.abs(w).sum(axis=-1) < 2.0 ** dtype(name).precision) & (
        w == np.rint(w)).all(axis=-1) & (w >= 0).all(axis=-1)
    good = regular.all(axis=-1)
    nothing = total == 0
    mean_error = np.where(good & ~too_large & certain_weight & ~nothing, mean_error, np.inf)
    m2_error = np.where(good, np.where(too_large | ~certain_weight | nothing, np.inf, m2_error), 0.0)
    sure = np.isfinite(mean.error).all(axis=-1) & np.isfinite(m2.error).all(axis=-1) & certain_weight
    m2_error = np.where(sure, m2_error, np.inf)
    mean_value = centre.astype(np.float64)
    # NaN in any order: one mean is, or infinities of both signs meet.
    plus, minus = ((used & mean.exact & (mean.value == end)).any(axis=-1) for end in (np.inf, -np.inf))
    never = ((used & mean.nan).any(axis=-1) | (plus & minus)) & certain_weight
    mean_value, mean_error = np.where(never, np.nan, mean_value), np.where(never, 0.0, mean_error)
    mean_error = np.where(mean_value == 0, np.maximum(mean_error, TINY), mean_error)
    return (Real(name, mean_value, mean_error),
            Real(name, np.where(good, spread, np.nan), m2_error),
            Real(name, total, np.where(certain_weight, 0.0, np.inf)))


# -- sorting


def sort(x: Value, *, descending: bool, stable: bool) -> tuple[Value, Whole]:
    """(sorted values, original positions i16) along the last axis: NaN last, first when descending."""
    key: Array
    if x.shape[-1] == 0:
        return x, Whole("i16", np.zeros(x.shape, dtype=np.int16), np.zeros(x.shape, dtype=bool))
    if isinstance(x, Whole):
        key = x.value.astype(np.uint8) if x.dtype == "i1" else x.value
        blurred = np.broadcast_to(x.open.any(axis=-1, keepdims=True), x.shape)
    else:
        key = x.value
        blurred = np.broadcast_to((~x.exact).any(axis=-1, keepdims=True), x.shape)
    # Ranks: equal keys share one, NaNs the highest.
    ranks = np.unique(key, return_inverse=True, equal_nan=True)[1].reshape(key.shape).astype(np.int64)
    ranks = -ranks if descending else ranks
    order = np.argsort(ranks, axis=-1, kind="stable")
    sorted_ranks = np.take_along_axis(ranks, order, -1)
    tied = np.zeros(order.shape, dtype=bool)
    same = sorted_ranks[..., 1:] == sorted_ranks[..., :-1]
    tied[..., 1:] |= same
    tied[..., :-1] |= same
    positions = Whole("i16", order.astype(np.int16), blurred | (tied if not stable else False))
    if isinstance(x, Whole):
        return Whole(x.dtype, np.take_along_axis(x.value, order, -1), blurred), positions
    value = np.take_along_axis(x.value, order, -1)
    # Sorting moves no element further than the largest error.
    worst = np.broadcast_to(x.error.max(axis=-1, keepdims=True), x.shape)
    with np.errstate(invalid="ignore"):
        unclear = ~np.isfinite(value)
    error = np.where(blurred, np.where(unclear, np.inf, worst), 0.0)
    if not stable:
        error = np.where((value == 0) & tied, np.maximum(error, TINY), error)
    return Real(x.dtype, value, error), positions
