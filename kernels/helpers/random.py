"""Counter-based random numbers (contract: helpers.md §9).

All functions are stateless: the value is a function of (seed, offset). Offsets are uint32; a wider offset is
truncated, so element offsets of 2^32 and more repeat the stream, as the contract says. (Triton's own
generators take the upper half of a 64-bit offset as a second counter word; two kernels that hold the same
offset in different integer types would then disagree.)
"""

import triton
import triton.language as tl


@triton.jit
def _philox_words(seed, offset):
    """The four 32-bit words of one Philox4x32-10 block per offset."""
    return tl.randint4x(seed, tl.cast(offset, tl.uint32))


@triton.jit
def randint64(seed, offset, low, high):
    """int64 in [low, high) per offset; contract: helpers.md §9.

    seed: integer scalar. offset: integer block or scalar, taken as uint32. low, high: integer scalars or
    blocks in the int64 range. The result is low + (v mod (high - low)) in wrapping arithmetic, v being the
    first two Philox words as one u64 and the span taken modulo 2^64, so spans above 2^63 are right. The
    relative bias is at most span / 2^64. For low == high the result is low; for low > high it is arbitrary.
    Neither traps.
    """
    first, second, _, _ = _philox_words(seed, offset)
    drawn = first.to(tl.uint64) | (second.to(tl.uint64) << 32)
    start = tl.cast(low, tl.int64).to(tl.uint64, bitcast=True)
    span = tl.sub(tl.cast(high, tl.int64).to(tl.uint64, bitcast=True), start, sanitize_overflow=False)
    # A division by zero is undefined for the compiler even where its result is not used.
    remainder = drawn % tl.where(span == 0, tl.full([], 1, tl.uint64), span)
    return tl.add(start, remainder, sanitize_overflow=False).to(tl.int64, bitcast=True)


@triton.jit
def rand(seed, offset):
    """Uniform float32 in [0, 1) per offset, a multiple of about 2^-31; contract: helpers.md §9."""
    return tl.rand(seed, tl.cast(offset, tl.uint32))


@triton.jit
def randn(seed, offset):
    """Standard normal float32 per offset by Box-Muller, |z| <= 5.68; contract: helpers.md §9."""
    return tl.randn(seed, tl.cast(offset, tl.uint32))
