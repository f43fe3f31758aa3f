"""What functions of `triton.language` give, in numpy (contract: language.md §2).

Every array has the rows of the batch as its first axis and one call's block behind it; axes are counted without the
rows. Python numbers take the type that is computed in.
"""


import numpy as np

from tridiff.oracles.by_exact.rounding import rounded as rounded, whole as whole
from tridiff.oracles.by_exact.special import special as special
from tridiff.oracles.by_numpy import (
    conversions,
    flushing as flushing,
    pieces as pieces,
    pointwise as operations,
    products as products,
    words as words,
)
from tridiff.oracles.dtypes import Array, dtype, name_of_array, numpy_dtype
from tridiff.oracles.errors import OracleError

Shape = tuple[int, ...]


def constant(value: float, *, to: str) -> Array:
    """A Python number in a type, one row."""
    if dtype(to).is_float:
        return conversions.convert(np.array([value], dtype=np.float64), to=to)
    if to == "i1":
        return np.array([value != 0])
    return np.array([int(value) & ((1 << dtype(to).bits) - 1)], dtype=np.uint64).astype(numpy_dtype(to))


def cast(x: Array | float, *, to: str) -> Array:
    """x in a type, rounded to nearest."""
    if not isinstance(x, np.ndarray):
        return constant(x, to=to)
    return x if name_of_array(x) == to else conversions.convert(x, to=to)


def candidates(x: Array, *, to: str) -> Array:
    """(2, rows, ...): x in a type; where that is fp8e5, overflow may saturate."""
    return conversions.candidates(x, to=to)


def towards_zero(x: Array, *, to: str) -> Array:
    """x in a narrower float type, rounded towards zero: of the nearest value and its neighbour the one not above."""
    nearest = conversions.convert(x, to=to)
    wide, found = x.astype(np.float64), nearest.astype(np.float64)
    bits = nearest.view(np.dtype(f"uint{dtype(to).bits}"))
    with np.errstate(invalid="ignore"):
        above = np.abs(found) > np.abs(wide)
    return (bits - above.astype(bits.dtype)).view(nearest.dtype)


def cast_defined(x: Array, *, to: str) -> Array:
    return conversions.convert_defined(x, to=to)


def bitcast(x: Array, *, to: str) -> Array:
    return np.ascontiguousarray(x).view(numpy_dtype(to))


def align(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """Arrays of one shape: axes of length 1 are put in front of shorter blocks, then blocks are broadcast."""
    rank = max(x.ndim for x in arrays)
    lifted = [x.reshape(x.shape[:1] + (1,) * (rank - x.ndim) + x.shape[1:]) for x in arrays]
    shape = np.broadcast_shapes(*(x.shape for x in lifted))
    return tuple(np.ascontiguousarray(np.broadcast_to(x, shape)) for x in lifted)


def pointwise(op: str, computed: str, *operands: Array | float) -> Array:
    """An operation of oracles.md §3 after implicit conversion to one type."""
    return operations.evaluate(op, *align(tuple(cast(x, to=computed) for x in operands)))


def pointwise_defined(op: str, computed: str, *operands: Array | float) -> Array:
    return operations.defined(op, *align(tuple(cast(x, to=computed) for x in operands)))


def mixed(op: str, *operands: Array) -> Array:
    """An operation whose operands keep their types."""
    return operations.evaluate(op, *align(operands))


def upper_product(a: Array, b: Array) -> Array:
    """The upper half of an integer product."""
    bits = a.dtype.itemsize * 8
    exact = a.astype(object) * b.astype(object)
    words = np.array([(int(one) >> bits) & ((1 << bits) - 1) for one in exact.ravel()], dtype=np.uint64)
    return words.astype(a.dtype).reshape(a.shape)


def ceiling_quotient(a: Array, b: Array) -> Array:
    """(a + b - 1) // b for positive numbers, without overflow."""
    return (-(-a.astype(object) // np.where(b == 0, 1, b).astype(object))).astype(a.dtype)


def where(condition: Array, x: Array | float, y: Array | float, *, computed: str) -> Array:
    taken, a, b = align((cast(condition, to="i1"), cast(x, to=computed), cast(y, to=computed)))
    return np.where(taken, a, b)


def _quiet(x: Array) -> Array:
    """float64; signalling NaNs become quiet ones, because functions that ignore a NaN mind those."""
    wide = x.astype(np.float64)
    return np.where(np.isnan(wide), np.nan, wide)


def _flat(x: Array, axis: int | None) -> tuple[Array, int]:
    return (x.reshape(x.shape[0], -1), 1) if axis is None else (x, axis % (x.ndim - 1) + 1)


def _kept(x: Array, axis: int | None, found: Array, keep: bool) -> Array:
    if not keep:
        return found
    if axis is None:
        return found.reshape(found.shape[:1] + (1,) * (x.ndim - 1))
    return np.expand_dims(found, axis % (x.ndim - 1) + 1)


def fold(x: Array, *, kind: str, axis: int | None, keep: bool) -> Array:
    """sum, product, max, min, xor, or, and along an axis. Sums of floats are float64."""
    flat, place = _flat(x, axis)
    is_float = dtype(name_of_array(x)).is_float
    with np.errstate(all="ignore"):
        if is_float and kind in ("sum", "product"):
            wide = flat.astype(np.float64)
            found = wide.sum(place) if kind == "sum" else wide.prod(place)
            if kind == "sum":
                # Nothing is added to them, no zero either: -0.0 + -0.0 is -0.0 (IEEE 754, 6.3).
                found = np.where(((wide == 0) & np.signbit(wide)).all(axis=place), -0.0, found)
        elif kind in ("max", "min"):
            if is_float:
                ends = (np.fmax if kind == "max" else np.fmin).reduce(_quiet(flat), axis=place)
                found = cast(np.asarray(ends), to=name_of_array(x))
            else:
                found = np.asarray((np.max if kind == "max" else np.min)(flat, axis=place))
        else:
            if flat.dtype == np.bool_:
                flat = flat.astype(np.uint8)
            function = {"sum": np.add, "product": np.multiply, "xor": np.bitwise_xor, "or": np.bitwise_or,
                        "and": np.bitwise_and}[kind]
            found = np.asarray(function.reduce(flat, axis=place, dtype=flat.dtype)).astype(x.dtype)
    return _kept(x, axis, found, keep)


def argument(x: Array, *, kind: str, axis: int | None, keep: bool) -> Array:
    """The first place of the largest or smallest value, as i32."""
    flat, place = _flat(x, axis)
    with np.errstate(all="ignore"):
        wide = flat.astype(np.float64) if dtype(name_of_array(x)).is_float else flat
    found = (np.argmax if kind == "max" else np.argmin)(wide, axis=place).astype(np.int32)
    return _kept(x, axis, found, keep)


def has_nan(x: Array, *, axis: int | None, keep: bool) -> Array:
    """Whether a slice holds a NaN."""
    flat, place = _flat(x, axis)
    with np.errstate(all="ignore"):
        nan = np.isnan(flat.astype(np.float64)) if dtype(name_of_array(x)).is_float else np.zeros(flat.shape, bool)
    return _kept(x, axis, np.asarray(nan.any(place)), keep)


def scan(x: Array, *, kind: str, axis: int, reverse: bool) -> Array:
    """Prefix sums, products, extrema, or the latter of two. Sums and products of floats are float64."""
    place = axis % (x.ndim - 1) + 1
    flat = np.flip(x, place) if reverse else x
    is_float = dtype(name_of_array(x)).is_float
    with np.errstate(all="ignore"):
        if kind == "latter":
            found = flat
        elif kind in ("max", "min"):
            wide = _quiet(flat) if is_float else flat
            pair = (np.fmax, np.fmin) if is_float else (np.maximum, np.minimum)
            found = cast(pair[kind == "min"].accumulate(wide, axis=place), to=name_of_array(x))
        elif is_float:
            wide = flat.astype(np.float64)
            found = np.cumsum(wide, axis=place) if kind == "sum" else np.cumprod(wide, axis=place)
        else:
            found = (np.add if kind == "sum" else np.multiply).accumulate(flat, axis=place, dtype=flat.dtype)
    return np.flip(found, place) if reverse else found


def affine_scan(a: Array, b: Array, *, axis: int, reverse: bool) -> tuple[Array, Array]:
    """The functions x -> a x + b of integers, each after all before it: their factors and summands."""
    place = axis % (a.ndim - 1) + 1
    factors, summands = (np.moveaxis(np.flip(one, place) if reverse else one, place, -1).copy() for one in (a, b))
    with np.errstate(over="ignore"):
        for number in range(1, factors.shape[-1]):
            summands[..., number] = summands[..., number - 1] * factors[..., number] + summands[..., number]
            factors[..., number] = factors[..., number - 1] * factors[..., number]
    moved = (np.moveaxis(one, -1, place) for one in (factors, summands))
    first, second = (np.flip(one, place) if reverse else one for one in moved)
    return first, second


def sort(x: Array, *, descending: bool) -> Array:
    """The last axis in order, zeros of either sign as they are."""
    with np.errstate(all="ignore"):
        order = np.argsort(x.astype(np.float64) if dtype(name_of_array(x)).is_float else x, axis=-1, kind="stable")
    found = np.take_along_axis(x, order, -1)
    return np.flip(found, -1) if descending else found


def histogram(x: Array, *, bins: int, mask: Array | None = None) -> Array:
    """How many values are 0, 1, ..., bins - 1; others count nowhere."""
    kept = np.ones(x.shape, bool) if mask is None else mask
    places = np.arange(bins).reshape(1, bins, 1)
    flat = x.reshape(x.shape[0], 1, -1).astype(np.int64)
    return ((flat == places) & kept.reshape(x.shape[0], 1, -1)).sum(-1).astype(np.int32)


def gather(source: Array, places: Array, *, axis: int) -> Array:
    return np.take_along_axis(source, places.astype(np.int64), axis % (source.ndim - 1) + 1)


def reshape(x: Array, *, shape: Shape) -> Array:
    return x.reshape(x.shape[:1] + shape)


def permute(x: Array, *, order: Shape) -> Array:
    return np.transpose(x, (0, *(one % len(order) + 1 for one in order)))


def broadcast(x: Array, *, shape: Shape) -> Array:
    lifted = x.reshape(x.shape[:1] + (1,) * (len(shape) - x.ndim + 1) + x.shape[1:])
    return np.broadcast_to(lifted, x.shape[:1] + shape)


def flip(x: Array, *, axis: int) -> Array:
    return np.flip(x, axis % (x.ndim - 1) + 1)


def cat(a: Array, b: Array, *, axis: int) -> Array:
    return np.concatenate([a, b], axis % (a.ndim - 1) + 1)


def join(a: Array, b: Array) -> Array:
    return np.stack(align((a, b)), -1)


def half(x: Array, *, number: int) -> Array:
    """One of the two parts of the last axis, of length 2."""
    return x[..., number]


def interleave(a: Array, b: Array) -> Array:
    both = join(a, b)
    return both.reshape(*both.shape[:-2], -1)


def rows_of(x: Array | None, rows: int, values: list[float] | list[int], *, to: str, shape: Shape) -> Array:
    """The same block in every row, from its values."""
    block = np.array(values, dtype=np.float64 if dtype(to).is_float else object)
    if not dtype(to).is_float:
        block = np.array([int(one) & ((1 << dtype(to).bits) - 1) for one in values], dtype=np.uint64)
        block = block.astype(numpy_dtype(to)) if to != "i1" else block != 0
    else:
        block = conversions.convert(block, to=to)
    return np.broadcast_to(block.reshape((1, *shape)), (rows, *shape))


def dot(a: Array, b: Array, acc: Array | None = None) -> Array:
    """Matrix products: of floats in float64, of integers in i32."""
    with np.errstate(all="ignore"):
        if dtype(name_of_array(a)).is_float:
            found = np.matmul(a.astype(np.float64), b.astype(np.float64))
        else:
            found = np.matmul(a.astype(np.int64), b.astype(np.int64)).astype(np.int32)
        return found if acc is None else found + acc.astype(found.dtype)


def _e2m1(packed: Array, axis: int) -> Array:
    """float64: two numbers of a byte each, the low half first, along an axis."""
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    pairs = np.stack([table[packed & 15], table[packed >> 4]], axis + 1)
    return pairs.reshape(*packed.shape[:axis], -1, *packed.shape[axis + 1:])


def microscaled(x: Array, scale: Array | None, *, form: str, along: int, packed: int) -> Array:
    """float64: a matrix in a microscaling format. form: e2m1, e4m3, e5m2, bf16 or fp16. along: the axis of groups of 32
    elements that share an exponent of `scale` (its last axis; 127 is none). packed: the axis of pairs in a byte."""
    names = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}
    with np.errstate(all="ignore"):
        wide = _e2m1(x, packed + 1) if form == "e2m1" else bitcast(x, to=names[form]).astype(np.float64)
        if scale is None:
            return wide
        factors = np.ldexp(1.0, scale.astype(np.int32) - 127).repeat(32, -1)
        return wide * (factors if along else factors.swapaxes(1, 2))


def loaded(x: Array, mask: Array, other: Array | float) -> Array:
    """x where the mask is true, the other value elsewhere."""
    return np.where(mask, x, cast(other, to=name_of_array(x)))


def swizzled(i: Array, j: Array, *, size_i: int, size_j: int, size_g: int) -> tuple[Array, Array]:
    """`tl.swizzle2d`: row-major places of a matrix, counted column by column within groups of size_g rows."""
    place = i.astype(np.int64) * size_j + j.astype(np.int64)
    in_group = size_g * size_j
    group = place // in_group
    first = group * size_g
    height = np.minimum(size_i - first, size_g)
    within = place % in_group
    return (first + within % height).astype(np.int32), (within // height).astype(np.int32)


def softmax(x: Array, *, axis: int) -> Array:
    """float64."""
    place = axis % (x.ndim - 1) + 1
    with np.errstate(all="ignore"):
        wide = _quiet(x)
        shifted = np.exp(wide - np.fmax.reduce(wide, axis=place, keepdims=True))
        return shifted / shifted.sum(place, keepdims=True)


def philox(seed: Array, counters: tuple[Array, ...], *, rounds: int, number: int) -> Array:
    """One word of Philox-4x32 with a seed and four counters, in 32 bits."""
    if rounds < 1:
        raise OracleError("philox needs at least one round")
    wide = [np.asarray(one).astype(np.int64).astype(np.uint64) & np.uint64(0xFFFFFFFF) for one in counters]
    c0, c1, c2, c3 = wide
    key = np.asarray(seed).astype(np.int64).astype(np.uint64)
    k0, k1 = key & np.uint64(0xFFFFFFFF), key >> np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    for _ in range(rounds):
        a, b = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (b >> np.uint64(32)) ^ c1 ^ k0, b & low, (a >> np.uint64(32)) ^ c3 ^ k1, a & low
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    return (c0, c1, c2, c3)[number].astype(np.uint32)
