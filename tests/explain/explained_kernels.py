"""Kernels that are explained in tests; imported by file, compiled and interpreted."""

import triton
import triton.language as tl

SHIFT = tl.constexpr(256)


@triton.jit
def twice(v):
    return v * 2


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask)
    b = tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, a + b, mask=mask)


@triton.jit
def unmasked_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) + tl.load(y + offsets))


@triton.jit
def overlapping(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * (BLOCK - 1) + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n, other=0), mask=offsets < n)


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + offsets, mask=offsets < n), 0))


@triton.jit
def turned(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * COLUMNS + columns[None, :])
    if ROWS > 64:
        tile = twice(tile)
    sums = tl.sum(tile, 1)
    tl.store(out + columns[:, None] * ROWS + rows[None, :], tile.T + sums[None, :])


@triton.jit
def inner(v):
    return v + tl.reshape(v, [3])


@triton.jit
def outer(v):
    return inner(v) + 1


@triton.jit
def through_helpers(x, out):
    offsets = tl.arange(0, 4)
    tl.store(out + offsets, outer(tl.load(x + offsets)))


@triton.jit
def signed_ramp(out):
    offsets = tl.arange(0, 512)
    tl.store(out + offsets, (offsets - SHIFT) // 16)


@triton.jit
def unsigned_ramp(out):
    offsets = tl.arange(0, 512)
    tl.store(out + offsets, offsets // 16)


@triton.jit
def every_argument(aligned, shifted, sixteens, odd, one, large, real, truth, nothing, FIXED: tl.constexpr):
    tl.store(aligned, tl.load(shifted) + sixteens + odd + one + large.to(tl.float32) + real + truth + FIXED)
