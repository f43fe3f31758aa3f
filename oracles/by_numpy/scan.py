"""Packed words and the exclusive scan across programs in numpy (contract: helpers.md §11)."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import Array, bits_dtype, dtype, name_of_array, numpy_dtype
from tridiff.oracles.errors import OracleError


def _add(left: Array, right: Array) -> Array:
    return np.asarray(np.add(left, right))


def _maximum(left: Array, right: Array) -> Array:
    return np.where(np.greater(left, right), left, right)


def _affine(left: Array, right: Array) -> Array:
    half = np.uint64(left.dtype.itemsize * 4)
    low = (np.uint64(1) << half) - np.uint64(1)
    a, b = left.astype(np.uint64), right.astype(np.uint64)
    scale = ((a & low) * (b & low)) & low
    shift = ((a >> half) * (b & low) + (b >> half)) & low
    return np.asarray((shift << half) | scale).astype(left.dtype)


# Associative combinations; the last three do not commute. `affine` packs t -> scale * t + shift into an
# unsigned word: scale in the low half, shift in the high half, the left map applied first.
COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "add": _add, "maximum": _maximum, "second": lambda left, right: right, "first": lambda left, right: left,
    "affine": _affine,
}


def _known(combine: str) -> Callable[[Array, Array], Array]:
    if combine not in COMBINE:
        raise OracleError(f"unknown combination {combine!r}; use one of {' '.join(COMBINE)}")
    return COMBINE[combine]


def exclusive_scan(x: Array, *, combine: str = "add", axis: int = -1) -> Array:
    """Left fold of the elements before each position along `axis`; zero bits at position 0.

    Same type as x, BIT for integers and for combinations that only select. Float addition returns float64,
    unrounded: the contract lets a program associate as it likes; compare with SUM and `exclusive_sum_bound`.
    """
    function = _known(combine)
    kind = dtype(name_of_array(x))
    if combine == "affine" and kind.kind != "uint":
        raise OracleError("affine maps are packed into unsigned words; view the values as u16, u32 or u64")
    moved = np.moveaxis(x, axis, 0)
    if combine == "add" and kind.is_float:
        with np.errstate(invalid="ignore"):
            moved = moved.astype(np.float64)
    result = np.zeros_like(moved)
    with np.errstate(all="ignore"):
        for place in range(1, len(moved)):
            before = moved[place - 1]
            result[place] = before if place == 1 else function(result[place - 1], before)
    return np.moveaxis(result, 0, axis)


def exclusive_scan_defined(x: Array, *, combine: str = "add", axis: int = -1) -> npt.NDArray[np.bool_]:
    """False where `maximum` has met a NaN: with NaN the combination is not associative."""
    _known(combine)
    with np.errstate(invalid="ignore"):
        clean = np.moveaxis(np.asarray(x == x), axis, 0)
    if combine != "maximum":
        return np.ones(x.shape, dtype=bool)
    before = np.concatenate([np.ones_like(clean[:1]), np.logical_and.accumulate(clean, axis=0)[:-1]])
    return np.moveaxis(before, 0, axis)


def pack_value_flag(value: Array, flag: Array) -> Array:
    """flag | (bits(value) << width) as the unsigned type twice as wide; values of 16 or 32 bits."""
    width = dtype(name_of_array(value)).storage_bits
    if width not in (16, 32):
        raise OracleError(f"packed values have 16 or 32 bits, got {width}; 64-bit scans use three words")
    word = np.dtype(f"uint{2 * width}").type
    raw = value.view(bits_dtype(name_of_array(value))).astype(word)
    return np.asarray((raw << word(width)) | np.asarray(flag).astype(word))


def unpack_value(pack: Array, name: str) -> Array:
    """The value of type `name` in the upper half of each word."""
    width = dtype(name).storage_bits
    return np.asarray(pack >> pack.dtype.type(width)).astype(bits_dtype(name)).view(numpy_dtype(name))


def unpack_flag(pack: Array) -> Array:
    """The flag in the lower half of each word, in the unsigned type of half the width."""
    return pack.astype(np.dtype(f"uint{pack.dtype.itemsize * 4}"))
