"""Deliberately broken variants of the random helpers, to measure whether a test would notice.

Each has its helper's signature and differs from it for the arguments in its docstring. r0, r1, ... are the
words of the Philox block.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table, variants


@triton.jit
def as_unsigned(x):
    """An int64 range limit as u64."""
    return tl.cast(x, tl.int64).to(tl.uint64, bitcast=True)


@triton.jit
def into_range(drawn, low, high):
    """low + drawn mod (high - low), all modulo 2^64."""
    start = as_unsigned(low)
    span = as_unsigned(high) - start
    safe_span = tl.where(span == 0, tl.full([], 1, tl.uint64), span)
    return (start + drawn % safe_span).to(tl.int64, bitcast=True)


@triton.jit
def high_included(seed, offset, low, high):
    """Range [low, high]: for (0, 1), half of the values are 1 instead of none."""
    r0, r1, _, _ = tl.randint4x(seed, tl.cast(offset, tl.uint32))
    drawn = r0.to(tl.uint64) | (r1.to(tl.uint64) << 32)
    return into_range(drawn, low, tl.cast(high, tl.int64) + 1)


@triton.jit
def low_ignored(seed, offset, low, high):
    """Range [0, high - low): for (-5, 5) no value is negative."""
    r0, r1, _, _ = tl.randint4x(seed, tl.cast(offset, tl.uint32))
    drawn = r0.to(tl.uint64) | (r1.to(tl.uint64) << 32)
    span = as_unsigned(high) - as_unsigned(low)
    return (drawn % tl.where(span == 0, tl.full([], 1, tl.uint64), span)).to(tl.int64, bitcast=True)


@triton.jit
def halves_reduced_apart(seed, offset, low, high):
    """Reduces each word before joining them: for (0, 10) nearly all values exceed 2^32."""
    r0, r1, _, _ = tl.randint4x(seed, tl.cast(offset, tl.uint32))
    span = as_unsigned(high) - as_unsigned(low)
    span = tl.where(span == 0, tl.full([], 1, tl.uint64), span)
    drawn = (r0.to(tl.uint64) % span) | ((r1.to(tl.uint64) % span) << 32)
    return (as_unsigned(low) + drawn).to(tl.int64, bitcast=True)


@triton.jit
def halves_swapped(seed, offset, low, high):
    """r1 + 2^32 r0: other values for any range that is no divisor of 2^32 - 1."""
    r0, r1, _, _ = tl.randint4x(seed, tl.cast(offset, tl.uint32))
    return into_range(r1.to(tl.uint64) | (r0.to(tl.uint64) << 32), low, high)


@triton.jit
def upper_half_dropped(seed, offset, low, high):
    """r0 alone: for (0, 2^62) no value reaches 2^32."""
    r0, _, _, _ = tl.randint4x(seed, tl.cast(offset, tl.uint32))
    return into_range(r0.to(tl.uint64), low, high)


@triton.jit
def seed_and_offset_swapped(seed, offset, low, high):
    """Philox of (offset, seed): other values wherever seed and offset differ."""
    swapped = tl.cast(offset, tl.uint32) * 0 + tl.cast(seed, tl.uint32)
    r0, r1, _, _ = tl.randint4x(tl.cast(offset, tl.uint32), swapped)
    return into_range(r0.to(tl.uint64) | (r1.to(tl.uint64) << 32), low, high)


@triton.jit
def seven_rounds(seed, offset, low, high):
    """Philox4x32-7: other values everywhere."""
    r0, r1, _, _ = tl.randint4x(seed, tl.cast(offset, tl.uint32), 7)
    return into_range(r0.to(tl.uint64) | (r1.to(tl.uint64) << 32), low, high)


@triton.jit
def wide_offset_kept(seed, offset, low, high):
    """A 64-bit offset feeds two counter words: offset 2^32 gives another value than offset 0."""
    r0, r1, _, _ = tl.randint4x(seed, offset)
    return into_range(r0.to(tl.uint64) | (r1.to(tl.uint64) << 32), low, high)


@triton.jit
def signed_remainder(seed, offset, low, high):
    """Takes the remainder of signed numbers: for (0, 10) half of the values are negative."""
    r0, r1, _, _ = tl.randint4x(seed, tl.cast(offset, tl.uint32))
    drawn = (r0.to(tl.uint64) | (r1.to(tl.uint64) << 32)).to(tl.int64, bitcast=True)
    span = tl.cast(high, tl.int64) - tl.cast(low, tl.int64)
    return tl.cast(low, tl.int64) + drawn % tl.where(span == 0, tl.full([], 1, tl.int64), span)


@triton.jit
def rand_second_word(seed, offset):
    """Made of r1 instead of r0: other values everywhere."""
    _, r1, _, _ = tl.randint4x(seed, tl.cast(offset, tl.uint32))
    return tl.uint_to_uniform_float(r1)


@triton.jit
def rand_signed(seed, offset):
    """r0 taken as signed: values in [-1, 1)."""
    r0 = tl.randint(seed, tl.cast(offset, tl.uint32))
    return r0.to(tl.int32, bitcast=True).to(tl.float32) * 4.6566127342e-10


@triton.jit
def rand_reaches_one(seed, offset):
    """r0 / 2^32 rounded to nearest: r0 >= 2^32 - 128 gives 1.0, and other values than the helper's everywhere."""
    return tl.randint(seed, tl.cast(offset, tl.uint32)).to(tl.float32) * 2.3283064365386963e-10


@triton.jit
def rand_seven_rounds(seed, offset):
    """Philox4x32-7: other values everywhere."""
    return tl.rand(seed, tl.cast(offset, tl.uint32), 7)


@triton.jit
def rand_seed_truncated(seed, offset):
    """Drops the upper half of the seed: seed 2^32 gives the values of seed 0."""
    return tl.rand(tl.cast(seed, tl.uint32), tl.cast(offset, tl.uint32))


@triton.jit
def normal_radius(u):
    """sqrt(-2 log u), clamped like the helper."""
    return tl.sqrt(-2.0 * tl.log(tl.maximum(1.0e-7, u)))


@triton.jit
def randn_one_uniform(seed, offset):
    """One uniform for radius and angle: other values everywhere, and not normal."""
    u = tl.rand(seed, tl.cast(offset, tl.uint32))
    return normal_radius(u) * tl.cos(6.283185307179586 * u)


@triton.jit
def randn_sine(seed, offset):
    """The other half of the Box-Muller pair: other values almost everywhere."""
    u1, u2, _, _ = tl.rand4x(seed, tl.cast(offset, tl.uint32))
    return normal_radius(u1) * tl.sin(6.283185307179586 * u2)


@triton.jit
def randn_half_circle(seed, offset):
    """Angle in [0, pi): other values almost everywhere."""
    u1, u2, _, _ = tl.rand4x(seed, tl.cast(offset, tl.uint32))
    return normal_radius(u1) * tl.cos(3.141592653589793 * u2)


@triton.jit
def randn_half_variance(seed, offset):
    """sqrt(-log u) for the radius: every value is smaller by sqrt(2)."""
    return tl.randn(seed, tl.cast(offset, tl.uint32)) * 0.7071067811865476


@triton.jit
def randn_seed_ignored(seed, offset):
    """Every seed gives the values of seed 0."""
    return tl.randn(seed * 0, tl.cast(offset, tl.uint32))


MUTANTS = mutant_table({
    "randint64": variants(high_included, low_ignored, halves_reduced_apart, halves_swapped, upper_half_dropped,
        seed_and_offset_swapped, seven_rounds, wide_offset_kept, signed_remainder),
    "rand": variants(rand_second_word, rand_signed, rand_reaches_one, rand_seven_rounds, rand_seed_truncated,
        prefix="rand_"),
    "randn": variants(randn_one_uniform, randn_sine, randn_half_circle, randn_half_variance, randn_seed_ignored,
        prefix="randn_")})
