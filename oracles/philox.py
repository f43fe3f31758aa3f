"""Own Philox4x32-10 in numpy, bit exact, and the streams that Triton derives from it (contract: helpers.md
§9).

A block is a function of a 64-bit seed (the key) and a 128-bit counter; here the counter is the element
offset, taken modulo 2^32, with zeros above. The second source is `tridiff.oracles.by_torch.philox`, the third
`tridiff.oracles.exact`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from tridiff.oracles.errors import OracleError

Words = npt.NDArray[np.uint32]
Seed = int | npt.NDArray[np.int64]
Quad = tuple[Words, Words, Words, Words]

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)

# Largest scale by which 2^31 - 1 stays below 1 in float32; the front end holds it as a decimal constant.
UNIFORM_SCALE = np.float32(4.6566127342e-10)


def _words(values: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Integers modulo 2^32, held in uint64 so that products do not wrap."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise OracleError(f"philox counters and offsets are integers, got {array.dtype}; cast them first")
    return array.astype(np.uint64) & np.uint64(0xFFFFFFFF)


def philox4x32(
    seed: Seed, c0: npt.ArrayLike, c1: npt.ArrayLike = 0, c2: npt.ArrayLike = 0, c3: npt.ArrayLike = 0, *,
    rounds: int = ROUNDS,
) -> Quad:
    """Four uint32 words per counter. seed: key modulo 2^64, or an array of keys that
    broadcasts. c0..c3: integers of one broadcast shape, modulo 2^32.
    """
    x0, x1, x2, x3 = np.broadcast_arrays(*(_words(c) for c in (c0, c1, c2, c3)))
    k0, k1 = seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(rounds):
        p0, p1 = x0 * np.uint64(MULTIPLIERS[0]), x2 * np.uint64(MULTIPLIERS[1])
        x0, x1, x2, x3 = ((p1 >> high) ^ x1 ^ np.uint64(k0), p1 & low, (p0 >> high) ^ x3 ^ np.uint64(k1), p0 & low)
        k0, k1 = (k0 + KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + KEY_STEPS[1]) & 0xFFFFFFFF
    return x0.astype(np.uint32), x1.astype(np.uint32), x2.astype(np.uint32), x3.astype(np.uint32)


def randint4x(seed: Seed, offset: npt.ArrayLike) -> Quad:
    """The four words of the block at each offset."""
    return philox4x32(seed, offset)


def randint64(seed: Seed, offset: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """int64 in [low, high) per offset: low + (r0 + 2^32 r1) mod (high - low), wrapping; rule BIT.

    low and high: integers in the int64 range, broadcast with offset. Where low >= high the contract leaves
    the value open (`randint64_defined`); here an empty range gives low.
    """
    r0, r1, _, _ = philox4x32(seed, offset)
    drawn = r0.astype(np.uint64) | (r1.astype(np.uint64) << np.uint64(32))
    start = np.asarray(low, dtype=np.int64).view(np.uint64)
    end = np.asarray(high, dtype=np.int64).view(np.uint64)
    with np.errstate(over="ignore"):
        span = end - start
        result = start + drawn % np.where(span == 0, np.uint64(1), span)
    return np.asarray(result, dtype=np.uint64).view(np.int64)


def randint64_defined(low: npt.ArrayLike, high: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """False where the range is empty or inverted."""
    return np.asarray(np.asarray(low, dtype=np.int64) < np.asarray(high, dtype=np.int64))


def uniform(words: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """uint32 words to float32 in [0, 1): fold the sign bit away, round to float32, scale; rule BIT.

    A word and its bitwise complement give one value; the largest result is 0.99999994.
    """
    return np.asarray(_folded(words) * UNIFORM_SCALE)


def _folded(words: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    signed = np.asarray(words, dtype=np.uint32).view(np.int32)
    return np.asarray(np.where(signed < 0, ~signed, signed).astype(np.float32))


def unrounded_rand(seed: Seed, offset: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """`rand` before its last rounding: the exact product of the folded word, as a float32, and the scale. What a fused
    multiply-add of it and a number rounds."""
    return _folded(philox4x32(seed, offset)[0]).astype(np.float64) * np.float64(UNIFORM_SCALE)


def rand(seed: Seed, offset: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Uniform float32 in [0, 1) per offset; rule BIT."""
    return uniform(philox4x32(seed, offset)[0])


def randn(seed: Seed, offset: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Standard normal per offset by Box-Muller from the first two uniforms, in float64; compare with
    RANDN_RULE.

    The first uniform is clamped at float32(1e-7), so |z| <= 5.68.
    """
    words = philox4x32(seed, offset)
    first = np.maximum(np.float32(1e-7), uniform(words[0])).astype(np.float64)
    angle = 2.0 * np.pi * uniform(words[1]).astype(np.float64)
    return np.asarray(np.sqrt(-2.0 * np.log(first)) * np.cos(angle))


def randint64_rows(
    seed: npt.NDArray[np.int64], offset: npt.NDArray[Any], low: npt.NDArray[np.int64], high: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """`randint64` of offsets (rows, n) with one seed and one range per row."""
    return randint64(seed[:, None], offset, low[:, None], high[:, None])


def rand_rows(seed: npt.NDArray[np.int64], offset: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """`rand` of offsets (rows, n) with one seed per row."""
    return rand(seed[:, None], offset)


def randn_rows(seed: npt.NDArray[np.int64], offset: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """`randn` of offsets (rows, n) with one seed per row."""
    return randn(seed[:, None], offset)
